-- Readers have been there: rows have their hints, and pages are pruned where that is allowed.
DO $$
DECLARE
    name regclass;
BEGIN
    FOR name IN
        SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    LOOP
        EXECUTE format('SELECT count(*) FROM %s', name);
    END LOOP;
END
$$
