-- All processes but the two that write for a living; a page by which a file grows is written too.
SELECT coalesce(sum((coalesce(writes, 0) + coalesce(extends, 0)) * op_bytes), 0)::float8
       / current_setting('block_size')::float8 AS buffers_written_by_backends
  FROM pg_catalog.pg_stat_io
 WHERE backend_type NOT IN ('checkpointer', 'background writer') AND object = 'relation'
