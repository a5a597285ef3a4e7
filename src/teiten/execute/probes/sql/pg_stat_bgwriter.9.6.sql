-- buffers_backend counts extensions of files too, and the writes of autovacuum and other workers.
SELECT (checkpoints_timed + checkpoints_req)::float8 AS checkpoints,
       buffers_checkpoint::float8 AS buffers_written_by_checkpointer,
       buffers_clean::float8 AS buffers_written_by_bgwriter,
       buffers_backend::float8 AS buffers_written_by_backends,
       buffers_alloc::float8 AS buffers_allocated
  FROM pg_catalog.pg_stat_bgwriter
