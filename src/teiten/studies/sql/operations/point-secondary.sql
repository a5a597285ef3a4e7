\set customer random(1, 20000)
SELECT id, amount, note FROM orders WHERE customer = :customer;
