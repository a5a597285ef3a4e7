-- All databases: the load's and the sampler's may differ. Before 15 the statistics collector's
-- numbers can be 0.5 s old; from 15 a backend adds its own at most once per second and at its end.
SELECT sum(xact_commit + xact_rollback)::float8 AS transactions,
       sum(xact_rollback)::float8 AS rollbacks,
       sum(blks_hit)::float8 AS blocks_hit,
       sum(blks_read)::float8 AS blocks_read,
       sum(tup_returned)::float8 AS rows_returned,
       sum(tup_fetched)::float8 AS rows_fetched,
       sum(tup_inserted + tup_updated + tup_deleted)::float8 AS rows_changed,
       sum(temp_bytes)::float8 AS temporary_bytes,
       sum(blk_read_time)::float8 / 1000 AS block_read_seconds,
       sum(blk_write_time)::float8 / 1000 AS block_write_seconds
  FROM pg_catalog.pg_stat_database
