-- A log in partitions by inheritance, as all versions have them: one for each day, with a CHECK constraint.
CREATE TABLE log (LIKE access_log);
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM log_days LOOP
        EXECUTE format('CREATE TABLE %I (CHECK ("date" = %L)) INHERITS (log)', one.partition, one.day);
        EXECUTE format('CREATE INDEX ON %I ("date", "time")', one.partition);
    END LOOP;
END
$$;
