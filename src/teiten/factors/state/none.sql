-- What ANALYZE and VACUUM have told the planner is forgotten; the visibility map stays.
DO $$
BEGIN
    DELETE FROM pg_statistic s USING pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE s.starelid = c.oid AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast');
    IF to_regclass('pg_catalog.pg_statistic_ext_data') IS NOT NULL THEN
        EXECUTE 'DELETE FROM pg_statistic_ext_data';
    END IF;
    UPDATE pg_class c
    SET relpages = 0, relallvisible = 0,
        reltuples = CASE WHEN current_setting('server_version_num')::integer < 140000 THEN 0 ELSE -1 END
    FROM pg_namespace n
    WHERE n.oid = c.relnamespace AND c.relkind IN ('r', 'm', 'p', 'i', 'I')
      AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast');
END
$$
