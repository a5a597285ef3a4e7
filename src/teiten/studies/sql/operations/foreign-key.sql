\set id random(1, 200000)
\set customer random(1, 20000)
INSERT INTO payments (order_id, customer, amount) VALUES (:id, :customer, 9.99);
