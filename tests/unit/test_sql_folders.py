"""Folders of SQL, and versions of an extension, as the sides of a gate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.errors import StudyError, UsageError
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.kinds.pgbench.model import clients_of, pgbench_of, script_of
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.study import Study
from teiten.study.load import load_study
from teiten.study.scripts import SCHEMA
from teiten.study.sides import (
    AGAIN,
    BASE,
    HEAD,
    Shared,
    SideFlags,
    SqlFolders,
    ab_study,
    gate_study,
    sql_folders,
)
from tests.fixtures.planned import expanded

NAMES = (BASE, HEAD)


def write(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.sql").write_text(text, encoding="ascii")
    return folder


def side(letter: str, *overrides: str) -> SideFlags:
    return SideFlags(letter, "18", overrides)


def gate_of(folders: SqlFolders, *overrides: str) -> Study:
    sides = (
        side("base", *folders.overrides(folders.base)),
        side("head", *folders.overrides(folders.head)),
    )
    return gate_study(*sides, Shared(clients="2", overrides=overrides), folders)


def first_start(plan: Plan) -> dict[str, PlannedTrial]:
    """The trials of the first workload in the first block, by their side."""
    first = plan.trials[0]
    place = (first.block, first.cell.workload)
    trials = (trial for trial in plan.trials if (trial.block, trial.cell.workload) == place)
    return {trial.cell.server: trial for trial in trials}


def test_both_bases_run_the_old_statements_and_the_head_the_new(tmp_path: Path) -> None:
    old = write(tmp_path / "old", q="SELECT 1;\n", r="SELECT 2;\n", gone="SELECT 0;\n")
    new = write(tmp_path / "new", q="SELECT 10;\n", r="SELECT 2;\n")
    folders = sql_folders(str(old), str(new), NAMES)
    assert (folders.files, folders.unpaired) == (("q.sql", "r.sql"), ("gone.sql",))
    study = gate_of(folders)
    assert [workload.name for workload in study.workloads] == ["q", "r"]
    options = pgbench_of(study.workload("q"))
    assert [(text.name, text.text) for text in options.texts] == [
        ("old/q.sql", "SELECT 1;\n"),
        ("new/q.sql", "SELECT 10;\n"),
    ]
    trials = first_start(expanded(study, named=template_fingerprint))
    texts = {name: script_of(options, clients_of(trial)).text for name, trial in trials.items()}
    assert texts == {BASE: "SELECT 1;\n", AGAIN: "SELECT 1;\n", HEAD: "SELECT 10;\n"}
    assert len({trial.template.fingerprint for trial in trials.values()}) == 1
    assert len({trial.kind for trial in trials.values()}) == 2, "both texts are rehearsed"


def test_a_schema_is_a_layout_of_its_side_alone(tmp_path: Path) -> None:
    old = write(tmp_path / "old", q="SELECT 1;\n")
    new = write(tmp_path / "new", q="SELECT 1;\n", schema="CREATE TABLE further (a integer);\n")
    folders = sql_folders(str(old), str(new), NAMES)
    for given in ((), ("scale=1",), ("data.size=4MB",)):
        trials = first_start(expanded(gate_of(folders, *given), named=template_fingerprint))
        layouts = {name: trial.template.data.layout for name, trial in trials.items()}
        scripts = {
            name: [one.name for one in each.scripts] for name, each in layouts.items() if each
        }
        assert scripts == {BASE: [], AGAIN: [], HEAD: [SCHEMA]}
        kinds = {trial.template.data.kind for trial in trials.values()}
        assert kinds == {"pgbench" if "scale=1" in given else "script"}


def test_folders_of_one_name_are_base_and_head(tmp_path: Path) -> None:
    sides = [write(tmp_path / name / "sql", q="SELECT 1;\n") for name in ("a", "b")]
    folders = sql_folders(str(sides[0]), str(sides[1]), NAMES)
    assert [folder.level for folder in folders.both] == [BASE, HEAD]


def test_what_is_no_pair_of_folders_is_refused(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", q="SELECT 1;\n"), write(tmp_path / "new", r="SELECT 1;\n")
    with pytest.raises(UsageError, match=r"have no file \*\.sql of the same name"):
        sql_folders(str(old), str(new), NAMES)
    with pytest.raises(UsageError, match="17 is no folder of SQL"):
        sql_folders("17", str(new), NAMES)


def test_statements_and_layouts_that_no_workload_has_are_refused(tmp_path: Path) -> None:
    study = tmp_path / "mine.toml"
    text = """
[study]
name = "mine"
contrast = "statements"
[factors]
server = ["18"]
clients = [1]
statements = ["old", "new"]
[[workloads]]
name = "q"
script = "SELECT 1;"
statements = { old = "SELECT 1;", %s = "SELECT 2;" }
scale = 1
changes_data = false
"""
    study.write_text(text % "new", encoding="ascii")
    trials = expanded(load_study(str(study))).trials
    assert {clients_of(trial).statements for trial in trials} == {"old", "new"}
    study.write_text(text % "newer", encoding="ascii")
    with pytest.raises(StudyError, match=r"q has no statements 'new'\. Did you mean 'newer'"):
        load_study(str(study))
    with pytest.raises((StudyError, UsageError), match="no workload has layouts"):
        ab_study(side("a"), side("b", "layout=wide"), Shared(clients="1"))


def test_versions_of_an_extension_are_created_before_the_tables() -> None:
    sides = (side("a", "extension:pg_buffercache=1.0"), side("b", "extension:pg_buffercache=1.1"))
    study = ab_study(*sides, Shared(clients="1", overrides=("scale=1",)))
    plan = expanded(study, named=template_fingerprint)
    data = [trial.template.data for trial in plan.trials]
    expected = {(("pg_buffercache", version),) for version in ("1.0", "1.1")}
    assert {one.extensions for one in data} == expected
    assert str(data[0]).endswith((", pg_buffercache 1.0", ", pg_buffercache 1.1"))
    installation = plan.servers[0][1]
    plain = replace(data[0], extensions=())
    names = {template_fingerprint(installation, False, each) for each in (*data, plain)}
    assert len(names) == 3


@pytest.mark.parametrize("level", ["", "1--2", "../x", "-1"])
def test_what_is_no_version_is_refused(level: str) -> None:
    with pytest.raises(UsageError):
        ab_study(side("a"), side("b", f"extension:pg_buffercache={level}"), Shared(clients="1"))
