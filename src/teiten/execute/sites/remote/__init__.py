"""Servers and load generators on other hosts, reached with the user's own ssh."""
