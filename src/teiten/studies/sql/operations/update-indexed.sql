\set id random(1, 200000)
\set amount random(0, 99999)
UPDATE orders SET amount = :amount / 100.0 WHERE id = :id;
