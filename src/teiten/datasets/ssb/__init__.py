"""The Star Schema Benchmark."""
