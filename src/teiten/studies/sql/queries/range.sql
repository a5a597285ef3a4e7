-- A twentieth of the accounts by their key.
SELECT count(*), min(aid), max(aid) FROM pgbench_accounts
WHERE aid BETWEEN 1000 AND 1000 + (SELECT 5000 * count(*) FROM pgbench_branches)
