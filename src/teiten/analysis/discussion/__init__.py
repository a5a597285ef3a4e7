"""What a report discusses of its results: decisions alone, no words."""
