"""Kinds of data sets: a folder each; `fill.py` makes the tables (docs/design/architecture.md)."""
