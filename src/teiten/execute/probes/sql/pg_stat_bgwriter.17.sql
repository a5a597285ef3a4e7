-- Checkpoints moved to pg_stat_checkpointer.
SELECT buffers_clean::float8 AS buffers_written_by_bgwriter,
       buffers_alloc::float8 AS buffers_allocated
  FROM pg_catalog.pg_stat_bgwriter
