\set id random(1, 200000)
\set product random(1, 5000)
SELECT amount FROM orders WHERE id = :id;
SELECT available FROM stock WHERE product = :product;
UPDATE stock SET reserved = reserved + 1 WHERE product = :product;
UPDATE orders SET touched = touched + 1 WHERE id = :id;
