"""Processes, files, users and signals, as each operating system has them."""
