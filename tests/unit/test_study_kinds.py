"""The kind of a workload: named, or told by its keys; each kind has keys of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.datasets.script.model import ScriptTables
from teiten.errors import StudyError, TeitenError, UsageError
from teiten.kinds.contract import plan_of
from teiten.kinds.pgbench.model import NAME as PGBENCH
from teiten.kinds.pgbench.model import pgbench_of
from teiten.kinds.queries.model import NAME as QUERIES
from teiten.kinds.queries.model import queries_of
from teiten.kinds.registry import names
from teiten.model.study import Study
from teiten.study.load import load_study

STUDY = """
[study]
name = "mine"
title = "Mine"
question = "?"

[factors]
server = ["17", "18"]
clients = [1]

[[workloads]]
name = "load"
title = "A load"
script = "select-only"
changes_data = false

[[workloads]]
name = "timed"
title = "Timed"
queries = "sql"
changes_data = false

[profiles.quick]
conclusive = false
runs = 2
query_mode = "prepared"
blocks = 1

[profiles.quick.workloads.timed]
timeout = "5s"
"""

KEYS = ", ".join(key for kind in names() if (key := plan_of(kind).told_by) is not None)
"""The keys that tell the kind of a workload."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "sql").mkdir()
    (tmp_path / "sql" / "a.sql").write_text("SELECT 1;\n", encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def changed(file: Path, old: str, new: str) -> TeitenError:
    assert old in STUDY
    file.write_text(STUDY.replace(old, new), encoding="utf-8")
    with pytest.raises(TeitenError) as caught:
        load_study(str(file))
    return caught.value


def kinds(study: Study) -> list[str]:
    return [workload.kind for workload in study.workloads]


def test_a_kind_is_told_by_a_key_or_named(file: Path) -> None:
    assert kinds(load_study(str(file))) == [PGBENCH, QUERIES]
    named = STUDY.replace('script = "sel', 'kind = "pgbench"\nscript = "sel')
    file.write_text(named.replace("queries =", 'kind = "queries"\nqueries ='), encoding="utf-8")
    assert kinds(load_study(str(file))) == [PGBENCH, QUERIES]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'queries = "sql"',
            'kind = "querys"',
            "workloads.2.kind: there is no kind 'querys'. Did you mean 'queries'?",
        ),
        ('queries = "sql"', "", f"workloads.2: a workload has one of {KEYS}, or names its kind"),
        (
            'queries = "sql"',
            'queries = "sql"\nscript = "select-only"',
            f"workloads.2: a workload has one of {KEYS}, not several",
        ),
        (
            'queries = "sql"',
            'kind = "queries"\nquerys = "sql"',
            "17: workloads.2.queries: is missing; line 21: workloads.2.querys: unknown key.",
        ),
        (
            'queries = "sql"',
            'queries = "sql"\nrun = 3',
            "workloads.2.run: unknown key. Did you mean 'runs'?",
        ),
        (
            'script = "select-only"',
            'script = "select-only"\nruns = 3',
            "workloads.1.runs: unknown key.",
        ),
        (
            'timeout = "5s"',
            'timeuot = "5s"',
            "profiles.quick.workloads.timed.timeuot: unknown key. Did you mean 'timeout'?",
        ),
        ("runs = 2", "rnus = 2", "profiles.quick.rnus: unknown key. Did you mean 'runs'?"),
        ("runs = 2", "runs = 0", "profiles.quick.runs: must be at least 1, not 0"),
    ],
)
def test_a_mistake_is_told_with_its_place(file: Path, old: str, new: str, said: str) -> None:
    error = changed(file, old, new)
    assert isinstance(error, StudyError)
    assert said in error.message


def test_a_key_for_all_workloads_is_one_of_those_that_have_it(file: Path) -> None:
    study = load_study(str(file), profile="quick")
    load, timed = study.workloads
    assert pgbench_of(load).query_mode.value == "prepared"
    assert (queries_of(timed).runs, queries_of(timed).timeout) == (2, 5.0)
    (load, timed) = load_study(str(file), overrides=["runs=7"]).workloads
    assert queries_of(timed).runs == 7


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("runs=3", "--set runs: no workload of this study has the key runs"),
        ("workloads.read.runs=3", "--set workloads.read.runs: unknown key of a workload."),
    ],
)
def test_a_key_that_no_workload_has_is_refused(override: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_study("observe", overrides=[override])
    assert caught.value.message.startswith(said)


def test_options_are_of_their_kind(file: Path) -> None:
    load, timed = load_study(str(file)).workloads
    with pytest.raises(TypeError, match="load is of the kind pgbench"):
        queries_of(load)
    with pytest.raises(TypeError, match="timed is of the kind queries"):
        pgbench_of(timed)


DATA = 'script = "select-only"\ndata = { script = "t.sql", size = "1MB" }'


def test_a_load_of_pgbench_runs_on_tables_that_are_not_its_own(file: Path) -> None:
    (file.parent / "t.sql").write_text("CREATE TABLE t (v int);\n", encoding="utf-8")
    own = DATA.replace("select-only", "SELECT count(*) FROM t;")
    file.write_text(STUDY.replace('script = "select-only"', own), encoding="utf-8")
    load, _ = load_study(str(file)).workloads
    assert load.data.options_as(ScriptTables).script.name == "t.sql"
    overrides = [f"data.script={file.parent / 't.sql'}", "script=SELECT 1;"]
    (load,) = load_study("observe", overrides=overrides).workloads
    assert load.data.options_as(ScriptTables).script.name == "t.sql"


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (DATA, "workloads.1.data: pgbench's own script select-only runs on pgbench's tables"),
        (
            DATA.replace("select-only", "SELECT 1;") + '\ninvariants = ["tpcb-balances"]',
            "workloads.1.invariants: tpcb-balances is of pgbench's own tables",
        ),
        (
            'script = "SELECT 1;"\ndata = { kind = "ssb", size = "1MB" }',
            "workloads.1.data.size: size is for tables that a script makes; these are",
        ),
        (
            'script = "SELECT 1;"\ndata = { kind = "sbs" }',
            "1.data.kind: must be one of access_log, pgbench, probes, script, ssb, not 'sbs'. Did",
        ),
        (
            'script = "SELECT 1;"\ndata = { kind = "ssb", varient = "reports" }',
            "workloads.1.data.varient: unknown key. Did you mean 'variant'?",
        ),
    ],
)
def test_what_tables_cannot_have_is_refused(file: Path, new: str, said: str) -> None:
    (file.parent / "t.sql").write_text("CREATE TABLE t (v int);\n", encoding="utf-8")
    assert said in changed(file, 'script = "select-only"', new).message
