-- The insert position, not pg_stat_wal: exact at once, and the same measure in every version.
SELECT (pg_catalog.pg_current_xlog_insert_location() - '0/0'::pg_lsn)::float8 AS wal_bytes
