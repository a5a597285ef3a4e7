"""Paired transactions, measured: see ``__main__``."""
