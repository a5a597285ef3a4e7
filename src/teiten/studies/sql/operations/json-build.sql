\set first random(1, 190000)
SELECT sum(length(row_to_json(o)::text)) FROM
    (SELECT id, note, placed, amount FROM orders WHERE id BETWEEN :first AND :first + 999) AS o;
