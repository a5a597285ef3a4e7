"""Templates: built once, all of a version alike, cloned, and bounded."""

from __future__ import annotations

import os
import shutil
import time
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.plan import data_bytes, template_bytes
from teiten.datasets.script.model import script_data
from teiten.errors import MachineError, ServerError, UsageError, WorkloadError
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster, StopManner
from teiten.execute.postgres.marker import Kind, folder_bytes, new_folder
from teiten.execute.postgres.server_log import scan
from teiten.execute.postgres.templates.clone import clone_tree
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.execute.postgres.templates.linked import make_movable
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.build import BuildFacts
from teiten.model.installation import Installation, Pgbench
from teiten.model.plan import TemplateSpec
from teiten.model.study import DataSet, Script
from tests.fixtures.pgbench_run import pgbench
from tests.fixtures.servers import ClusterKit

__all__ = ["pgbench"]

DiskUsage = namedtuple("DiskUsage", "total used free")


def spec_of(installation: Installation, data: DataSet, checksums: bool = True) -> TemplateSpec:
    return TemplateSpec(
        installation,
        checksums,
        data,
        template_fingerprint(installation, checksums, data),
        template_bytes(data),
    )


def quiet(_: str) -> None:
    """Nobody listens."""


DUMP = """\\restrict abc
SET statement_timeout = 0;
SET no_server_has_this = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE TABLE public.t (a integer, b text);
{owner}
COPY public.t (a, b) FROM stdin;
1\tone; -- no comment
2\t\\N
\\.
ALTER TABLE ONLY public.t ADD PRIMARY KEY (a);
DO $$BEGIN ASSERT (SELECT sum(a) = 3 AND count(b) = 1 FROM public.t); END$$;
\\unrestrict abc
"""


@pytest.mark.pg(">=9.6")
def test_a_dump_is_loaded_as_it_is(
    server_installation: Installation, workdir: Workdir, pgbench: Pgbench
) -> None:
    store = TemplateStore(workdir, server_user())
    loaded = script_data(Script("shop.sql", False, DUMP.format(owner="")))
    store.build(spec_of(server_installation, loaded), pgbench, quiet)
    assert store.ready(spec_of(server_installation, loaded))
    owner = "ALTER TABLE public.t OWNER TO nobody_here;"
    owned = script_data(Script("shop.sql", False, DUMP.format(owner=owner)))
    with pytest.raises(WorkloadError, match="nobody_here") as caught:
        store.build(spec_of(server_installation, owned), pgbench, quiet)
    assert "CREATE ROLE nobody_here;" in caught.value.hint


@pytest.mark.pg(">=9.6")
def test_a_template_is_built_once_and_cloned(
    server_installation: Installation, workdir: Workdir, pgbench: Pgbench
) -> None:
    spec = spec_of(server_installation, pgbench_data(2, 80))
    store = TemplateStore(workdir, server_user())
    assert not store.ready(spec)
    said: list[str] = []
    store.build(spec, pgbench, said.append)
    assert store.ready(spec)
    assert "scale 2, fillfactor 80" in said[0]
    store.build(spec, pgbench, said.append)
    assert len(said) == 1
    assert_of_the_expected_size(store, workdir, spec)

    wal = next((workdir.templates / spec.fingerprint / "data").glob("pg_[wx]*l*"))
    assert len([file for file in wal.iterdir() if file.is_file()]) <= 3, "as many in each version"
    folder = workdir.clusters / "trial"
    report = store.clone(spec, folder)
    assert report.bytes > 30_000_000
    cluster = Cluster.adopt(
        server_installation, folder / "data", user=server_user(), log=folder / "server.log"
    )
    try:
        cluster.start()
        with cluster.connect(BENCH_DATABASE) as connection:
            assert_as_prepared(connection)
            connection.execute("DELETE FROM pgbench_accounts")
        assert cluster.stop() is StopManner.FAST
        assert scan(cluster.log.read_text()) == ()
        store.clone(spec, folder)  # the changed cluster is replaced
        cluster.start()
        with cluster.connect(BENCH_DATABASE) as connection:
            assert_as_prepared(connection)
    finally:
        cluster.remove()
    assert store.remove(spec.fingerprint)
    assert not store.ready(spec)
    assert store.usage() == []


def assert_as_prepared(connection: psycopg.Connection) -> None:
    def one(query: str) -> object:
        row = connection.execute(query).fetchone()
        assert row is not None
        return row[0]

    assert one("SELECT count(*) FROM pgbench_accounts") == 200_000
    assert one("SELECT count(*) FROM pg_extension WHERE extname LIKE 'pg_%'") == 2
    assert one(
        "SELECT relallvisible = relpages FROM pg_class WHERE relname = 'pgbench_accounts'"
    ), "every page is known to be visible"
    assert one("SELECT reloptions::text FROM pg_class WHERE relname = 'pgbench_accounts'") == (
        "{fillfactor=80}"
    )
    assert one("SELECT current_setting('fsync')") == "on"
    assert one("SELECT count(*) FROM pg_stats WHERE tablename = 'pgbench_accounts'") == 4


@pytest.mark.pg(">=18")
@pytest.mark.parametrize("data", [pgbench_data(3), pgbench_data(3, 50)])
def test_the_expected_size_is_near(
    server_installation: Installation, workdir: Workdir, pgbench: Pgbench, data: DataSet
) -> None:
    spec = spec_of(server_installation, data)
    store = TemplateStore(workdir, server_user())
    store.build(spec, pgbench, quiet)
    assert_of_the_expected_size(store, workdir, spec)


