"""The page of many campaigns as lines through time."""
