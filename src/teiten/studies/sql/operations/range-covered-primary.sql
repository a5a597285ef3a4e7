\set first random(1, 190000)
SELECT count(id) FROM orders WHERE id BETWEEN :first AND :first + 9999;
