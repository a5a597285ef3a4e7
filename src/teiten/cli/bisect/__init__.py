"""The search for a commit: its record, its comparisons, its words."""
