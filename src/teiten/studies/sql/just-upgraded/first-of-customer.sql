\set customer random(1, 20000)
SELECT id, amount FROM orders WHERE customer = :customer AND status = 3 ORDER BY amount LIMIT 1;
