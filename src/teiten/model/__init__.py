"""The vocabulary of docs/design/architecture.md as frozen values; no I/O happens here."""
