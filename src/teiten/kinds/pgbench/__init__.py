"""Clients that repeat a script for some seconds; the number is transactions per second."""
