\set first random(1, 190000)
SELECT id, placed, amount FROM orders WHERE placed >= timestamp '2024-01-01' + :first * interval '1 minute' ORDER BY placed LIMIT 20;
