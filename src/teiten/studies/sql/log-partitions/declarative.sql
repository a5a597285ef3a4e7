-- A log in declarative partitions (10 and later): one for each day.
CREATE TABLE log (LIKE access_log) PARTITION BY RANGE ("date");
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM log_days LOOP
        EXECUTE format('CREATE TABLE %I PARTITION OF log FOR VALUES FROM (%L) TO (%L)',
                       one.partition, one.day, one.day + 1);
        EXECUTE format('CREATE INDEX ON %I ("date", "time")', one.partition);
    END LOOP;
END
$$;
