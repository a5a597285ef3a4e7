"""Predicates that findings about any kind of workload can use: one file, one class each."""
