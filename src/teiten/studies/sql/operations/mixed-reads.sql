\set id random(1, 200000)
\set product random(1, 5000)
SELECT amount FROM orders WHERE id = :id;
SELECT line, price FROM order_lines WHERE order_id = :id;
SELECT available FROM stock WHERE product = :product;
UPDATE stock SET reserved = reserved + 1 WHERE product = :product;
