"""Throughput by the number of nodes, and the commits that they share."""
