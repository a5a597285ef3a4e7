\set region random(0, 49)
BEGIN;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = off;
SELECT sum(o.amount) FROM orders AS o JOIN customers AS c ON c.id = o.customer WHERE c.region = :region;
COMMIT;
