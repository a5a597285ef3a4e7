"""Layouts of data, sets of parameters, and factors of which a workload has only some levels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from teiten.analysis.verdict.contrasts import contrasts
from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import TeitenError, UsageError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.kinds.queries.model import queries_of
from teiten.model.plan import Plan
from teiten.model.study import Layout, Script
from teiten.model.trial import Attempt, Outcome
from teiten.study.load import load_study
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import make_installation

STUDY = """
[study]
name = "mine"
title = "Mine"
question = "Which layout is faster?"
contrast = "layout"

[factors]
server = ["18"]
layout = ["plain", "keyed"]
parameters = ["serial", "parallel"]
"guc:jit" = ["off"]

[parameters.serial]
max_parallel_workers_per_gather = 0
[parameters.parallel]
Max_Parallel_Workers_Per_Gather = 4

[[workloads]]
name = "mine"
title = "Mine"
queries = "queries"
changes_data = false
{workload}
[workloads.data]
script = "tables.sql"
size = "1GB"
[workloads.data.layouts]
plain = []
keyed = {{ scripts = ["keys.sql"], size = "120%" }}
old = {{ scripts = ["keys.sql"], needs = "12" }}

[[workloads.groups]]
name = "small"
title = {{ en = "Small", ja = "小" }}
queries = ["a"]

[settings]
work_mem = "8MB"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "queries").mkdir()
    for name in ("a", "b"):
        (tmp_path / "queries" / f"{name}.sql").write_text("SELECT 1;\n", encoding="utf-8")
    for name in ("tables", "keys"):
        (tmp_path / f"{name}.sql").write_text(f"CREATE TABLE {name} ();\n", encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(STUDY.format(workload=""), encoding="utf-8")
    return path


def planned(reference: Path | str, *overrides: str, version: str = "18.4", **flags: object) -> Plan:
    loaded = load_study(str(reference), overrides=overrides, **flags)  # type: ignore[arg-type]
    return expanded(loaded, (version,), named=template_fingerprint)


def test_each_layout_is_a_template_and_each_set_a_combination_of_settings(study: Path) -> None:
    plan = planned(study, "blocks=2")
    assert len(plan.trials) == 2 * 2 * 2 * 2
    assert {template.data.layout.name for template in plan.templates if template.data.layout} == {
        "plain",
        "keyed",
    }
    for trial in plan.trials:
        assert trial.template.data.layout is not None
        assert trial.template.data.layout.name == trial.cell.level("layout")
        workers = "0" if trial.cell.level("parameters") == "serial" else "4"
        assert dict(trial.settings) == {
            "work_mem": "8MB",
            "jit": "off",
            "max_parallel_workers_per_gather": workers,
        }
    by_layout = {
        template.data.layout.name: template for template in plan.templates if template.data.layout
    }
    assert by_layout["keyed"].expected_bytes > 1.15 * by_layout["plain"].expected_bytes
    (group,) = queries_of(plan.study.workloads[0]).groups
    assert (group.name, group.title.ja, group.queries) == ("small", "小", ("a",))


def test_the_name_of_a_layout_is_no_part_of_a_template() -> None:
    installation = make_installation("18.4")
    script = Script("keys.sql", builtin=False, text="CREATE INDEX …")

    def named(layout: Layout | None) -> str:
        return template_fingerprint(installation, True, pgbench_data(1, layout=layout))

    assert named(None) == named(Layout("plain"))
    assert named(Layout("a", (script,))) == named(Layout("b", (script,)))
    assert len({named(None), named(Layout("a", (script,))), named(Layout("a", (script,) * 2))}) == 3


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["layout=plain,indexed"], "the workload mine has no layout 'indexed'"),
        (["parameters=serial,paralel"], "there is no set of parameters 'paralel'. Did you mean"),
        (["guc:max_parallel_workers_per_gather=0,2"], "and the factor guc:max_parallel"),
        (["data.layouts.keyed=/nowhere.sql"], "there is no script"),
        (["data.kind=ssb"], "script is for tables that a script makes"),
        (["data.kind=ssd"], "must be one of access_log, pgbench, probes, script, ssb"),
        (["data.layout=x"], "unknown key. Did you mean 'data.layouts.NAME'?"),
        (["layout=plain,old"], "server 18: the layout old needs PostgreSQL 12 or later"),
    ],
)
def test_what_is_wrong_is_named(study: Path, overrides: Sequence[str], words: str) -> None:
    with pytest.raises(TeitenError) as caught:
        planned(study, *overrides, version="11.22")
    assert words in caught.value.message
    assert caught.value.hint


