\set status random(0, 4)
SELECT id, amount FROM orders WHERE status = :status ORDER BY amount, placed LIMIT 100;
