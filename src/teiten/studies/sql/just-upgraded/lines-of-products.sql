\set product random(1, 2500)
SELECT o.status, sum(l.quantity)
FROM order_lines AS l JOIN orders AS o ON o.id = l.order_id
WHERE l.product BETWEEN :product AND :product + 1000
GROUP BY o.status;