def test_a_parameter_is_fixed_or_varied(study: Path) -> None:
    with pytest.raises(UsageError, match="the set of parameters serial sets it"):
        load_study(str(study), gucs=["max_parallel_workers_per_gather=2"])
    other = load_study(str(study), gucs=["jit_above_cost=1"], overrides=["parameters=serial"])
    assert [parameter.name for parameter in other.parameters] == ["serial"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('queries = ["a"]', 'queries = ["c"]', "there is no query 'c'"),
        ("plain = []", "", "has no layout 'plain'"),
        ('size = "120%"', 'size = "0%"', "must be above 0%"),
        ('scripts = ["keys.sql"], size', 'scripts = ["tpcb-like"], size', "makes no tables"),
        ('needs = "12"', 'needs = "9.6"', "must be a whole number"),
        ("changes_data = false", "changes_data = false\nlevels = { query = ['a'] }", "query"),
        ("changes_data = false", "changes_data = false\nlevels = { cores = [1] }", "not a factor"),
    ],
)
def test_a_file_that_is_wrong(study: Path, old: str, new: str, words: str) -> None:
    study.write_text(study.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(TeitenError, match=words):
        load_study(str(study))


def test_layouts_are_contrasted_only_where_there_are_some(study: Path) -> None:
    with pytest.raises(UsageError, match="no workload has layouts"):
        load_study("queries", overrides=["layout=a,b", "contrast=layout"])
    with_layouts = load_study(
        "queries", overrides=[f"data.layouts.a={study.parent / 'keys.sql'}", "layout=a"]
    )
    (workload,) = with_layouts.workloads
    assert (workload.data.kind, workload.layouts[0].size) == ("pgbench", 1.5)


def limited(study: Path, levels: str) -> Path:
    text = STUDY.format(workload=f"levels = {{ {levels} }}")
    study.write_text(text, encoding="utf-8")
    return study


def test_a_workload_has_only_some_levels_of_a_factor(study: Path) -> None:
    plan = planned(limited(study, 'parameters = ["serial"]'))
    assert {trial.cell.level("parameters") for trial in plan.trials} == {"serial"}
    assert len(load_study(str(study), overrides=["parameters=serial,parallel"]).parameters) == 2
    freed = planned(study, "parameters=serial,parallel")
    assert {trial.cell.level("parameters") for trial in freed.trials} == {"serial", "parallel"}
    named = planned(study, "workloads.mine.levels.parameters=parallel")
    assert {trial.cell.level("parameters") for trial in named.trials} == {"parallel"}


def test_a_level_of_one_workload_is_no_level_of_the_others() -> None:
    plan = planned("parallel", profile="quick")
    found = {
        name: {
            trial.cell.level("guc:max_parallel_workers_per_gather")
            for trial in plan.trials
            if trial.cell.workload == name
        }
        for name in ("ssb", "count")
    }
    assert found == {"ssb": {"0", "16"}, "count": {"0", "1", "2", "4", "16"}}
    factor = plan.study.factor("guc:max_parallel_workers_per_gather")
    assert factor is not None and factor.levels == ("0", "1", "2", "4", "16")
    attempts = [
        Attempt(trial.number, 1, Outcome.COUNTED, {"query_seconds": 1.0 + trial.block / 100})
        for trial in plan.trials
    ]
    sides = {(one.workload, one.old, one.new) for one in contrasts(plan, attempts)}
    assert sides == {("ssb", "0", "16"), *(("count", "0", one) for one in ("1", "2", "4", "16"))}
