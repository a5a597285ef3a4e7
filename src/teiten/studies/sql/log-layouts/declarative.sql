-- The access log in declarative partitions, one for each day.
ALTER TABLE access_log RENAME TO access_log_before;
DROP INDEX access_log_date_time;
CREATE TABLE access_log (LIKE access_log_before) PARTITION BY RANGE ("date");
DO $$
DECLARE one date;
BEGIN
    FOR one IN SELECT DISTINCT "date" FROM access_log_before ORDER BY 1 LOOP
        EXECUTE format('CREATE TABLE access_log_%s PARTITION OF access_log FOR VALUES FROM (%L) TO (%L)',
                       to_char(one, 'YYYYMMDD'), one, one + 1);
    END LOOP;
    INSERT INTO access_log SELECT * FROM access_log_before;
    FOR one IN SELECT DISTINCT "date" FROM access_log_before ORDER BY 1 LOOP
        EXECUTE format('CREATE INDEX ON access_log_%s ("date", "time")', to_char(one, 'YYYYMMDD'));
    END LOOP;
END
$$;
DROP TABLE access_log_before;
