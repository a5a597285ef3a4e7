"""Simulations of Teiten's statistics: how often its words are wrong, and what they cost.

``python -m benchmarks.trust simulated`` prints the tables of docs/concepts/trust.md.
"""
