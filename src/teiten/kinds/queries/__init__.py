"""Statements timed one by one; each is a level of the factor query."""
