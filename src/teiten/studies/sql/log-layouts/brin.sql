-- A BRIN index in place of the usual one: the least and the greatest value of each 32 pages. Only bitmap scans use it.
DROP INDEX access_log_date_time;
CREATE INDEX access_log_date_time ON access_log USING brin ("date", "time") WITH (pages_per_range = 32);
