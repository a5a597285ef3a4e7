"""The report of a collection: every published finding in one table."""
