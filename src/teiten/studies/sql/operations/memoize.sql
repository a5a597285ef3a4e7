\set first random(1, 190000)
SELECT sum(c.n) FROM orders AS o
CROSS JOIN LATERAL (SELECT count(*) AS n FROM customers WHERE region = o.status) AS c
WHERE o.id BETWEEN :first AND :first + 49;
