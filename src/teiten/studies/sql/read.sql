-- Counts 10,000 consecutive accounts from a random start: enough work for the server's CPU,
-- where a single-row SELECT (pgbench -S) mostly loads the network and the client.
\set first random(1, 100000 * :scale - 9999)
SELECT count(abalance) FROM pgbench_accounts WHERE aid BETWEEN :first AND :first + 9999;
