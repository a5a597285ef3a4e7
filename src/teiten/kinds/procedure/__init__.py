"""Procedures: steps of SQL on a restored cluster, timed; each way to do it is a level of the factor
method."""
