-- 3,000,000 readings of 2,000 sensors: those of one sensor lie in 1,500 pages, each in another. About 450 MB, and an index.

CREATE TABLE readings (
    id integer NOT NULL,
    sensor integer NOT NULL,
    reading double precision NOT NULL,
    note text NOT NULL
);
INSERT INTO readings
SELECT i, (i::bigint * 7919 % 2000)::integer, i % 1000 / 10.0, repeat(chr(97 + i % 26), 100)
FROM generate_series(1, 3000000) AS i;
CREATE INDEX readings_sensor ON readings (sensor);
