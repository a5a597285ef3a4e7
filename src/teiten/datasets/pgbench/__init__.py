"""What `pgbench -i` makes."""
