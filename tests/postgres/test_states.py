"""States of tables on real servers: each is made once, and known by its numbers."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace

import pytest
from benchmarks.robustness.disks import full, small_disk

from teiten.cli.campaign.carry_out import blaming_disk
from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.script.model import script_data
from teiten.errors import MachineError, ServerError
from teiten.execute.postgres import states
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.installations import find_installations
from teiten.execute.postgres.templates.store import RESERVE, TemplateStore
from teiten.factors.state import OF_BOTH, OF_NEW, recipes
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation, Pgbench
from teiten.model.metrics import STATE_OF_TABLES
from teiten.model.study import Script
from tests.fixtures.pgbench_run import pgbench
from tests.postgres.test_templates import quiet, spec_of

__all__ = ["pgbench"]

NUMBERS = {metric.name for metric in STATE_OF_TABLES}


@pytest.mark.parametrize("major", ["13", "18"])
@pytest.mark.parametrize("level", [one.name for one in recipes().values() if not one.upgraded])
def test_a_state_is_made_and_survives_the_copy(
    level: str,
    major: str,
    installation: Callable[[str], Installation],
    workdir: Workdir,
    pgbench: Pgbench,
) -> None:
    state = recipes()[level].state
    data = replace(pgbench_data(1), state=state)
    spec, store = spec_of(installation(major), data), TemplateStore(workdir, server_user())
    store.build(spec, pgbench, quiet)
    folder = workdir.clusters / "copy"
    store.clone(spec, folder)
    cluster = Cluster.adopt(
        spec.installation, folder / "data", user=server_user(), log=folder / "server.log"
    )
    cluster.configure(states.settings(data))
    cluster.start()
    try:
        with cluster.connect(BENCH_DATABASE) as connection:
            assert states.confirm(connection, state).keys() == NUMBERS
            others = [one for one in recipes().values() if one.name != level]
            for other in others:
                with pytest.raises(ServerError, match=f"not in the state {other.name}"):
                    states.confirm(connection, other.state)
            noticed: list[str] = []
            connection.add_notice_handler(
                lambda one: noticed.append(f"{one.message_primary} {one.message_detail}")
            )
            connection.execute("VACUUM VERBOSE pgbench_accounts")
            kept = re.search(
                r"(\d+) (?:are dead but not yet|dead row versions cannot)", "".join(noticed)
            )
            assert kept is not None and (int(kept[1]) > 10_000) == (level == "pinned")
    finally:
        cluster.remove()


@pytest.fixture
def upgradable() -> tuple[Installation, Installation]:
    """Two servers of different versions that have pg_upgrade, the older one first."""
    found = find_installations(Workdir(default_workdir()))
    whole = {one.version: one for one in found if one.programs >= {*OF_BOTH, *OF_NEW}}
    if len({version.major for version in whole}) < 2:
        pytest.skip("there are no two servers with pg_upgrade: teiten pg install wheel:16 wheel:18")
    return whole[min(whole)], whole[max(whole)]


def test_a_cluster_is_upgraded_with_its_indexes_as_they_were(
    upgradable: tuple[Installation, Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    old, new = upgradable
    state = recipes()["upgraded"].state
    spec = replace(spec_of(new, replace(pgbench_data(1), state=state)), origin=old)
    store, said = TemplateStore(workdir, server_user()), list[str]()
    store.build(spec, pgbench, said.append)
    assert f"upgrading the cluster of PostgreSQL {old.version} to {new.version}" in said
    folder = workdir.clusters / "copy"
    store.clone(spec, folder)
    parts = [path.name for path in (workdir.templates / spec.fingerprint).iterdir()]
    assert "data" in parts and "before" not in parts
    cluster = Cluster.adopt(new, folder / "data", user=server_user(), log=folder / "server.log")
    cluster.start()
    try:
        with cluster.connect(BENCH_DATABASE) as connection:
            assert connection.info.server_version == new.version.number
            numbers = states.confirm(connection, state)
            assert numbers["upgraded_tables_share"] == numbers["analysed_tables_share"] == 1
            for other in recipes().values():
                if not other.upgraded:
                    with pytest.raises(ServerError, match=f"not in the state {other.name}"):
                        states.confirm(connection, other.state)
            (rows,) = connection.execute("SELECT count(*) FROM pgbench_accounts").fetchone() or ()
            assert rows == 100_000
    finally:
        cluster.remove()


def test_what_pg_upgrade_refuses_is_said_and_leaves_nothing(
    upgradable: tuple[Installation, Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    old, new = upgradable
    script = Script(
        "t.sql", builtin=False, text="CREATE TABLE t (a regproc); INSERT INTO t VALUES ('now');\n"
    )
    data = replace(script_data(script), state=recipes()["upgraded"].state)
    spec, store = replace(spec_of(new, data), origin=old), TemplateStore(workdir, server_user())
    with pytest.raises(ServerError, match=f"pg_upgrade from PostgreSQL {old.version} to .* failed"):
        store.build(spec, pgbench, quiet)
    assert not store.ready(spec) and not list(workdir.templates.iterdir())


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None,
    reason="a small file system of its own is mounted by root on Linux only",
)
@pytest.mark.parametrize("left", [0, 1 << 20, 30 << 20])
def test_a_disk_that_is_full_in_the_midst_of_pg_upgrade(
    upgradable: tuple[Installation, Installation], pgbench: Pgbench, left: int
) -> None:
    """At its first file, among its dumps, or where it copies tables: there was room at first."""
    old, new = upgradable
    data = replace(pgbench_data(4), state=recipes()["upgraded"].state)
    fresh, spec = spec_of(old, pgbench_data(1)), replace(spec_of(new, data), origin=old)
    try:
        with small_disk("900m", 20_000) as place, ExitStack() as filled:
            workdir = Workdir(place / "work")
            workdir.prepare()
            store = TemplateStore(workdir, server_user())
            store.build(fresh, pgbench, quiet)

            def fill(said: str) -> None:
                if said.startswith("upgrading"):
                    filled.enter_context(full(place, left=left))

            with pytest.raises(MachineError) as caught, blaming_disk(workdir.root):
                store.build(spec, pgbench, fill)
            assert "the disk is full: " in caught.value.message
            assert f"pg_upgrade from PostgreSQL {old.version} to" in caught.value.message
            assert "teiten clean" in (caught.value.hint or "")
            assert store.ready(fresh) and not store.ready(spec)
            assert len(list(workdir.templates.iterdir())) == 1
            filled.close()
            store.build(spec, pgbench, quiet)
            assert store.ready(spec)
    except PermissionError as error:
        pytest.skip(str(error))


def test_a_state_that_cannot_be_made_is_an_error(
    installation: Callable[[str], Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    script = Script("empty.sql", builtin=False, text="CREATE TABLE empty (a integer);\n")
    data = replace(script_data(script), state=recipes()["bloated"].state)
    store, spec = TemplateStore(workdir, server_user()), spec_of(installation("18"), data)
    with pytest.raises(ServerError, match="not in the state bloated: dead rows share is 0, and"):
        store.build(spec, pgbench, quiet)
    assert not store.ready(spec)


def test_right_after_the_upgrade_statistics_are_there_from_18_on(
    upgradable: tuple[Installation, Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    old, new = upgradable
    state = recipes()["just-upgraded"].state
    spec = replace(spec_of(new, replace(pgbench_data(1), state=state)), origin=old)
    store = TemplateStore(workdir, server_user())
    store.build(spec, pgbench, quiet)  # which counts what it must be
    if new.version.major_number < 18:
        return
    folder = workdir.clusters / "copy"
    store.clone(spec, folder)
    cluster = Cluster.adopt(new, folder / "data", user=server_user(), log=folder / "server.log")
    cluster.start()
    try:
        with cluster.connect(BENCH_DATABASE) as connection:
            (rows,) = connection.execute(
                "SELECT reltuples FROM pg_class WHERE relname = 'pgbench_accounts'"
            ).fetchone() or (0,)
            assert rows == 100_000
            with pytest.raises(ServerError, match="not in the state no-statistics"):
                states.confirm(connection, recipes()["no-statistics"].state)
    finally:
        cluster.remove()


def test_a_disk_that_has_no_room_for_both_clusters_is_said_before_anything_is_made(
    workdir: Workdir,
    pgbench: Pgbench,
    installation: Callable[[str], Installation],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = replace(pgbench_data(10), state=recipes()["upgraded"].state)
    spec = replace(spec_of(installation("18"), data), origin=installation("13"))
    once = spec.expected_bytes + RESERVE
    monkeypatch.setattr(
        "teiten.execute.postgres.templates.store.shutil.disk_usage",
        lambda _: SimpleNamespace(total=100 * once, used=0, free=once),
    )
    store = TemplateStore(workdir, server_user())
    with pytest.raises(MachineError, match=r"from 13\.\d+ needs .* more\)") as caught:
        store.build(spec, pgbench, quiet)
    assert "--workdir" in (caught.value.hint or "")
    assert not store.ready(spec) and not list(workdir.templates.iterdir())
