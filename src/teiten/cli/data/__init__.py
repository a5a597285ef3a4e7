"""Benchmark data from the command line."""
