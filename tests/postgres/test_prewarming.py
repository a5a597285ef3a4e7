"""The buffers before a trial: loaded by pg_prewarm, and by reading where a server has none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.server_log import scan
from teiten.execute.sites.prewarming import prewarm
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation

TABLES = (
    "CREATE TABLE large (id int PRIMARY KEY, rest text) WITH (fillfactor = 10)",
    "INSERT INTO large SELECT i, repeat('x', 100) FROM generate_series(1, 30000) i",
    "CREATE INDEX even ON large (rest, id DESC) WHERE id % 2 = 0",
    "DELETE FROM large WHERE id < 100",
    'CREATE TABLE "Long Values" (value text STORAGE EXTERNAL)',
    "INSERT INTO \"Long Values\" SELECT repeat('y', 9000) FROM generate_series(1, 50)",
    "VACUUM (ANALYZE)",
    "CREATE EXTENSION pg_buffercache",
)
LOADED = """
SELECT c.relname, pg_relation_size(c.oid) / 8192,
  (SELECT count(*) FROM pg_buffercache b WHERE b.relfilenode = pg_relation_filenode(c.oid)
     AND b.relforknumber = 0 AND b.reldatabase = (SELECT oid FROM pg_database
                                                  WHERE datname = current_database()))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 't') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
   OR c.relname IN ('large_pkey', 'even')
"""


@pytest.mark.pg("18")
def test_all_pages_are_in_the_buffers_with_pg_prewarm_and_without(
    workdir: Workdir, installation: Callable[[str], Installation]
) -> None:
    """The table is larger than a quarter of the buffers: a plain scan would not keep it there."""
    cluster = Cluster.create(
        installation("18"),
        workdir.clusters / "prewarming" / "data",
        user=server_user(),
        checksums=True,
        log=workdir.clusters / "prewarming.log",
    )
    try:
        cluster.start()
        with cluster.connect() as connection:
            for statement in TABLES:
                connection.execute(statement.encode())
        facts = {}
        for way in ("reading", "pg_prewarm"):
            if way == "pg_prewarm":
                with cluster.connect() as connection:
                    connection.execute("CREATE EXTENSION pg_prewarm")
            cluster.stop()
            cluster.start()
            facts[way] = prewarm(cluster.connect)
            with cluster.connect() as connection:
                rows = connection.execute(LOADED).fetchall()
            assert facts[way]["by"] == way and facts[way]["fits"]
            for name, pages, loaded in rows:
                tree = name.startswith(("large_", "even"))  # of which the leaves are read
                slack = pages // 40 if tree and way == "reading" else 0
                assert pages - loaded <= slack, (way, name, pages, loaded)
            assert max(pages for _, pages, _ in rows) > 4096
        assert scan(cluster.log.read_text()) == ()
        assert facts["reading"]["bytes"] == facts["pg_prewarm"]["bytes"]
        assert facts["reading"]["relations"] == facts["pg_prewarm"]["relations"]
    finally:
        cluster.remove()
