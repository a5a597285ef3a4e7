"""Giving back the disk of other hosts."""
