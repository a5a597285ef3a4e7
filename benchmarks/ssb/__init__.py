"""Star Schema Benchmark data: rates against references measured in the same run, in alternation."""
