BEGIN;
SET LOCAL work_mem = '256kB';
SET LOCAL enable_sort = off;
SELECT count(*) FROM (SELECT order_id, sum(price) FROM order_lines WHERE order_id <= 60000 GROUP BY order_id) AS sums;
COMMIT;
