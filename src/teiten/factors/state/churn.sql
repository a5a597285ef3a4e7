-- One of ten parts of a day: a twentieth of the rows of each table gets a new version, each time another one. Tables whose
-- own churn is another (a queue's) have it in a function day_of_churn(part integer), which is called as well.
DO $$
DECLARE
    part integer := current_setting('teiten.round')::integer;
    one record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN
        SELECT c.oid::regclass AS name, quote_ident(a.attname) AS field
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN LATERAL (
            SELECT attname FROM pg_attribute
            WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
              AND coalesce(to_jsonb(pg_attribute) ->> 'attgenerated', '') = ''
              AND coalesce(to_jsonb(pg_attribute) ->> 'attidentity', '') = ''
            ORDER BY attnum LIMIT 1
        ) a ON true
        WHERE c.relkind = 'r' AND c.relpersistence = 'p'
          AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    LOOP
        EXECUTE format(
            'UPDATE %s SET %s = %s WHERE abs(hashtext(ctid::text)::bigint) %% 20 = %s',
            one.name, one.field, one.field, part
        );
    END LOOP;
    IF to_regprocedure('day_of_churn(integer)') IS NOT NULL THEN
        EXECUTE format('SELECT day_of_churn(%s)', part);
    END IF;
END
$$
