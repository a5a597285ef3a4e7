"""The studies on the Star Schema Benchmark: parallel, index-scan and the two of partitions."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.datasets.ssb.model import StarSchemaTables, ssb_data
from teiten.datasets.ssb.plan import PLAN as DATA
from teiten.datasets.ssb.rows import sizes
from teiten.errors import MachineError, TeitenError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.kinds.queries.model import queries_of
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.ssb import SsbData, SsbTable, SsbVariant, expected_rows, table_bytes
from teiten.model.study import DataSet, Study
from teiten.plan.checks import check
from teiten.plan.expand import expand
from teiten.plan.sizing import size
from teiten.study.load import load_study
from tests.fixtures.planned import FOLDER, PGBENCH, expanded
from tests.fixtures.synthetic_plan import HOST, make_installation

NAMES = ("parallel", "index-scan", "partition-olap", "partition-parallel")
_FLIGHTS = ((1, 3), (2, 3), (3, 4), (4, 3))
QUERIES = [f"q{flight}.{n + 1}" for flight, count in _FLIGHTS for n in range(count)]


def planned(study: Study, versions: tuple[str, ...] = ("13.23", "18.4")) -> Plan:
    by_session = ["max_parallel_workers_per_gather"]
    return expanded(study, versions, named=template_fingerprint, by_session=by_session)


def in_preferred_way(study: Study) -> Study:
    preferred = study.measure.preferred
    way = study.measure.way if preferred is None else preferred.name
    return replace(study, measure=replace(study.measure, way=way))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("profile", ["quick", "standard", "published"])
def test_every_study_plans_with_versions_crossed_in(name: str, profile: str) -> None:
    study = load_study(name, profile=profile, servers=["13,18"])
    plan = planned(study)
    first = plan.study.workloads[0]
    assert [query.name for query in queries_of(first).queries] == QUERIES
    grouped = [query for group in queries_of(first).groups for query in group.queries]
    assert sorted(grouped) == QUERIES
    assert {trial.cell.level("server") for trial in plan.trials} == {"13", "18"}
    assert {template.data.kind for template in plan.templates} == {"ssb"}
    for text in (study.title, study.question, study.purpose, *study.differences):
        assert text.en and text.ja and text.en != text.ja
    if profile == "quick":
        assert study.withholds_findings
        assert planned(in_preferred_way(study)).needs.seconds < 600
    if profile == "published":
        assert first.data.scale == 100
        with pytest.raises(MachineError, match="of disk") as caught:
            check(plan, HOST, FOLDER)
        assert "--profile standard, or a smaller scale than 100" in (caught.value.hint or "")


@pytest.mark.parametrize("name", NAMES)
def test_the_contrast_can_be_the_server(name: str) -> None:
    plan = planned(load_study(name, servers=["13,18"], overrides=["contrast=server"]))
    for first, second in zip(plan.trials[::2], plan.trials[1::2], strict=True):
        assert first.cell.context("server") == second.cell.context("server")


@pytest.mark.parametrize("name", NAMES)
def test_queries_and_tables_of_ones_own(name: str, tmp_path: Path) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "mine.sql").write_text("SELECT count(*) FROM t;\n", encoding="utf-8")
    tables, other = tmp_path / "tables.sql", tmp_path / "other.sql"
    tables.write_text("CREATE TABLE t AS SELECT 1 AS a;\n", encoding="utf-8")
    other.write_text("CREATE INDEX ON t (a);\n", encoding="utf-8")
    changes = [f"data.script={tables}", "data.size=1GB", "contrast=layout"]
    second = "indexed" if name in ("parallel", "index-scan") else "monthly"
    changes += [f"data.layouts.{second}={other}", f"layout=plain,{second}"]
    folder = str(tmp_path / "queries")
    study = load_study(name, profile="quick", queries=folder, overrides=changes)
    (workload,) = study.workloads
    assert workload.data.kind == "script"
    assert (workload.layout("plain").scripts, queries_of(workload).groups) == ((), ())
    assert [script.name for script in workload.layout(second).scripts] == ["other.sql"]
    planned(study, ("18.4",))


def test_the_studys_scripts_do_not_fit_other_tables(tmp_path: Path) -> None:
    (tmp_path / "tables.sql").write_text("CREATE TABLE t ();\n", encoding="utf-8")
    with pytest.raises(TeitenError, match="has no layout 'monthly'") as caught:
        load_study("partition-olap", overrides=[f"data.script={tmp_path / 'tables.sql'}"])
    assert "--set data.layouts.monthly=file.sql" in (caught.value.hint or "")


def test_partitions_need_a_server_that_has_them() -> None:
    study = load_study("partition-olap", servers=["9.6,18"])
    with pytest.raises(TeitenError, match="layout monthly needs PostgreSQL 10 or later, and this"):
        planned(study, ("9.6.24", "18.4"))


def test_what_sessions_load_is_there() -> None:
    study = load_study("partition-parallel", overrides=["preload=pg_hint_plan"])
    with pytest.raises(TeitenError, match="loads the extension pg_hint_plan, which"):
        planned(study, ("18.4",))
    having = replace(make_installation("18.4"), contrib=frozenset({"pg_hint_plan"}))
    plan = expand(size(study, HOST), [("18", having)], PGBENCH, seed=1, fingerprint=_named)
    for trial in plan.trials:
        preloaded = dict(trial.settings).get("session_preload_libraries")
        assert preloaded == "pg_hint_plan"


def _named(installation: Installation, checksums: bool, data: DataSet) -> str:
    return f"{installation.name} {checksums} {data}"


@pytest.mark.parametrize("scale", ["0", "-1", "0.0", "1.5", "20000", "big"])
def test_a_scale_that_does_not_exist(scale: str) -> None:
    with pytest.raises(TeitenError, match="--set scale") as caught:
        load_study("parallel", overrides=[f"scale={scale}"])
    assert caught.value.hint
    with pytest.raises(TeitenError):
        load_study("queries", overrides=["scale=0.5"])


def test_what_data_mean() -> None:
    study = load_study("parallel", overrides=["scale=0.50", "data.variant=reports"])
    data = study.workloads[0].data
    assert (data.scale, data.options_as(StarSchemaTables).variant) == (0.5, SsbVariant.REPORTS)
    assert str(data) == "Star Schema Benchmark, scale factor 0.5, variant reports"
    assert load_study("parallel", overrides=["scale=2.0"]).workloads[0].data.scale == 2
    installation = make_installation("18.4")
    others = (ssb_data(0.5), ssb_data(1), data)
    assert len({template_fingerprint(installation, True, one) for one in others}) == 3


def test_the_scale_is_fitted() -> None:
    study = size(load_study("parallel"), HOST)
    (scale,) = {workload.data.scale for workload in study.workloads}
    assert scale in DATA.scales and scale > 0.1
    assert size(load_study("queries"), HOST).workloads[0].data.scale == 20


@pytest.mark.parametrize("scale", [0.01, 0.1, 0.5, 1, 3, 100])
@pytest.mark.parametrize("variant", list(SsbVariant))
def test_rows_are_as_many_as_the_generator_makes(scale: float, variant: SsbVariant) -> None:
    pytest.importorskip("teiten_native", reason="the native part is not built: make native")
    data = SsbData(float(scale), variant)
    rows = expected_rows(scale, variant)
    for table in set(SsbTable) - {SsbTable.DATE}:
        assert rows[table] == pytest.approx(sizes.expected_rows(data, table), rel=0.01)
    made = sizes.expected_bytes(data, sizes.POSTGRES)
    assert math.isclose(table_bytes(scale, variant), made, rel_tol=0.05)
