"""Clients that repeat a script for some seconds, by pgbench."""
