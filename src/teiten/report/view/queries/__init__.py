"""What is particular to workloads of queries."""
