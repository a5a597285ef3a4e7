-- Each table gets the statistics that ANALYZE finds in a copy of its first tenth. Its own rows stay where they are.
DO $$
DECLARE
    one record;
    tenth bigint;
BEGIN
    SET LOCAL synchronize_seqscans = off;
    SET LOCAL default_tablespace = '';
    FOR one IN
        SELECT c.oid, c.relkind, c.oid::regclass AS name
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'm', 'p') AND c.relpersistence = 'p'
          AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    LOOP
        EXECUTE format('SELECT ceil(count(*) / 10.0) FROM %s', one.name) INTO tenth;
        EXECUTE format('CREATE TABLE teiten_tenth AS SELECT * FROM %s LIMIT %s', one.name, tenth);
        ANALYZE teiten_tenth;
        DELETE FROM pg_statistic WHERE starelid = one.oid;
        UPDATE pg_statistic s
        SET starelid = one.oid, staattnum = theirs.attnum, stainherit = one.relkind = 'p'
        FROM pg_attribute mine JOIN pg_attribute theirs USING (attname)
        WHERE s.starelid = 'teiten_tenth'::regclass AND mine.attrelid = s.starelid
          AND mine.attnum = s.staattnum AND theirs.attrelid = one.oid;
        UPDATE pg_class c
        SET reltuples = t.reltuples, relpages = t.relpages, relallvisible = t.relpages
        FROM pg_class t
        WHERE c.oid = one.oid AND one.relkind <> 'p' AND t.oid = 'teiten_tenth'::regclass;
        DROP TABLE teiten_tenth;
    END LOOP;
    IF to_regclass('pg_catalog.pg_statistic_ext_data') IS NOT NULL THEN
        EXECUTE 'DELETE FROM pg_statistic_ext_data';
    END IF;
END
$$
