-- The last accounts in another order than that of the key.
SELECT aid FROM pgbench_accounts ORDER BY aid % 1000, aid LIMIT 100
