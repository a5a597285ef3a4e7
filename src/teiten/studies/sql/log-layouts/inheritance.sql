-- The access log in partitions by inheritance, one for each day; the planner leaves out those whose CHECK constraint
-- contradicts the search (constraint_exclusion = partition).
ALTER TABLE access_log RENAME TO access_log_before;
ALTER INDEX access_log_date_time RENAME TO access_log_before_date_time;
CREATE TABLE access_log (LIKE access_log_before);
DO $$
DECLARE one date;
BEGIN
    FOR one IN SELECT DISTINCT "date" FROM access_log_before ORDER BY 1 LOOP
        EXECUTE format('CREATE TABLE access_log_%s (CHECK ("date" = %L)) INHERITS (access_log)',
                       to_char(one, 'YYYYMMDD'), one);
        EXECUTE format('INSERT INTO access_log_%s SELECT * FROM access_log_before WHERE "date" = %L',
                       to_char(one, 'YYYYMMDD'), one);
        EXECUTE format('CREATE INDEX ON access_log_%s ("date", "time")', to_char(one, 'YYYYMMDD'));
    END LOOP;
END
$$;
DROP TABLE access_log_before;
