\set first random(1, 190000)
SELECT id, note FROM orders WHERE id BETWEEN :first AND :first + 1999 ORDER BY note, id;
