-- The user's tables, without those of extensions, and partitions only as a part of their root: a row for each, with its
-- columns, unique indexes and foreign keys as JSON. What not every version has is read by its name from the row as JSON.
WITH tables AS (
    SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name, c.relkind
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
      AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND coalesce(to_jsonb(c) ->> 'relispartition', 'false') = 'false'
      AND NOT EXISTS (
          SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
      )
)
SELECT
    t.oid::bigint,
    t.name,
    t.relkind = 'p' AS partitioned,
    (
        SELECT coalesce(jsonb_agg(jsonb_build_array(a.attnum, quote_ident(a.attname), format_type(a.atttypid, NULL)) ORDER BY a.attnum), '[]')
        FROM pg_attribute a
        WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
          AND coalesce(to_jsonb(a) ->> 'attgenerated', '') = ''
    ) AS columns,
    (
        SELECT coalesce(jsonb_agg(jsonb_build_array(
            i.indexrelid::regclass::text,
            (string_to_array(i.indkey::text, ' ')::integer[])[1:coalesce((to_jsonb(i) ->> 'indnkeyatts')::integer, i.indnatts)]
        ) ORDER BY i.indexrelid), '[]')
        FROM pg_index i WHERE i.indrelid = t.oid AND i.indisunique
    ) AS unique_keys,
    (
        SELECT coalesce(jsonb_agg(jsonb_build_array(k.conkey, k.confrelid::bigint, k.confkey) ORDER BY k.oid), '[]')
        FROM pg_constraint k
        WHERE k.conrelid = t.oid AND k.contype = 'f' AND k.confrelid IN (SELECT oid FROM tables)
    ) AS foreign_keys,
    (SELECT min(k.conname) FROM pg_constraint k WHERE k.conrelid = t.oid AND k.contype = 'x') AS exclusion
FROM tables t
ORDER BY t.oid
