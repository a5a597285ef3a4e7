\set low random(0, 95000)
SELECT sum(touched), count(*) FROM orders WHERE status = 3 AND amount BETWEEN :low / 100.0 AND :low / 100.0 + 50;
