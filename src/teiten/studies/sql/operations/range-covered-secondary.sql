\set low random(0, 90000)
SELECT count(amount) FROM orders WHERE status = 2 AND amount BETWEEN :low / 100.0 AND :low / 100.0 + 100;
