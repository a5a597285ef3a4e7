\set maker random(0, 1299)
\set colour random(0, 16)
SELECT count(*) FROM orders WHERE words @@ to_tsquery('simple', 'maker' || :maker || ' & colour' || :colour);
