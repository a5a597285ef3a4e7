"""Procedures: timed steps of SQL on a restored cluster, by the levels of the factor method."""
