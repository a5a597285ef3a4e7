\set first random(1, 100000)
BEGIN;
SET LOCAL work_mem = '256kB';
SELECT count(*) FROM (SELECT note, amount FROM orders WHERE id BETWEEN :first AND :first + 19999 ORDER BY amount DESC, note OFFSET 0) AS sorted;
COMMIT;
