"""Tables that `pgbench -i` makes."""
