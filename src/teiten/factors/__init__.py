"""Factors: what a study varies; a file each (docs/design/architecture.md)."""
