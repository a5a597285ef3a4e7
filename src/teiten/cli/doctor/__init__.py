"""Measurements and output of ``teiten doctor``."""
