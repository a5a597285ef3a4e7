"""A ledger with a value that no Teiten writes: named and left out, and never a defect."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.cli.campaign.read import read_campaign
from teiten.cli.main import teiten
from teiten.errors import TeitenError
from teiten.ledger.failures import consistent
from teiten.report.forms import render_markdown
from teiten.report.site.entry import entry_of
from tests.fixtures.two_machines import write_campaign

COLUMNS = {
    "campaign": ("plan", "facts", "cautions", "command", "study", "created_at", "name"),
    "trial": ("outcome", "problems", "facts", "evidence", "histogram", "started_at"),
    "metric": ("name", "value"),
    "server_facts": ("level", "facts"),
    "event": ("kind", "detail", "at"),
    "series": ("source", "samples", "data"),
}
WILD: tuple[Any, ...] = ("no such", "", -1, 0, 1e308, None, True, [], {}, [[]], "\u202e<b>", 2**62)


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wild") / "sound"
    write_campaign(folder)
    return folder


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values inside of a JSON value, but the value itself."""
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    for key, deeper in inner:
        yield (*way, key)
        yield from places(deeper, (*way, key))


def spoilt(text: Any, draw: random.Random) -> Any:
    """The value of a column with one wild value in it, or a wild one in its place."""
    wild = draw.choice(WILD)
    with suppress(ValueError, TypeError):
        value = json.loads(text)
        if ways := list(places(value)):
            way = draw.choice(ways)
            at = value
            for key in way[:-1]:
                at = at[key]
            at[way[-1]] = wild
            return json.dumps(value)
    return wild if isinstance(wild, str | int | float | None) else json.dumps(wild)


def spoil(folder: Path, table: str, column: str, draw: random.Random) -> None:
    key = "number" if table == "metric" else "rowid"  # it is a table without rowid
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as connection:
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for (trigger,) in connection.execute(triggers).fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute("PRAGMA ignore_check_constraints = on")
        rows = connection.execute(f"SELECT {key}, {column} FROM {table}").fetchall()
        if rows:
            row, text = draw.choice(rows)
            change = f"UPDATE {table} SET {column} = ? WHERE {key} = ?"
            with suppress(sqlite3.IntegrityError):
                connection.execute(change, (spoilt(text, draw), row))


@pytest.mark.slow
@given(
    st.sampled_from([(table, column) for table in COLUMNS for column in COLUMNS[table]]),
    st.integers(0, 2**32),
)
@settings(max_examples=60, deadline=None)
def test_whatever_a_ledger_holds_it_is_shown_or_refused_by_name(
    ledger: Path, tmp_path_factory: pytest.TempPathFactory, column: tuple[str, str], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("spoilt") / "one"
    shutil.copytree(ledger, folder)
    spoil(folder, *column, random.Random(seed))
    try:
        analysis = read_campaign(folder)
        with consistent(folder):
            entry_of(analysis, str(folder))
            render_markdown(analysis, "en")
    except TeitenError as error:
        assert str(folder) in error.message and error.hint
    finally:
        shutil.rmtree(folder)


def run(workdir: Path, *words: str | Path) -> Result:
    return CliRunner().invoke(teiten, ["--workdir", str(workdir), *map(str, words)])


def replace_in_plan(folder: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER campaign_is_fixed")
        connection.execute("UPDATE campaign SET plan = replace(plan, ?, ?)", (old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [('"contrast": "server"', '"contrast": "colour"'), ('["server", "17"]', '["server", "??"]')],
)
def test_one_wild_ledger_spoils_no_site_and_its_report_names_it(
    ledger: Path, tmp_path: Path, old: str, new: str
) -> None:
    campaigns = tmp_path / "campaigns"
    shutil.copytree(ledger, campaigns / "sound")
    write_campaign(campaigns / "wild", seed=7, created_at=1e9)
    with closing(sqlite3.connect(campaigns / "wild" / "ledger.sqlite")) as connection:
        ((plan,),) = connection.execute("SELECT plan FROM campaign").fetchall()
    if old not in plan:  # as it is written without blanks
        old, new = (text.replace(": ", ":").replace(", ", ",") for text in (old, new))
    assert old in plan
    replace_in_plan(campaigns / "wild", old, new)
    done = run(tmp_path, "site", campaigns, "--to", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert [one["campaign"] for one in said["campaigns"]] == ["sound"]
    assert [one["ledger"] for one in said["left_out"]] == ["wild/ledger.sqlite"]
    refused = run(tmp_path, "report", campaigns / "wild")
    assert isinstance(refused.exception, TeitenError) and refused.exception.exit_code == 2
    assert "wild" in refused.exception.message


def test_a_name_of_a_thousand_cells_leaves_room_for_other_campaigns(
    ledger: Path, tmp_path: Path
) -> None:
    campaigns = tmp_path / "campaigns"
    for name in ("sound", "wild"):
        shutil.copytree(ledger, campaigns / name)
    with closing(sqlite3.connect(campaigns / "wild" / "ledger.sqlite")) as connection:
        connection.execute("DROP TRIGGER campaign_is_fixed")
        connection.execute("UPDATE campaign SET study = ?", ("9" * 1000,))
        connection.commit()
    listed = run(tmp_path, "runs").stdout
    assert "sound" in listed and "wild" in listed and "complete" in listed
