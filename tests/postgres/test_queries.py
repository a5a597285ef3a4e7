"""Workloads of queries on real servers: numbers, plans, limits, and wrong answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.kinds.queries.plan_numbers import unpacked
from teiten.model.installation import Installation
from teiten.model.relations import PLANNER
from teiten.model.trial import Outcome
from tests.fixtures.campaigns import Teiten, kill, step_of

TABLES = """
CREATE TABLE t AS SELECT g AS id, g % 10 AS kind FROM generate_series(1, 20000) g;
CREATE INDEX t_id ON t (id);
"""
STUDY = """
[study]
name = "mine"
title = "Mine"
question = "Does all of it work?"
contrast = "server"

[factors]
server = ["old", "new"]

[servers]
old = {old}
new = {new}

[[workloads]]
name = "mine"
title = "My <queries>"
queries = "mine"
changes_data = false
timeout = "{timeout}"
[workloads.data]
script = "tables.sql"

[settings.shared_buffers]
value = "64MB"

[measure]
settle = "0s"
blocks = 2
disturbed_share = "100%"
repeats = 0
"""


@pytest.fixture
def teiten(emptied: Teiten) -> Teiten:
    return emptied


def study(
    teiten: Teiten,
    folder: Path,
    sides: tuple[Installation, Installation],
    queries: dict[str, str],
    *,
    timeout: str = "60s",
) -> Path:
    (folder / "mine").mkdir()
    for name, text in queries.items():
        (folder / "mine" / f"{name}.sql").write_text(text, encoding="utf-8")
    (folder / "tables.sql").write_text(TABLES, encoding="utf-8")
    old, new = (json.dumps(str(side.bin_directory)) for side in sides)
    path = folder / "mine.toml"
    path.write_text(STUDY.format(old=old, new=new, timeout=timeout), encoding="utf-8")
    return path


def test_queries_are_timed_explained_and_reported(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    sides = installation("13"), installation("18")
    queries = {
        "count": "SELECT kind, count(*) FROM t GROUP BY kind -- ;",
        "one": "SELECT 1.5::float8;",
    }
    result = teiten.run("run", study(teiten, tmp_path, sides, queries), "--json", "--seed", "3")
    assert result.returncode == 0, result.stderr
    (contrast,) = json.loads(result.stdout)["contrasts"]
    assert (contrast["metric"], contrast["pairs"]) == ("query_seconds", 2)
    for trial in teiten.trials():
        assert trial.outcome is Outcome.COUNTED
        assert trial.metrics["query_seconds"] > 0
        assert trial.facts["rows"] == (10 if trial.facts["query"] == "count" else 1)
        plan = unpacked(trial.facts["plan"])
        assert plan is not None and plan.analysed and plan.timed
        assert trial.metrics["query_seconds"] == trial.facts["timings"][0]
    page = next(teiten.campaign().glob("report/*.html")).read_text(encoding="utf-8")
    assert page.count('id="pev2-script"') == 1
    assert "My <queries>" not in page and 'id="plans"' in page
    japanese = teiten.run("report", "last", "--lang", "ja", "--format", "markdown")
    assert japanese.returncode == 0, japanese.stderr


def test_each_trial_draws_a_row_alike_on_both_sides(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    """From a file of rows, and from a query's."""
    sides = installation("13"), installation("18")
    queries = {"counted": "SELECT count(*) FROM t WHERE id < :most", "one": "SELECT 1"}
    path = study(teiten, tmp_path, sides, queries)
    asked = "SELECT most FROM generate_series(1, 900) AS most ORDER BY random()"
    (tmp_path / "list.sql").write_text(f"{asked};\n", encoding="utf-8")
    rows = "\n".join(map(str, range(1, 901)))
    (tmp_path / "list.csv").write_text(f"most\n{rows}\n", encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    begin, end = text.index("[[workloads]]"), text.index("[settings")
    workloads = [
        text[begin:end]
        .replace('name = "mine"', f'name = "by-{given}"')
        .replace('queries = "mine"', f'queries = "mine"\nvariables = "list.{given}"')
        for given in ("csv", "sql")
    ]
    path.write_text(text[:begin] + "".join(workloads) + text[end:], encoding="utf-8")
    result = teiten.run("run", path, "--seed", "3")
    assert result.returncode == 0, result.stderr
    drawn: dict[str, dict[int, set[str]]] = {"by-csv": {}, "by-sql": {}}
    for planned, trial in zip(teiten.plan().trials, teiten.trials(), strict=True):
        assert trial.outcome is Outcome.COUNTED
        if trial.facts["query"] != "counted":
            assert "drawn" not in trial.facts
            continue
        workload, said = planned.cell.workload, trial.facts["drawn"]
        drawn[workload].setdefault(planned.block, set()).add(said)
        if workload == "by-csv":
            plan = unpacked(trial.facts["plan"])
            assert plan is not None and f"< {said.rpartition(' ')[2]})" in str(plan.document)
    for blocks in drawn.values():
        assert [len(of_both_sides) for of_both_sides in blocks.values()] == [1, 1]
        assert len(set.union(*blocks.values())) == 2, "another row in another block"


def test_a_query_that_gives_no_rows_is_said_before_anything_is_measured(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    sides = installation("13"), installation("18")
    path = study(teiten, tmp_path, sides, {"counted": "SELECT count(*) FROM t WHERE id < :most"})
    text = path.read_text(encoding="utf-8")
    for query, words in (
        ("SELECT 1 AS most WHERE false;", "has no row"),
        ("SELECT 1 AS least;", "has no column most"),
        ("SELECT nothing;", 'column "nothing" does not exist'),
    ):
        key = f'queries = "mine"\nvariables = "{query}"'
        path.write_text(text.replace('queries = "mine"', key), encoding="utf-8")
        result = teiten.run("run", path)
        assert result.returncode != 0 and words in result.stderr, result.stderr
        assert not list(teiten.workdir.campaigns.iterdir())


def test_over_the_limit_is_a_result_and_a_wrong_answer_or_a_write_is_a_failure(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    """What a function has written is not there for others."""
    sides = installation("13"), installation("18")
    queries = {
        "sleep": "SELECT pg_sleep(30)",
        "version": "SELECT current_setting('server_version_num')",
        "count": "SELECT count(*) FROM t",
        "sly": "SELECT add_one()",
    }
    path = study(teiten, tmp_path, sides, queries, timeout="1s")
    adding = (
        "CREATE FUNCTION add_one() RETURNS int LANGUAGE sql AS"
        " 'INSERT INTO t VALUES (0, 0) RETURNING id';"
    )
    (tmp_path / "tables.sql").write_text(TABLES + adding, encoding="utf-8")
    result = teiten.run("run", path, "--json", "--seed", "3")
    assert result.returncode == 4, result.stderr
    trials = {
        name: [trial for trial in teiten.trials() if trial.facts["query"] == name]
        for name in queries
    }
    codes = {
        name: {problem.code for trial in of_query for problem in trial.problems}
        for name, of_query in trials.items()
    }
    over = trials["sleep"]
    assert {trial.outcome for trial in over} == {Outcome.COUNTED}
    assert all(trial.metrics["over_timeout"] == 1.0 for trial in over)
    assert all("query_seconds" not in trial.metrics for trial in over)
    assert all(trial.facts["plan_executed"] is False for trial in over)
    assert sorted(trial.outcome for trial in trials["version"]).count(Outcome.FAILED) == 2
    assert codes["version"] == {"wrong-answer"}
    assert {trial.outcome for trial in trials["sly"]} == {Outcome.FAILED}
    assert codes["sly"] == {"changes-data"}
    assert all("query_seconds" not in trial.metrics for trial in trials["sly"])
    assert {trial.outcome for trial in trials["count"]} == {Outcome.COUNTED}
    assert len({trial.facts["checksum"] for trial in trials["count"]}) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT * FROM missing", 'relation "missing" does not exist'),
        ("SELECT 1; SELECT 2", "cannot insert multiple commands"),
        ("VACUUM", "syntax error"),
        ("INSERT INTO t VALUES (0, 0)", "changes data, and changes_data = false says that none"),
        ("SELECT * FROM t WHERE id = 1 FOR UPDATE", "changes data, and changes_data = false"),
    ],
)
def test_errors_come_before_the_first_trial(
    teiten: Teiten,
    tmp_path: Path,
    installation: Callable[[str], Installation],
    text: str,
    words: str,
) -> None:
    newest = installation("18")
    path = study(teiten, tmp_path, (newest, newest), {"broken": text})
    result = teiten.run("run", path)
    assert result.returncode == 3
    assert "query broken" in result.stderr and words in result.stderr
    assert "hint: " in result.stderr


def test_statements_take_turns_between_servers_that_stay_up_for_a_block(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    sides = (installation("18"), installation("18"))
    file = study(teiten, tmp_path, sides, {"one": "SELECT 1;", "sum": "SELECT sum(id) FROM t;"})
    result = teiten.run("run", file, "--yes", "--set", "way=statements")
    assert result.returncode == 0, result.stderr
    stopped = [
        event.detail["stopped"]
        for event in teiten.events()
        if event.kind == "step" and event.detail["step"] == "stop"
    ]
    assert sum(str(one).startswith("not yet") for one in stopped) == 2 * 2, "one query of each two"
    counted = [one for one in teiten.trials() if one.outcome is Outcome.COUNTED]
    assert len(counted) == len(stopped) == 2 * 2 * 2
    assert {one.facts["query"] for one in counted} == {"one", "sum"}
    assert not list(teiten.processes("postgres"))


def servers_started(teiten: Teiten) -> list[dict[str, object]]:
    steps = [event.detail for event in teiten.events() if event.kind == "step"]
    return [detail for detail in steps if detail["step"] == "start" and "version" in detail]


def test_levels_that_a_session_sets_take_turns_on_one_server(
    teiten: Teiten, tmp_path: Path, installation: Callable[[str], Installation]
) -> None:
    """Killed within its first start, which a second one goes on from."""
    newest = installation("18")
    levels = {"1MB": "1024", "2MB": "2048", "4MB": "4096"}
    queries = {"one": "SELECT 1;", "sum": "SELECT sum(id) FROM t;"}
    file = study(teiten, tmp_path, (newest, newest), queries)
    given = ("way=statements", "server=old", f"guc:work_mem={','.join(levels)}")
    settings = [word for each in (*given, "contrast=guc:work_mem") for word in ("--set", each)]
    process = teiten.start("run", file, "--yes", *settings)
    teiten.wait_for(process, step_of(5, "measure"))
    assert len(list(teiten.workdir.clusters.glob("*kept"))) == 1, "one copy of the data"
    kill(process)
    begun, ended = len(servers_started(teiten)), len(teiten.trials())
    result = teiten.run("resume", "--json")
    assert result.returncode == 0, result.stderr
    plan, trials = teiten.plan(), teiten.trials()
    assert [(trial.number, trial.attempt) for trial in trials] == [(at, 1) for at in range(1, 13)]
    for planned, trial in zip(plan.trials, trials, strict=True):
        level = planned.cell.level("guc:work_mem") or ""
        assert trial.outcome is Outcome.COUNTED
        assert trial.facts["session_settings"] == {"work_mem": level}
        assert trial.facts[PLANNER]["work_mem"] == levels[level], "as its own session had it"
        assert "work_mem" not in trial.facts["settings"], "of the server"
    blocks = {trial.block for trial in plan.trials[ended:]}
    assert len(servers_started(teiten)) == begun + len(blocks), "one for the rest of each block"
    assert {each["pairs"] for each in json.loads(result.stdout)["contrasts"]} == {2}
    assert not list(teiten.processes("postgres"))
    assert not list(teiten.workdir.clusters.iterdir())
