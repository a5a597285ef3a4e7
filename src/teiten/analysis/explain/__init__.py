"""Plans as EXPLAIN gives them: read, accounted for, and compared."""
