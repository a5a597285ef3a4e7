"""The vocabulary of DESIGN.md as frozen values; no I/O happens here."""
