"""In which state the tables are: as they were filled, after churn, or with other statistics."""
