-- From 18 an operation can be of several blocks, and WAL stands in this view too.
SELECT coalesce(sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0))
         FILTER (WHERE backend_type NOT IN ('checkpointer', 'background writer')
                   AND object = 'relation'), 0)::float8
       / current_setting('block_size')::float8 AS buffers_written_by_backends,
       coalesce(sum(fsyncs) FILTER (WHERE object = 'wal'), 0)::float8 AS wal_syncs
  FROM pg_catalog.pg_stat_io
