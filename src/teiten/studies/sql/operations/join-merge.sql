\set first random(1, 150000)
BEGIN;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_nestloop = off;
SELECT sum(l.price * l.quantity) FROM orders AS o JOIN order_lines AS l ON l.order_id = o.id
WHERE o.id BETWEEN :first AND :first + 19999;
COMMIT;
