\set low random(0, 900)
SELECT status, length(string_agg(note, ',' ORDER BY amount)) FROM orders
WHERE status = 3 AND amount BETWEEN :low AND :low + 50 GROUP BY status;
