\set region random(0, 24)
SELECT c.region, count(*), sum(o.amount)
FROM customers AS c JOIN orders AS o ON o.customer = c.id
WHERE c.region BETWEEN :region AND :region + 24
GROUP BY c.region;
