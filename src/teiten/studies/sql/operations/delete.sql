\set id random(1, 200000)
DELETE FROM order_lines WHERE order_id = :id AND line = 3;
