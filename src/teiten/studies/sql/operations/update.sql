\set id random(1, 200000)
UPDATE orders SET touched = touched + 1 WHERE id = :id;
