-- Without buffers_backend: the checkpointer publishes it only when it wakes, mostly at the next
-- checkpoint, so inside a window it would be a false 0. From 16 pg_stat_io has it.
SELECT (checkpoints_timed + checkpoints_req)::float8 AS checkpoints,
       buffers_checkpoint::float8 AS buffers_written_by_checkpointer,
       buffers_clean::float8 AS buffers_written_by_bgwriter,
       buffers_alloc::float8 AS buffers_allocated
  FROM pg_catalog.pg_stat_bgwriter
