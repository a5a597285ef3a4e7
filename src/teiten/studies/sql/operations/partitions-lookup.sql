\set day random(0, 199)
\set sensor random(1, 500)
SELECT reading FROM measurements WHERE day = :day AND sensor = :sensor;
