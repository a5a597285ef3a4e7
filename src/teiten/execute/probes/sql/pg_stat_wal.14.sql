-- wal_sync stays 0 where wal_sync_method is open_datasync or open_sync.
SELECT wal_records::float8 AS wal_records,
       wal_fpi::float8 AS wal_full_page_images,
       wal_sync::float8 AS wal_syncs
  FROM pg_catalog.pg_stat_wal
