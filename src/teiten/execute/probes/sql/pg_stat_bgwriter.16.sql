-- What backends wrote comes from pg_stat_io.
SELECT (checkpoints_timed + checkpoints_req)::float8 AS checkpoints,
       buffers_checkpoint::float8 AS buffers_written_by_checkpointer,
       buffers_clean::float8 AS buffers_written_by_bgwriter,
       buffers_alloc::float8 AS buffers_allocated
  FROM pg_catalog.pg_stat_bgwriter
