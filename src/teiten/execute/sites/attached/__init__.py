"""Servers that Teiten did not start: connecting, asking, and databases of its own in them."""
