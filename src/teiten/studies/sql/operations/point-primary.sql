\set id random(1, 200000)
SELECT amount FROM orders WHERE id = :id;
