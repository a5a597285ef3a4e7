-- The rows of every day into its partition.
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM log_days LOOP
        EXECUTE format('INSERT INTO %I SELECT * FROM access_log WHERE "date" = %L', one.partition, one.day);
    END LOOP;
END
$$;
