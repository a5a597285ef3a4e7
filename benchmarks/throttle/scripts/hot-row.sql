-- Every client wants the same row, and its holder waits without using the processors.
BEGIN;
UPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;
SELECT pg_sleep(0.002);
COMMIT;
