\set cents random(0, 99999)
SELECT count(*) FROM orders WHERE amount = :cents / 100.0;
