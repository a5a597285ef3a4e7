"""``teiten explain-diff``: two execution plans, node by node."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teiten import __version__
from teiten.cli.main import Session
from teiten.cli.parameters import GivenPath, json_option, language_option, renamed
from teiten.cli.text.layout import bullets, columns, paragraph
from teiten.errors import UsageError
from teiten.host.system.causes import raise_os_errors_as, translate_os_errors
from teiten.host.system.target_folder import write_file
from teiten.model.text import Language, shortened

if TYPE_CHECKING:
    from teiten.analysis.model.explain import ExplainedPlan, PlanDifference
    from teiten.report.tables import Table

EXAMPLES = (
    "Examples:  teiten explain-diff before.json after.json --to plans.html"
    "  ·  psql -XAtc 'EXPLAIN (ANALYZE, VERBOSE, BUFFERS, FORMAT JSON) SELECT …'"
    " | teiten explain-diff before.json -"
)
STDIN = "-"
LARGEST = 256 * 1024**2
"""Bytes of a file; the largest plans have some MB."""
WIDEST_CELL = 56


@click.command("explain-diff", epilog=EXAMPLES)
@click.argument("old", metavar="A.json", type=GivenPath(allow_dash=True))
@click.argument("new", metavar="B.json", type=GivenPath(allow_dash=True))
@json_option("both plans' numbers")
@click.option(
    "--to",
    "page",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a page with both plans side by side; it works offline.",
)
@renamed("--html", "--to")
@language_option
@click.pass_obj
def command(
    session: Session, *, old: str, new: str, as_json: bool, page: Path | None, language: Language
) -> None:
    """Compare two plans: EXPLAIN's output with FORMAT JSON, or a log of auto_explain in JSON.

    A.json is the old plan, B.json the new one; "-" reads standard input. Both kinds of EXPLAIN are
    taken, with ANALYZE or without; VERBOSE tells the workers' times, BUFFERS the blocks.
    """
    if old == new == STDIN:
        raise UsageError('"-" is given twice', "read one plan from a file")
    with collector_at_rest():
        _compare(session, old, new, as_json=as_json, page=page, language=language)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Large plans are millions of small objects, of which none is garbage: looking through them
    again and again takes as long as the rest."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _compare(
    session: Session, old: str, new: str, *, as_json: bool, page: Path | None, language: Language
) -> None:
    from teiten.analysis.explain.difference import difference
    from teiten.cli.printed.plan_difference import json_plan_difference

    compared = difference(_plan(old), _plan(new))
    sides = _names(old, new)
    if page is not None:
        from teiten.analysis.explain.text import well_formed
        from teiten.report.plans.page import render_difference

        content = render_difference(compared, sides, language, __version__)
        with translate_os_errors(f"--to {page} cannot be written", "--to"):
            write_file(page, content.encode(errors="backslashreplace"))
        session.console.say(f"wrote {well_formed(str(page))}")
    if as_json:
        session.console.json(json_plan_difference(compared, sides))
        return
    session.console.text(*as_lines(compared, sides, language))


def as_lines(
    difference: PlanDifference, sides: tuple[str, str], language: Language
) -> Iterator[str]:
    """The headline, statements, differences, notes, and the tables."""
    from teiten.report.plans import page
    from teiten.report.plans.tables import difference_tables
    from teiten.report.texts import texts

    t = texts(language)
    yield from paragraph(page.headline(t, difference, sides))
    for statement in page.statements(t, difference):
        yield from paragraph(statement)
    yield ""
    yield from bullets(page.changes(t, difference))
    for table in difference_tables(t, "plans", difference, sides):
        yield ""
        yield table.caption
        yield from (f"  {line}" for line in _table_lines(table))
        if table.note:
            yield from paragraph(table.note, indent="  ")
    yield ""
    for note in page.notes(t, difference, sides):
        yield from paragraph(note)


def _table_lines(table: Table) -> list[str]:
    head = [_short(column.title) for column in table.columns]
    rows = [[_short(cell.text) for cell in row] for row in table.rows]
    right = [index for index, column in enumerate(table.columns) if column.numeric]
    return columns([head, *rows], right=right)


def _short(text: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in text)
    return shortened(" ".join(printable.split()), WIDEST_CELL)


def _plan(name: str) -> ExplainedPlan:
    from teiten.analysis.explain.read import read_plan
    from teiten.analysis.explain.text import PlanTextError

    try:
        return read_plan(_text(name))
    except PlanTextError as error:
        shown = "standard input" if name == STDIN else name
        raise UsageError(f"{shown} {error}", error.hint) from error


def _text(name: str) -> str:
    if name == STDIN:
        data = sys.stdin.buffer.read(LARGEST + 1)
    else:
        hint = "name two files with plans in JSON, or - for standard input"
        refused = raise_os_errors_as(f"{name} cannot be read", hint, UsageError)
        with refused, Path(name).open("rb") as file:
            data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError(
            f"{name} is larger than {LARGEST // 1024**2} MiB", "cut one plan out of it"
        )
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return data.decode(encoding, "replace")


def _names(old: str, new: str) -> tuple[str, str]:
    """The files' names; with their paths where those are the same."""
    from teiten.analysis.explain.text import well_formed

    old, new = well_formed(old), well_formed(new)
    names = [name if name == STDIN else Path(name).name for name in (old, new)]
    if names[0] != names[1]:
        return names[0], names[1]
    return (old, new) if old != new else (f"{old} (A)", f"{new} (B)")
