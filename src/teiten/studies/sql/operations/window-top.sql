\set most random(5, 15)
SELECT id FROM (SELECT id, row_number() OVER (ORDER BY placed DESC) AS n FROM orders) AS numbered
WHERE n <= :most;
