-- A log without partitions.
CREATE TABLE log (LIKE access_log) WITH (autovacuum_enabled = false);
CREATE INDEX log_date_time ON log ("date", "time");
