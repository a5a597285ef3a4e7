"""The relations of a template, and the parameters of its planner, as the server tells them."""

from __future__ import annotations

import psycopg

from teiten.model.relations import Relation

RELATIONS = """
SELECT c.oid::regclass::text, c.relkind::text, c.relpages, c.reltuples::float8,
       i.indrelid::regclass::text, h.inhparent::regclass::text,
       (SELECT option_value::int FROM pg_options_to_table(c.reloptions)
        WHERE option_name = 'parallel_workers')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid
LEFT JOIN pg_inherits h ON h.inhrelid = c.oid
WHERE c.relkind IN ('r', 'i', 'm', 'p', 'I') AND c.relpersistence <> 't'
  AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
ORDER BY c.relpages DESC, 1
"""
PLANNER = """
SELECT name, setting FROM pg_settings WHERE name = ANY (ARRAY[
  'max_worker_processes', 'max_parallel_workers', 'max_parallel_workers_per_gather',
  'min_parallel_table_scan_size', 'min_parallel_index_scan_size', 'min_parallel_relation_size',
  'parallel_leader_participation', 'parallel_setup_cost', 'parallel_tuple_cost',
  'enable_parallel_append', 'enable_parallel_hash', 'enable_partition_pruning',
  'enable_partitionwise_join', 'enable_partitionwise_aggregate', 'jit', 'work_mem', 'io_method'])
ORDER BY name
"""
"""Each version has some of them (min_parallel_relation_size: 9.6)."""


def read_relations(connection: psycopg.Connection) -> tuple[Relation, ...]:
    """Every table and index that is not the server's own, the largest first."""
    return tuple(Relation(*row) for row in connection.execute(RELATIONS).fetchall())


def read_planner(connection: psycopg.Connection) -> dict[str, str]:
    """The parameters of parallelism and partitions in force, as pg_settings has them."""
    return dict(connection.execute(PLANNER).fetchall())
