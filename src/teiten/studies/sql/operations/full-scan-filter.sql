\set product random(1, 5000)
SELECT sum(price) FROM order_lines WHERE product = :product AND quantity > 2;
