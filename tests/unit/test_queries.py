"""Workloads of queries: the study, the plan, and what is over the time limit."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from teiten.analysis.model.findings import ContrastResult, VerdictKind
from teiten.analysis.verdict.contrasts import contrasts
from teiten.analysis.verdict.stopping import undecided
from teiten.cli.text.study import study_lines
from teiten.datasets.script.model import ScriptTables
from teiten.errors import TeitenError, UsageError
from teiten.kinds.contract import all_last
from teiten.kinds.queries.model import NAME as QUERIES
from teiten.kinds.queries.model import queries_of
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import Sequential
from teiten.model.trial import Attempt, Outcome
from teiten.study.load import load_study
from tests.fixtures.planned import expanded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = tmp_path / "mine"
    queries.mkdir()
    for name in ("q10", "q2", "q1"):
        (queries / f"{name}.sql").write_text(f"-- {name}\nSELECT 1;\n", encoding="utf-8")
    return queries


def planned(study: str = "queries", **flags: object) -> Plan:
    return expanded(load_study(study, profile="quick", **flags))  # type: ignore[arg-type]


def test_the_catalogues_queries_are_the_levels_of_a_factor() -> None:
    plan = planned()
    (workload,) = plan.study.workloads
    assert workload.kind == QUERIES
    assert [query.name for query in queries_of(workload).queries] == [
        "join",
        "range",
        "scan",
        "sort",
    ]
    assert plan.study.factor("clients") is None
    assert len(plan.trials) == 2 * 4 * 2
    for first, second in zip(plan.trials[::2], plan.trials[1::2], strict=True):
        assert first.cell.level("query") == second.cell.level("query")
        assert {first.cell.level("server"), second.cell.level("server")} == {"17", "18"}


def test_a_folder_takes_the_place_of_the_studys(folder: Path) -> None:
    study = load_study("queries", queries=str(folder))
    assert [query.name for query in queries_of(study.workloads[0]).queries] == ["q1", "q2", "q10"]
    other = load_study("observe", queries=str(folder))
    assert [workload.kind for workload in other.workloads] == [QUERIES]
    assert other.workloads[0].data.kind == "pgbench"
    some = planned(queries=str(folder), overrides=["query=q2,q10"])
    assert {trial.cell.level("query") for trial in some.trials} == {"q2", "q10"}


def test_tables_of_a_script(folder: Path, tmp_path: Path) -> None:
    script = tmp_path / "tables.sql"
    script.write_text("CREATE TABLE t AS SELECT 1 AS a;\n", encoding="utf-8")
    changes = [f"data.script={script}", "data.size=2GB", "timeout=90s", "runs=5"]
    (workload,) = load_study("queries", queries=str(folder), overrides=changes).workloads
    assert workload.data.kind == "script"
    assert "CREATE TABLE" in workload.data.options_as(ScriptTables).script.text
    options = queries_of(workload)
    assert (workload.data.options_as(ScriptTables).size, options.timeout, options.runs) == (
        2 * 1024**3,
        90.0,
        5,
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"queries": "/nowhere"}, "there is no folder"),
        ({"overrides": ["query=jion"]}, "there is no query 'jion'. Did you mean 'join'?"),
        ({"overrides": ["runs=0"]}, "runs"),
        ({"overrides": ["timeout=0s"]}, "must be above 0s"),
        ({"overrides": ["data.script=/nowhere.sql"]}, "there is no script"),
        ({"overrides": ["data.size=2GB"]}, "data"),
    ],
)
def test_what_is_wrong_names_its_flag(changes: dict[str, object], words: str) -> None:
    with pytest.raises(TeitenError) as caught:
        load_study("queries", **changes)  # type: ignore[arg-type]
    assert words in caught.value.message
    assert caught.value.hint


def test_a_folder_without_queries(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match=r"holds no file \*\.sql"):
        load_study("queries", queries=str(empty))
    (folder / "q3.sql").write_text("-- nothing\n;\n", encoding="utf-8")
    with pytest.raises(UsageError, match="holds no statement"):
        load_study("queries", queries=str(folder))
    (folder / "q3.sql").write_bytes(b"PGDMP\x01\xff")
    with pytest.raises(UsageError, match="is not a text in UTF-8"):
        load_study("queries", queries=str(folder))
    with pytest.raises(UsageError, match="needs a workload of queries"):
        load_study("observe", overrides=["query=a"])


def test_show_prints_the_statements() -> None:
    study = load_study("queries")
    lines = "\n".join(study_lines(study, (), (), "en"))
    assert "FROM pgbench_accounts" in lines


def result(values: dict[tuple[str, str], float | None], **flags: object) -> ContrastResult:
    """``values``: seconds by server and query; None: over the limit of 600 s."""
    (found,) = results(values, **flags)
    return found


def results(
    values: dict[tuple[str, str], float | None], **flags: object
) -> tuple[ContrastResult, ...]:
    given: dict[str, object] = {"overrides": ["query=join,scan"], "blocks": 3, **flags}
    plan = planned("queries", **given)

    def metrics(trial: PlannedTrial) -> dict[str, float]:
        value = values[trial.cell.level("server") or "", trial.cell.level("query") or ""]
        noise = math.exp(0.001 * (trial.block % 3) * (19 - int(trial.cell.level("server") or "")))
        return {"over_timeout": 600.0} if value is None else {"query_seconds": value * noise}

    attempts = [Attempt(trial.number, 1, Outcome.COUNTED, metrics(trial)) for trial in plan.trials]
    return contrasts(plan, attempts)


def test_the_mean_over_queries_is_the_geometric_mean_of_their_ratios() -> None:
    found = result(
        {("17", "join"): 1.0, ("18", "join"): 2.0, ("17", "scan"): 8.0, ("18", "scan"): 12.0}
    )
    assert found.metric.name == "query_seconds"
    assert found.overall.effect is not None
    assert found.overall.effect.ratio == pytest.approx(math.sqrt(2 * 12 / 8), rel=0.01)
    assert found.overall.kind is VerdictKind.SLOWER
    assert found.left_out == ()


def test_a_query_over_the_limit_has_no_number_and_is_left_out() -> None:
    found = result(
        {("17", "join"): 1.0, ("18", "join"): 2.0, ("17", "scan"): None, ("18", "scan"): 9.0}
    )
    join, scan = found.levels
    assert (scan.old_over, scan.new_over, scan.limit) == (3, 0, 600.0)
    assert scan.old_median is None and scan.verdict.effect is None
    assert scan.verdict.reason == "over-timeout"
    assert found.left_out == (scan.context,)
    assert join.verdict.effect is not None and found.overall.effect is not None
    assert found.overall.effect.ratio == pytest.approx(2.0, rel=0.01)
    # More blocks would not give it a number.
    assert ("queries", scan.context) not in undecided([found], Sequential(None))


def test_a_limit_that_a_third_side_exceeds_takes_no_ratio_from_the_others() -> None:
    values: dict[tuple[str, str], float | None] = {
        ("16", "join"): 1.0,
        ("17", "join"): 1.2,
        ("18", "join"): 1.1,
        ("16", "scan"): 8.0,
        ("17", "scan"): 9.0,
        ("18", "scan"): None,
    }
    near, far = results(values, overrides=["query=join,scan", "server=16,17,18"])
    assert (near.new, near.left_out) == ("17", ())
    assert all(level.limit is None and level.verdict.effect for level in near.levels)
    assert near.overall.effect is not None
    assert near.overall.effect.ratio == pytest.approx(math.sqrt(1.2 * 9 / 8), rel=0.01)
    assert (far.new, [dict(context)["query"] for context in far.left_out]) == ("18", ["scan"])


def test_a_level_left_out_adds_no_pairs_to_the_mean() -> None:
    """A sequential interval needs six pairs over the levels of its mean, here one of two."""
    values: dict[tuple[str, str], float | None] = {
        ("17", "join"): 1.0,
        ("18", "join"): 2.0,
        ("17", "scan"): 8.0,
        ("18", "scan"): 9.0,
    }
    flags: dict[str, object] = {"until_decided": True, "budget": "1h"}
    both = result(values, blocks=5, **flags)
    assert both.overall.effect is not None
    one = result({**values, ("18", "scan"): None}, blocks=5, **flags)
    assert one.overall.effect is None and one.overall.reason == "infinite-interval"
    assert result({**values, ("18", "scan"): None}, blocks=6, **flags).overall.effect is not None


def test_where_every_query_is_over_the_limit_nothing_is_said() -> None:
    found = result(dict.fromkeys([(a, b) for a in ("17", "18") for b in ("join", "scan")]))
    assert found.overall.effect is None
    assert len(found.left_out) == 2


@pytest.mark.parametrize(
    "changes",
    [
        {"overrides": ["slices=2", "duration=4s"]},
        {"overrides": ["restart_every=3"]},
        {"flame_graph": True},
    ],
)
def test_what_only_a_load_can_have_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="which times queries one by one") as caught:
        load_study("queries", **changes)  # type: ignore[arg-type]
    assert caught.value.hint
    assert all_last(load_study("observe"))
