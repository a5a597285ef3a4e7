"""Statements timed one by one, and explained."""
