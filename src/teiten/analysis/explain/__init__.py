"""What EXPLAIN says: read, accounted for, and compared."""
