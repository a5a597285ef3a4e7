"""The tables of the user's own SQL."""
