-- Writes and syncs of WAL moved to pg_stat_io.
SELECT wal_records::float8 AS wal_records,
       wal_fpi::float8 AS wal_full_page_images
  FROM pg_catalog.pg_stat_wal
