\set customer random(1, 20000)
SELECT o.id, l.line, l.price
FROM orders AS o JOIN order_lines AS l ON l.order_id = o.id
WHERE o.customer = :customer;
