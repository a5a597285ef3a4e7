\set sensor random(1, 500)
SELECT avg(reading) FROM measurements WHERE sensor = :sensor;
