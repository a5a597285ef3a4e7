-- The accounts of each teller's branch with a negative balance: a hash join and an aggregate.
SELECT t.tid, count(*), sum(a.abalance)
FROM pgbench_tellers t JOIN pgbench_accounts a ON a.bid = t.bid
WHERE a.abalance <= 0
GROUP BY t.tid ORDER BY t.tid
