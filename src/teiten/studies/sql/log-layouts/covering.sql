-- An index that also holds the columns that the searches ask for: index-only scans answer them. All are key columns, as every
-- version can have them (INCLUDE came with 11).
DROP INDEX access_log_date_time;
CREATE INDEX access_log_date_time ON access_log ("date", "time", product_id, err_code, access_time_second);
