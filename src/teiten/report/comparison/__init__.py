"""The report of two campaigns compared."""
