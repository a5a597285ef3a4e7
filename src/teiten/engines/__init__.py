"""What spreads tables over several servers; a file for each engine."""
