\set id random(1, 100)
SELECT amount FROM orders WHERE id = :id;
