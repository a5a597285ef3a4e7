"""Factors: what a study varies; a folder each (docs/design/architecture.md)."""
