\set first random(1, 150000)
BEGIN;
SET LOCAL work_mem = '64MB';
SELECT count(*) FROM (SELECT note, amount FROM orders WHERE id BETWEEN :first AND :first + 19999 ORDER BY amount DESC, note OFFSET 0) AS sorted;
COMMIT;
