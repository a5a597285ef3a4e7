"""The ways in which the sides of a pair are loaded: one folder for each."""
