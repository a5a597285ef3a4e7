"""A dump of the user's with a folder of statements, and ledgers that do not hold them."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.datasets.script.model import ScriptTables
from teiten.errors import UsageError
from teiten.kinds.pgbench.model import pgbench_of
from teiten.ledger.codec import decode_plan, encode_plan, with_texts_of
from teiten.ledger.texts import UnknownTextError
from teiten.model.sql import changes_data
from teiten.model.study import Study
from teiten.study.load import load_study
from tests.fixtures.planned import expanded

DUMP = "CREATE TABLE t (secret text);\nCOPY t (secret) FROM stdin;\nhush\n\\.\n"
FILES = {
    "by-name.sql": "SELECT secret FROM t WHERE secret = :name;\n",
    "by-name.csv": "name\nhush\nhush hush\n",
    "add.sql": "INSERT INTO t VALUES ('hush');\n",
    "same.sql": "INSERT INTO t VALUES ('hush');\n",
}


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "dump.sql").write_text(DUMP, encoding="utf-8")
    (tmp_path / "sql").mkdir()
    for name, text in FILES.items():
        (tmp_path / "sql" / name).write_text(text, encoding="utf-8")
    return tmp_path


def study(own: Path, **flags: object) -> Study:
    given = {"schema": str(own / "dump.sql"), "queries": str(own / "sql"), **flags}
    return load_study("operations", **given)  # type: ignore[arg-type]


def test_each_file_is_a_workload_on_the_tables_of_the_dump(own: Path) -> None:
    workloads = study(own).workloads
    assert {one.name: one.changes_data for one in workloads} == {
        "add": True,
        "by-name": False,
        "same": True,
    }
    assert {one.data.options_as(ScriptTables).script.text for one in workloads} == {DUMP}
    by_name = workloads[1]
    variables = pgbench_of(by_name).variables
    assert variables is not None and variables.rows == (("hush",), ("hush hush",))
    sizes = {setting.name: setting.value for setting in study(own).settings}
    assert sizes["shared_buffers"] is None, "what sizing derives from the dump"
    fixed = {
        setting.name: setting.value for setting in study(own, gucs=["shared_buffers=1GB"]).settings
    }
    assert fixed["shared_buffers"] == "1GB"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"queries": None}, "--schema needs your statements"),
        ({"schema": None, "keep_texts": True}, "--keep-texts is for --schema"),
        ({"schema": "/nowhere.sql"}, "--schema: there is no script '/nowhere.sql'"),
        ({"queries": "/nowhere"}, "--queries: there is no script '/nowhere'"),
    ],
)
def test_what_is_missing_is_named(flags: dict[str, object], words: str, own: Path) -> None:
    with pytest.raises(UsageError) as caught:
        study(own, **flags)
    assert words in caught.value.message and caught.value.hint


def test_a_folder_without_statements(own: Path) -> None:
    (own / "empty").mkdir()
    with pytest.raises(UsageError, match=r"holds no file \*\.sql"):
        study(own, queries=str(own / "empty"))


def test_a_ledger_has_fingerprints_and_the_files_the_texts(own: Path) -> None:
    whole = study(own)
    plan = expanded(whole)
    written = encode_plan(plan)
    assert "hush" not in written and "SELECT secret" not in written and "CREATE" not in written
    hidden = decode_plan(written)
    assert encode_plan(hidden) != "" and hidden != plan
    add, by_name, same = (pgbench_of(one) for one in hidden.study.workloads)
    assert add.script.text == same.script.text != by_name.script.text
    assert with_texts_of(hidden, study(own)) == plan
    (own / "sql" / "by-name.sql").write_text("SELECT 1 FROM t WHERE secret = :name;\n", "utf-8")
    with pytest.raises(UnknownTextError, match=r"by-name\.sql"):
        with_texts_of(hidden, study(own))
    assert "hush" in encode_plan(expanded(study(own, keep_texts=True)))


def test_what_the_ledger_would_have_all_the_same_is_refused(own: Path) -> None:
    hidden = ["keep_texts=no"]
    with pytest.raises(UsageError, match="what it finds quotes its statements"):
        load_study("queries", overrides=hidden)
    asked = [*hidden, "variables=SELECT secret AS name FROM t;"]
    with pytest.raises(UsageError, match=r"rows that variables\.sql gives"):
        load_study("observe", overrides=[*asked, f"script={own / 'sql' / 'by-name.sql'}"])


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("SELECT 1;", False),
        ("SELECT 'insert', \"update\" FROM t; -- delete", False),
        ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone;", True),
        ("SELECT * FROM t FOR NO KEY UPDATE;", True),
        ("SELECT updated, deleted FROM t;", False),
        ("select nextval('s');", True),
    ],
)
def test_statements_that_write_are_known_by_their_words(text: str, *, changes: bool) -> None:
    assert changes_data(text) is changes
