"""``teiten explain-diff``: what it reads, says, writes, and refuses."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from teiten.analysis.explain.read import read_plan
from teiten.analysis.explain.statistics import stability
from teiten.analysis.explain.text import PlanTextError
from teiten.cli.main import teiten
from teiten.errors import UsageError
from tests.fixtures.plan_corpus import corpus, plan
from tests.fixtures.psql_frames import stored
from tests.fixtures.schemas import described

HASH = corpus("pg18")["hash-joins"]["plan"]


def run(*arguments: str | Path, given: str = "") -> Result:
    words = ["explain-diff", *map(str, arguments)]
    return CliRunner().invoke(teiten, words, standalone_mode=False, input=given)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(corpus("pg18")["nested-loop"]["plan"], encoding="utf-8")
    new.write_text(corpus("pg18")["merge-join"]["plan"], encoding="utf-8")
    return old, new


def test_what_was_replaced_is_said_with_its_cost(files: tuple[Path, Path]) -> None:
    said = run(*files).stdout
    assert "The two plans differ in their structure." in said
    assert re.search(r"Nested Loop \(c, s\) became Merge Join \(.* → .*, [+−].*\)", said)
    assert "By node type: old.json" in said and "By node type: new.json" in said
    japanese = run(*files, "--lang", "ja").stdout
    assert "構造が異なる" in japanese and "Nested Loop（c、s）がMerge Joinに変化" in japanese


def appended(*loops: int, parent_loops: int = 1) -> dict[str, Any]:
    """A plan of an Append, whose children ran so often, and an InitPlan that never ran."""
    times = {"Actual Total Time": 1.0, "Actual Rows": 1}
    children = [
        {
            **times,
            "Node Type": "Seq Scan",
            "Parent Relationship": "Member",
            "Relation Name": f"t_{number}",
            "Alias": f"t_{number}",
            "Actual Loops": times_run,
        }
        for number, times_run in enumerate(loops)
    ]
    subplan = {**times, "Node Type": "Result", "Parent Relationship": "InitPlan"}
    never = {**subplan, "Subplan Name": "InitPlan 1", "Actual Loops": 0}
    append = {**times, "Node Type": "Append", "Actual Loops": parent_loops}
    return {"Plan": {**append, "Plans": [never, *children]}, "Execution Time": 2.0}


def test_children_that_were_pruned_are_members_of_an_append_that_ran(tmp_path: Path) -> None:
    old, new, idle = (tmp_path / f"{name}.json" for name in ("old", "new", "idle"))
    old.write_text(json.dumps([appended(1, 1)]), encoding="utf-8")
    new.write_text(json.dumps([appended(1, 0)]), encoding="utf-8")
    idle.write_text(json.dumps([appended(0, 0, parent_loops=0)]), encoding="utf-8")
    assert "children pruned at run time 0 became 1" in run(old, new).stdout
    assert "children pruned at run time 1 became 0" in run(new, idle).stdout


def changed_twice() -> tuple[dict[str, Any], dict[str, Any]]:
    """An index scan of 20 ms, and a parallel one by another index, of 1.3 ms."""

    def scan(index: str, parallel: bool, milliseconds: float) -> dict[str, Any]:
        node = {"Node Type": "Index Scan", "Index Name": index, "Parallel Aware": parallel}
        times = {"Actual Total Time": milliseconds, "Actual Loops": 1, "Actual Rows": 1}
        plan = {**node, "Relation Name": "t", "Alias": "t", **times}
        return {"Plan": plan, "Execution Time": milliseconds + 1}

    return scan("t_a", False, 20.0), scan("t_b", True, 1.3)


def test_a_headline_says_what_it_comes_to_and_a_change_is_counted_once(tmp_path: Path) -> None:
    for name, document in zip(("a.json", "b.json"), changed_twice(), strict=True):
        (tmp_path / name).write_text(json.dumps([document]), encoding="utf-8")
    said = run(tmp_path / "a.json", tmp_path / "b.json").stdout.replace("\u00a0", " ")
    first = said.partition("\n")[0]
    assert first.startswith("b.json took 2.3") and "a.json 21" in first and "−18.7 ms" in first
    listed = said.partition("By node type")[0]
    assert listed.count("\n  - ") == 2 and listed.count("−18.7 ms") == 2, "headline, and one change"


def test_json_that_the_server_broke_is_told_as_the_servers_fault(tmp_path: Path) -> None:
    """As PostgreSQL 18.4 prints MERGE into a table with partitions, shortened."""
    broken = tmp_path / "merge.json"
    broken.write_text(
        '[{"Plan": {"Node Type": "ModifyTable", "Operation": "Merge", "Target Tables": [\n'
        '{"Relation Name": "p1", "Alias": "p_1"},\n{"Relation Name": "p2", "Alias": "p_2"},\n'
        '"Tuples Inserted": 0, "Tuples Updated": 150]}}]'
    )
    error = run(broken, broken).exception
    assert isinstance(error, UsageError) and "PostgreSQL itself printed broken" in error.message
    assert "without ANALYZE" in error.hint


def test_one_plan_can_come_from_standard_input(files: tuple[Path, Path]) -> None:
    assert "same structure" in run(files[0], "-", given=files[0].read_text()).stdout


def test_as_json(files: tuple[Path, Path]) -> None:
    found = described("explain-diff", run(*files, "--json").stdout)
    assert found["same_structure"] is False
    codes = {one["code"] for one in found["changes"]}
    assert "join-replaced" in codes
    kinds = found["old"]["kinds"]
    assert sum(kind["share"] for kind in kinds) == pytest.approx(1)
    assert found["old"]["leader_seconds"] <= found["old"]["execution_seconds"]


def test_the_page_embeds_the_viewer_once_and_escapes_the_plans(tmp_path: Path) -> None:
    wide = tmp_path / "wide.json"
    wide.write_text(corpus("pg18")["wide-text"]["plan"], encoding="utf-8")
    page = tmp_path / "page.html"
    result = run(wide, wide, "--to", page, "--lang", "ja")
    assert result.exception is None
    text = page.read_text(encoding="utf-8")
    assert text.count('id="pev2-script"') == 1
    assert "<script>alert(1)" not in text
    plans = re.findall(r'id="plans-plan-\d">([A-Za-z0-9+/=]+)<', text)
    unpacked = [gzip.decompress(base64.b64decode(one)).decode() for one in plans]
    assert len(unpacked) == 2
    assert all("alert(1)" in one and "<" not in one for one in unpacked)
    assert len(text) < 1_000_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("Seq Scan on t  (cost=0.00..1.00 rows=1 width=4)", "EXPLAIN's text format"),
        (" Sort\n   ->  Seq Scan on t", "EXPLAIN's text format"),
        ('<explain xmlns="http://www.postgresql.org/2009/explain">', "is XML"),
        ('- Plan: \n    Node Type: "Seq Scan"', "in YAML"),
        ("SELECT 1", "is a statement"),
        ('[{"Plan": {"Node Type": "Result"', "is broken JSON"),
        ('{"a": 1}', "holds no key Plan"),
        ('{"Plan": []}', "Plan is no object"),
        ('{"Plan": {"Node Type": "Sort", "Plans": [{}]}}', "Plan.Plans[0] has no Node Type"),
        ('{"Plan": {"Node Type": "Sort", "Plans": 3}}', "Plan.Plans is no list"),
        ('{"Plan": {"Node Type": "Sort", "Actual Loops": "x"}}', "Actual Loops: 'x' is no number"),
        ('{"Plan": {"Node Type": "Sort", "Actual Loops": -1}}', "is no number"),
        ("[" * 100_000, "nested too deeply"),
        (HASH + HASH, "holds 2 plans"),
    ],
)
def test_other_texts_are_refused_with_a_hint(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "given.txt"
    file.write_text(text, encoding="utf-8")
    error = run(file, file).exception
    assert isinstance(error, UsageError)
    assert str(file) in error.message and words in error.message
    assert "JSON" in error.hint or "one plan" in error.hint


def test_what_cannot_be_read_or_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    missing = run(files[0], tmp_path / "none.json").exception
    assert isinstance(missing, UsageError) and "none.json cannot be read" in missing.message
    folder = run(*files, "--to", tmp_path / "no" / "page.html").exception
    assert isinstance(folder, UsageError) and "--to" in folder.message
    twice = run("-", "-").exception
    assert isinstance(twice, UsageError) and "given twice" in twice.message


def test_every_form_of_one_plan_is_read_alike(tmp_path: Path) -> None:
    expected = read_plan(HASH).nodes
    lines = HASH.splitlines()
    psql = ["QUERY PLAN".center(40), "-" * 40, *(f" {line:<60}+" for line in lines[:-1])]
    framed = "\n".join([*psql, f" {lines[-1]}", "(1 row)", ""])
    entry = json.loads(HASH)[0]
    logged = json.dumps({"Query Text": "SELECT 1", **entry}, indent=2).replace("\n", "\n\t")
    log = (
        "2026-11-21 12:00:00.000 UTC [77] LOG:  duration: 12.345 ms  plan:\n\t"
        f"{logged}\n2026-11-21 12:00:01.000 UTC [77] LOG:  checkpoint {{starting}}\n"
    )
    lined = json.dumps({"message": f"duration: 12.345 ms  plan:\n{logged}", "pid": 3})
    row = json.dumps([{"QUERY PLAN": [entry]}])
    for text in (HASH, framed, log, lined, row, "\ufeff" + HASH, HASH.replace("\n", "\r\n")):
        assert read_plan(text).nodes == expected
    assert read_plan(log).query == "SELECT 1"
    with pytest.raises(PlanTextError, match="holds 2 plans"):
        read_plan(log + log)


@pytest.mark.parametrize("form", [one for one in stored() if one != "plain"])
def test_what_psql_prints_is_read_in_every_form(form: str) -> None:
    assert same_but_for_wrapping(stored()[form], stored()["plain"])


@pytest.mark.parametrize("damage", [str.strip, str.rstrip, lambda text: f"db=# EXPLAIN …;\n{text}"])
@pytest.mark.parametrize("style", ["ascii", "unicode"])
def test_frames_are_read_from_a_page_or_a_terminal(
    style: str, damage: Callable[[str], str]
) -> None:
    text = stored()[f"aligned {style} 2 off off"]
    assert read_plan(damage(text)).nodes == read_plan(stored()["plain"]).nodes


def test_what_no_encoding_can_write_is_left_out(tmp_path: Path) -> None:
    text = HASH.replace('"Alias": "c"', '"Alias": "c\\ud800"', 1)
    assert text != HASH
    old, page = tmp_path / "old.json", tmp_path / "page.html"
    old.write_text(text, encoding="utf-8")
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.json"))
    strange.write_text(HASH, encoding="utf-8")
    for arguments in (("--to", page), (), ("--json",), ("--to", page, "--lang", "ja")):
        result = run(old, strange, *arguments)
        assert result.exception is None
    assert "c\ufffd" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("Infinity", "holds Infinity, which is no number"),
        ("NaN", "holds NaN"),
        ("1e999", "holds 1e999"),
        ("9" * 5000, "holds 9999"),
        ("1e200", "is no number"),
    ],
)
@pytest.mark.parametrize("key", ["Actual Total Time", "I/O Read Time", "Shared Hit Blocks"])
def test_numbers_that_are_none_are_refused(
    tmp_path: Path, key: str, value: str, words: str
) -> None:
    file = tmp_path / "given.json"
    file.write_text(HASH.replace('"Node Type"', f'"{key}": {value}, "Node Type"', 1))
    if key in json.loads(HASH)[0]["Plan"]:
        file.write_text(re.sub(f'"{key}": [\\d.]+', f'"{key}": {value}', HASH, count=1))
    error = run(file, file, "--to", tmp_path / "page.html").exception
    assert isinstance(error, UsageError) and words in error.message


@pytest.mark.parametrize("value", ["Infinity", "NaN", "1e999"])
def test_numbers_nobody_asked_for_are_refused_too(tmp_path: Path, value: str) -> None:
    """The page shows the whole document, in which a browser accepts none of them."""
    file = tmp_path / "given.json"
    file.write_text(HASH.replace('"Node Type"', f'"Strange": [{value}], "Node Type"', 1))
    assert isinstance(run(file, file, "--to", tmp_path / "page.html").exception, UsageError)


def deep(levels: int) -> str:
    text = '{"Node Type": "Limit", "Parent Relationship": "Outer", "Plans": ['
    return f'{{"Plan": {text * levels}{{"Node Type": "Result"}}{"]}" * levels}}}'


@pytest.mark.parametrize("levels", [300, 390, 420, 480, 700, 5000])
def test_a_deep_plan_is_shown_or_refused(tmp_path: Path, levels: int) -> None:
    file = tmp_path / "deep.json"
    file.write_text(deep(levels))
    for arguments in (("--to", tmp_path / "page.html"), ("--json",)):
        error = run(file, file, *arguments).exception
        if levels <= 390:
            assert error is None
        else:
            assert isinstance(error, UsageError) and "nested too deeply" in error.message


def same_but_for_wrapping(text: str, plain: str) -> bool:
    """A wrapped line ends with a blank where the next character is wide and has no room."""
    found, expected = read_plan(text).nodes, read_plan(plain).nodes
    blank = [
        [[str(value).replace(" ", "") for _, value in node.details] for node in nodes]
        for nodes in (found, expected)
    ]
    stripped = [[replace(node, details=()) for node in nodes] for nodes in (found, expected)]
    return blank[0] == blank[1] and stripped[0] == stripped[1]


def test_a_plan_that_flips_is_reported_not_averaged() -> None:
    steady = stability([plan("pg18", "hash-joins")] * 3)
    assert steady.stable and steady.variants[0].occurrences == (0, 1, 2)
    flips = stability([plan("pg18", "hash-joins"), plan("pg18", "merge-join")] * 2)
    assert not flips.stable
    assert [variant.occurrences for variant in flips.variants] == [(0, 2), (1, 3)]
    assert stability([]).stable
