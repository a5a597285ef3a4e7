"""Decisions on what a report discusses of its results, without the words."""