def assert_of_the_expected_size(store: TemplateStore, workdir: Workdir, spec: TemplateSpec) -> None:
    (use,) = store.usage()
    assert use.fingerprint == spec.fingerprint
    assert 0.6 < use.bytes / spec.expected_bytes < 1.15
    base = workdir.templates / spec.fingerprint / "data" / "base"
    assert folder_bytes(base) > data_bytes(spec.data), "the tables are not underestimated"


def test_the_fingerprint_tells_what_matters(installation_any: Installation) -> None:
    base = template_fingerprint(installation_any, True, pgbench_data(1))
    other = replace(installation_any, fingerprint="another binary")
    built = BuildFacts("key", "source", "digest", None, (), None, meson=False, compiler="gcc")
    assert (
        len(
            {
                base,
                template_fingerprint(installation_any, False, pgbench_data(1)),
                template_fingerprint(installation_any, True, pgbench_data(2)),
                template_fingerprint(installation_any, True, pgbench_data(1, 80)),
                template_fingerprint(other, True, pgbench_data(1)),
                template_fingerprint(replace(installation_any, build=built), True, pgbench_data(1)),
            }
        )
        == 6
    )
    renamed = replace(installation_any, name="another name")
    assert template_fingerprint(renamed, True, pgbench_data(1)) == base


def test_a_failed_build_leaves_nothing(
    installation_any: Installation, workdir: Workdir, pgbench: Pgbench
) -> None:
    spec = spec_of(installation_any, pgbench_data(1))
    broken = replace(pgbench, path=Path("/bin/false"))
    with pytest.raises(ServerError, match=r"pgbench --initialize with scale 1 .* failed"):
        TemplateStore(workdir, server_user()).build(spec, broken, quiet)
    assert list(workdir.templates.iterdir()) == []


def test_a_missing_template_and_a_foreign_folder(
    installation_any: Installation, workdir: Workdir
) -> None:
    store = TemplateStore(workdir, server_user())
    spec = spec_of(installation_any, pgbench_data(1))
    with pytest.raises(UsageError, match="is not built"):
        store.clone(spec, workdir.clusters / "x")
    assert not store.remove(spec.fingerprint)


def test_a_disk_that_is_too_small_is_foreseen(
    installation_any: Installation,
    workdir: Workdir,
    pgbench: Pgbench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: DiskUsage(10**12, 0, 10**9))
    spec = spec_of(installation_any, pgbench_data(2000))
    with pytest.raises(MachineError, match=r"has 953\.7 MiB free; .* scale 2000.* more") as caught:
        TemplateStore(workdir, server_user()).build(spec, pgbench, quiet)
    assert "teiten clean" in caught.value.hint
    assert list(workdir.templates.iterdir()) == []


def test_old_templates_make_room_and_recent_ones_stay(
    installation_any: Installation,
    workdir: Workdir,
    pgbench: Pgbench,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = TemplateStore(workdir, server_user())
    spec = spec_of(installation_any, pgbench_data(1))
    store.build(spec, pgbench, quiet)
    kept = workdir.templates / spec.fingerprint
    monkeypatch.setattr(shutil, "disk_usage", lambda _: DiskUsage(10**9, 0, 9 * 10**8))
    said: list[str] = []
    store.build(spec_of(installation_any, pgbench_data(1, 90)), pgbench, said.append)
    assert kept.exists(), "it was used today"
    old = time.time() - 2 * 86_400
    os.utime(kept / "template.json", (old, old))
    store.build(spec_of(installation_any, pgbench_data(1, 70)), pgbench, said.append)
    assert not kept.exists()
    assert any("removed an old template" in line for line in said)


def test_a_cluster_with_a_tablespace_and_its_wal_beside_its_data_is_cloned(
    installation: Callable[[str], Installation], workdir: Workdir, cluster_kit: ClusterKit
) -> None:
    newest, folder = installation("18"), workdir.clusters / "first"
    cluster = cluster_kit.make(newest, folder)
    (folder / "fast").mkdir(mode=0o700)
    if cluster.user.uid is not None and cluster.user.gid is not None:
        os.chown(folder / "fast", cluster.user.uid, cluster.user.gid)
    wal = folder / "data" / "pg_wal"
    wal.rename(folder / "wal")
    wal.symlink_to(folder / "wal")
    try:
        cluster.start()
        with cluster.connect() as connection:
            connection.execute(f"CREATE TABLESPACE fast LOCATION '{folder / 'fast'}'")
            connection.execute("CREATE TABLE t TABLESPACE fast AS SELECT generate_series(1, 500)")
        assert cluster.stop() is StopManner.FAST
        make_movable(cluster.data_directory, cluster.user)
        moved = folder.rename(workdir.clusters / "moved")
        copy = workdir.clusters / "copy"
        new_folder(copy, Kind.CLUSTER)
        clone_tree(moved / "data", copy / "data", user=server_user())
        cluster = Cluster.adopt(newest, copy / "data", user=server_user(), log=copy / "server.log")
        before = {path: path.stat().st_mtime_ns for path in moved.rglob("*") if path.is_file()}
        cluster.start()
        with cluster.connect() as connection:
            connection.execute("INSERT INTO t SELECT generate_series(501, 600)")
            assert connection.execute("SELECT count(*) FROM t").fetchone() == (600,)
        assert cluster.stop() is StopManner.FAST
        assert list((copy / "fast").iterdir()) and list((copy / "wal").iterdir())
        assert before == {
            path: path.stat().st_mtime_ns for path in moved.rglob("*") if path.is_file()
        }
    finally:
        cluster.stop(immediately=True)
