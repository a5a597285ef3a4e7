-- Timed and requested, as before 17; num_done (18) would be another measure.
SELECT (num_timed + num_requested)::float8 AS checkpoints,
       buffers_written::float8 AS buffers_written_by_checkpointer
  FROM pg_catalog.pg_stat_checkpointer
