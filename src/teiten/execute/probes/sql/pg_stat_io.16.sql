-- Extensions are counted as buffers_backend counted them before 16.
SELECT coalesce(sum((coalesce(writes, 0) + coalesce(extends, 0)) * op_bytes), 0)::float8
       / current_setting('block_size')::float8 AS buffers_written_by_backends
  FROM pg_catalog.pg_stat_io
 WHERE backend_type NOT IN ('checkpointer', 'background writer') AND object = 'relation'
