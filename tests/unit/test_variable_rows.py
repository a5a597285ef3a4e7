"""Lists of values for the variables of scripts and queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import TeitenError
from teiten.kinds.contract_analyse import analysis_of
from teiten.kinds.pgbench.model import pgbench_of
from teiten.kinds.queries.model import queries_of
from teiten.ledger.codec import decode_plan, encode_plan
from teiten.model.rows import VariableRows, as_expressions
from teiten.study.load import load_study
from teiten.study.scripts import read_rows
from tests.fixtures.planned import expanded

CSV = 'id,name,share\r\n1,O\'Neil,0.5\r\n-20,"a, b\\c",\r\n300,:id,2.25\r\n'
ROWS = VariableRows(
    "list.csv",
    ("id", "name", "share"),
    (("1", "O'Neil", "0.5"), ("-20", "a, b\\c", None), ("300", ":id", "2.25")),
)


def test_a_file_of_csv_is_a_list(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(CSV, encoding="utf-8-sig")
    rows = read_rows("list.csv", (tmp_path,))
    assert rows == ROWS
    assert rows.numbers == (True, False, True)
    assert read_rows("SELECT 1 AS id;", ()).sql == "SELECT 1 AS id;\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("id,name\n", "has no row"),
        ("id,name\n1\n", "line 2: 1 fields, and the first line names 2"),
        ("id,id\n1,2\n", "names the column id twice"),
        ("1,2\n3,4\n", "'1' is no name of a variable"),
        ('id\n"1\n', "line 2: unexpected end"),
        ("id\n" + "1\n" * 10_001, "has more than 10,000 rows"),
        ("other\n1\n", "has no column id, which mine.sql has as :id"),
    ],
)
def test_what_is_wrong_with_a_list_is_said(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    (tmp_path / "mine.sql").write_text("SELECT :id;\n", encoding="utf-8")
    with pytest.raises(TeitenError) as caught:
        load_study(str(study(tmp_path)))
    assert words in caught.value.message and "variables" in caught.value.message
    assert "whose first line names the variables" in caught.value.hint


def study(folder: Path, script: str = 'script = "mine.sql"') -> Path:
    path = folder / "mine.toml"
    path.write_text(
        '[study]\nname = "mine"\n[factors]\nserver = ["17", "18"]\nclients = [1]\n'
        f'[[workloads]]\nname = "mine"\n{script}\nvariables = "list.csv"\nchanges_data = false\n',
        encoding="utf-8",
    )
    return path


def test_a_statement_has_the_values_of_a_row() -> None:
    text = "SELECT ':id', :id::int, \"a:id\", x[1:id] -- :id\nWHERE n = :name /* :id */ AND :share;"
    expected = {
        0: "SELECT ':id', 1::int, \"a:id\", x[1:id] -- :id\nWHERE n = 'O''Neil' /* :id */ AND 0.5;",
        1: "SELECT ':id', -20::int, \"a:id\", x[1:id] -- :id\n"
        "WHERE n =  E'a, b\\\\c' /* :id */ AND NULL;",
        2: "SELECT ':id', 300::int, \"a:id\", x[1:id] -- :id\nWHERE n = ':id' /* :id */ AND 2.25;",
    }
    assert {row: ROWS.filled(text, row) for row in range(3)} == expected
    assert ROWS.uses(text) and not ROWS.uses("SELECT ':id';")
    drawn = [ROWS.draw(seed) for seed in range(200)]
    assert set(drawn) == {0, 1, 2} and drawn == [ROWS.draw(seed) for seed in range(200)]


def test_what_a_script_sets_itself_is_no_column() -> None:
    assert ROWS.missing("\\set n 2\nSELECT :n, :id, :scale, 'a:x', t.a::text;") is None
    assert ROWS.missing("SELECT :id, :day;") == "day"
    assert ROWS.missing("SELECT 1 AS day \\gset\nSELECT :day;") is None


def test_pgbench_draws_numbers_alone() -> None:
    numbers = VariableRows("n.csv", ("a",), (("7",), (None,), ("9",)))
    assert as_expressions(numbers) == (
        "\\set teiten_row random(0, 2)\n"
        "\\set a CASE WHEN :teiten_row < 1 THEN 7 ELSE"
        " CASE WHEN :teiten_row < 2 THEN NULL ELSE 9 END END\n"
    )
    with pytest.raises(ValueError, match=r"name of list\.csv is a text, and pgbench sets numbers"):
        as_expressions(ROWS)


@pytest.mark.parametrize("kind", ["pgbench", "queries"])
def test_the_list_is_in_the_plan_and_another_one_is_another_work(kind: str, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "sql").mkdir()
    for folder in (tmp_path, tmp_path / "sql"):
        (folder / "mine.sql").write_text("SELECT :id, :name;\n", encoding="utf-8")
    key = 'script = "mine.sql"' if kind == "pgbench" else 'queries = "sql"'
    path = study(tmp_path, key)
    if kind == "queries":
        path.write_text(path.read_text("utf-8").replace("clients = [1]\n", ""), "utf-8")
    plan = expanded(load_study(str(path)))
    again = decode_plan(encode_plan(plan))
    (workload,) = again.study.workloads
    options = pgbench_of(workload) if kind == "pgbench" else queries_of(workload)
    assert options.variables == ROWS
    assert "one of 3 rows of list.csv" in options.drawn
    assert again == plan
    (tmp_path / "list.csv").write_text(CSV.replace("300", "301"), encoding="utf-8")
    other = load_study(str(path)).workloads[0]
    analysis = analysis_of(workload.kind)
    assert analysis.identity(workload) != analysis.identity(other)
    differing = [one.code for one in analysis.unlike(workload, other) if one.here != one.there]
    assert differing == ["variables"]
