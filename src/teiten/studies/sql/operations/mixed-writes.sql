\set id random(1, 200000)
\set product random(1, 5000)
BEGIN;
SELECT available FROM stock WHERE product = :product;
UPDATE stock SET reserved = reserved + 1 WHERE product = :product;
UPDATE orders SET touched = touched + 1 WHERE id = :id;
INSERT INTO journal (kind, message) VALUES (:product, 'reserved');
COMMIT;
