"""Layouts of data on real servers, and the Star Schema Benchmark's studies from end to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.ssb.model import ssb_data
from teiten.errors import WorkloadError
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.marker import folder_bytes
from teiten.execute.postgres.templates.build import NOT_VISIBLE
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.kinds.queries.plan_numbers import unpacked
from teiten.kinds.queries.run import read_relations
from teiten.model.installation import Installation, Pgbench
from teiten.model.relations import PLANNER, RELATIONS, Relation, relations_of
from teiten.model.study import DataSet, Layout, Script
from teiten.model.trial import Outcome
from teiten.study.load import load_study
from tests.fixtures.campaigns import Teiten
from tests.fixtures.pgbench_run import pgbench
from tests.postgres.test_templates import quiet, spec_of

__all__ = ["pgbench"]


@pytest.fixture
def teiten(emptied: Teiten) -> Teiten:
    return emptied


def relations_in_template(
    data: DataSet, installation: Installation, workdir: Workdir, pgbench: Pgbench
) -> dict[str, Relation]:
    """Build a template and ask a server on a copy of it."""
    spec, store = spec_of(installation, data), TemplateStore(workdir, server_user())
    store.build(spec, pgbench, quiet)
    folder = workdir.clusters / "copy"
    store.clone(spec, folder)
    assert folder_bytes(folder) < 1.5 * spec.expected_bytes
    cluster = Cluster.adopt(
        installation, folder / "data", user=server_user(), log=folder / "server.log"
    )
    cluster.start()
    try:
        with cluster.connect(BENCH_DATABASE) as connection:
            assert connection.execute(NOT_VISIBLE).fetchall() == []
            found = read_relations(connection)
    finally:
        cluster.remove()
    return {one.name: one for one in found}


@pytest.mark.parametrize("major", ["13", "18"])
def test_monthly_partitions_hold_every_row(
    major: str,
    installation: Callable[[str], Installation],
    workdir: Workdir,
    pgbench: Pgbench,
) -> None:
    pytest.importorskip("teiten_native", reason="the native part is not built: make native")
    workload = load_study("partition-parallel").workloads[0]
    data = ssb_data(0.01, layout=workload.layout("monthly-workers"))
    found = relations_in_template(data, installation(major), workdir, pgbench)
    for table, rows in (("lineorder", 60_175), ("date", 2_556)):
        parts = [one for one in found.values() if one.parent == table]
        assert found[table].kind == "p"
        assert len(parts) == 84
        assert sum(part.rows for part in parts) == rows
        assert {part.workers for part in parts} == ({9} if table == "lineorder" else {None})
    assert found["lineorder_199202"].pages > 0
    assert not any(name.endswith("_whole") for name in found)


def test_a_script_of_a_layout_that_fails_is_named(
    installation: Callable[[str], Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    script = Script("keys.sql", builtin=False, text="CREATE INDEX ON missing (a);\n")
    data = pgbench_data(1, layout=Layout("keyed", (script,)))
    store = TemplateStore(workdir, server_user())
    spec = spec_of(installation("18"), data)
    with pytest.raises(WorkloadError, match=r"script of the layout keyed keys\.sql failed.*missin"):
        store.build(spec, pgbench, quiet)
    assert not store.ready(spec)
    assert list(workdir.templates.iterdir()) == []


def test_a_layout_may_leave_its_changes_as_they_are(
    installation: Callable[[str], Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    text = "UPDATE pgbench_accounts SET abalance = 1 WHERE aid <= 1000;\n"
    script = Script("change.sql", builtin=False, text=text)
    left = pgbench_data(1, layout=Layout("changed", (script,), all_visible=False))
    store, spec = TemplateStore(workdir, server_user()), spec_of(installation("18"), left)
    store.build(spec, pgbench, quiet)
    store.clone(spec, workdir.clusters / "left")
    cluster = Cluster.adopt(
        spec.installation,
        workdir.clusters / "left" / "data",
        user=server_user(),
        log=workdir.clusters / "left" / "server.log",
    )
    try:
        cluster.start()
        with cluster.connect(BENCH_DATABASE) as connection:
            connection.execute("CREATE EXTENSION pg_visibility")
            row = connection.execute(
                "SELECT count(*) FILTER (WHERE all_visible),"
                " count(*) FILTER (WHERE NOT all_visible)"
                " FROM pg_visibility_map('pgbench_accounts')"
            ).fetchone()
        assert row is not None and row[0] > 1000, "vacuumed before the change"
        assert row[1] >= 1000 * 2 // 61, "the pages of old and of new rows"
    finally:
        cluster.remove()


def test_a_study_of_indexes_and_sets_of_parameters(teiten: Teiten) -> None:
    pytest.importorskip("teiten_native", reason="the native part is not built: make native")
    flags = ["--set", "scale=0.01", "--set", "query=q2.3,q3.4", "--guc", "shared_buffers=64MB"]
    flags += ["--guc", "min_parallel_table_scan_size=8kB", "--guc", "parallel_setup_cost=0"]
    flags += ["--blocks", "1", "--profile", "quick", "--json", "--seed", "3"]
    result = teiten.run("run", "index-scan", *flags)
    assert result.returncode == 0, result.stderr
    contrasts: list[dict[str, Any]] = json.loads(result.stdout)["contrasts"]
    assert {(contrast["old"], contrast["new"]) for contrast in contrasts} == {("plain", "indexed")}
    trials = teiten.trials()
    assert {trial.outcome for trial in trials} == {Outcome.COUNTED}
    workers = {trial.facts[PLANNER]["max_parallel_workers_per_gather"] for trial in trials}
    assert workers == {"0", "16"}
    assert {trial.facts[PLANNER]["min_parallel_table_scan_size"] for trial in trials} == {"1"}
    plans = [unpacked(trial.facts["plan"]) for trial in trials]
    assert all(plan is not None and plan.analysed for plan in plans)
    noted = [event.detail for event in teiten.events() if event.kind == RELATIONS]
    assert sorted(detail["layout"] for detail in noted) == ["indexed", "plain"]
    indexes = {
        detail["layout"]: {one.name for one in relations_of(detail) if one.kind == "i"}
        for detail in noted
    }
    assert indexes["plain"] == set() and len(indexes["indexed"]) == 9


def test_tables_and_partitions_of_ones_own(teiten: Teiten, tmp_path: Path, server: str) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "one.sql").write_text("SELECT count(*) FROM t WHERE a = 7;\n")
    (tmp_path / "tables.sql").write_text(
        "CREATE TABLE t AS SELECT g % 100 AS a, repeat('x', 3000) AS b"
        " FROM generate_series(1, 5000) g;\n"
    )
    (tmp_path / "parts.sql").write_text(
        "ALTER TABLE t RENAME TO whole; CREATE TABLE t (LIKE whole) PARTITION BY RANGE (a);"
        "CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (50);"
        "CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (50) TO (100);"
        "INSERT INTO t SELECT * FROM whole; DROP TABLE whole;\n"
    )
    flags: list[str | Path] = ["--queries", tmp_path / "queries", "--servers", server]
    changes = ["data.script=" + str(tmp_path / "tables.sql"), "data.size=20MB", "blocks=2"]
    changes += ["data.layouts.monthly=" + str(tmp_path / "parts.sql")]
    flags += [word for change in changes for word in ("--set", change)]
    result = teiten.run("run", "partition-olap", "--profile", "quick", *flags, "--seed", "3")
    assert result.returncode == 0, result.stderr
    plans = [unpacked(trial.facts["plan"]) for trial in teiten.trials()]
    documents = [json.dumps(plan.document) for plan in plans if plan is not None]
    assert len(documents) == 4
    assert sum('"t_1"' in document for document in documents) == 2
    assert not any('"t_2"' in document for document in documents)
