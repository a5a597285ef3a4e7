"""``teiten history``: many campaigns as lines through time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.history import Axis, ChangeSearch, History, LeftOut
from teiten.cli.main import Session
from teiten.cli.parameters import LANGUAGES, GivenPath, folder_option, json_option, languages_option
from teiten.cli.reports import write_files
from teiten.errors import LedgerError, UsageError
from teiten.given_paths import expanded, is_file
from teiten.host.system.causes import translate_os_errors
from teiten.model.text import Language

EXAMPLES = (
    "Examples:  teiten history  ·  teiten history nightly/ other-machine/ --axis version --json"
)
ENDING = ".sqlite"
FOLDER = "history"
"""Where pages go in the working folder."""


@click.command("history", epilog=EXAMPLES)
@click.argument("places", nargs=-1, metavar="[DIR]...", type=GivenPath(path_type=Path))
@click.option(
    "--axis",
    type=click.Choice([axis.value for axis in Axis]),
    default=Axis.DATE.value,
    show_default=True,
    help="A line for each server in the order of time, or one through all versions.",
)
@languages_option("page")
@folder_option("Folder to write to (default: history in the working folder).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "csv", "otava"]),
    default="html",
    show_default=True,
    help="Pages, a CSV of all points, or what Apache Otava reads: a CSV of each line.",
)
@json_option("points and changes")
@click.pass_obj
def command(
    session: Session,
    places: tuple[Path, ...],
    *,
    axis: str,
    language: Language | None,
    target: Path | None,
    form: str,
    as_json: bool,
) -> None:
    """Lay many campaigns on lines through time, and mark where they change.

    DIR is a ledger, a campaign's folder, or a folder of them at any depth (default: the campaigns
    of the working folder). Campaigns are grouped by machine, study and conditions; what cannot be
    read is listed with its reason. Ledgers are only read.
    """
    from teiten.analysis.across.history import history

    left_out: list[LeftOut] = []
    files = ledgers(places or (session.workdir.campaigns,))
    drawn = history(_read(session, files, left_out), Axis(axis), ())
    drawn = replace(drawn, left_out=(*drawn.left_out, *left_out))
    if not drawn.lines:
        raise without_campaigns([(missing.path, missing.why) for missing in drawn.left_out])
    folder = target or session.workdir.root / FOLDER
    pages = _files(drawn, form, (language,) if language else LANGUAGES)
    write_files(folder, pages)
    paths = [folder / name for name in pages]
    if as_json:
        from teiten.cli.printed.across import json_history

        session.console.json(json_history(drawn, paths))
        return
    session.console.say(*history_lines(drawn))
    for missing in drawn.left_out:
        session.console.warn(f"{missing.path} is left out: {missing.why}")
    session.console.data(*paths)


def without_campaigns(left_out: Iterable[tuple[str, str]]) -> UsageError:
    """Tell that no ledger can be shown, and of each the reason."""
    reasons = "; ".join(f"{name}: {why}" for name, why in left_out)
    return UsageError(
        f"no campaign can be shown ({reasons or 'there is no ledger here'})",
        "name folders that hold campaigns, or their ledgers",
    )


def ledgers(places: Sequence[Path]) -> list[Path]:
    """The ledgers that places mean, each once, in the order of their paths.

    Raises UsageError where a place does not exist, MachineError where we may not look.
    """
    known: dict[Path, None] = {}
    for place in places:
        path = expanded(place).absolute()
        _look(place, path)
        files = [path] if path.is_file() else sorted(_below(path))
        known |= dict.fromkeys(file for file in files if is_file(file))
    return list(known)


def _look(place: Path, path: Path) -> None:
    """Raise UsageError where nothing is there, MachineError where we may not see what is."""
    try:
        if path.is_dir():
            os.scandir(path).close()
        else:
            path.stat()
    except PermissionError:
        with translate_os_errors(f"{place} cannot be read"):
            raise
    except (OSError, ValueError) as error:
        hint = "name a folder of campaigns, or a ledger"
        raise UsageError(f"there is no {place}", hint) from error


def _below(folder: Path) -> Iterator[Path]:
    """Find possible ledgers in a folder and below; a folder that vanishes meanwhile is skipped."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent) / name for name in names if name.endswith(ENDING))


def _read(
    session: Session, files: Sequence[Path], left_out: list[LeftOut]
) -> Iterator[tuple[str, CampaignAnalysis]]:
    """Each campaign that can be read; of the others the reason goes to ``left_out``."""
    from teiten.cli.campaign.read import read_campaign

    for file in session.console.reading(files):
        try:
            yield str(file), read_campaign(file)
        except LedgerError as error:
            left_out.append(LeftOut(str(file), error.message))


def _files(history: History, form: str, languages: Sequence[Language]) -> dict[str, bytes]:
    """File names and contents."""
    from teiten.report.forms import history_html
    from teiten.report.history.table import FILE, history_csv, otava_files

    if form == "otava":
        return otava_files(history)
    if form == "csv":
        return {FILE: history_csv(history)}
    return {
        f"history.{language}.html": history_html(history, language).encode()
        for language in languages
    }


def history_lines(history: History) -> Iterator[str]:
    """Describe lines in which changes are looked for, and say how many are too short for that; of
    single campaigns, what a history is for."""
    from teiten.report.history.points import line_titles
    from teiten.report.history.view import line_sentences, short_text
    from teiten.report.texts import texts

    words = texts("en")
    if not history.drawn:
        yield words("history.only-one")
        return
    for title, line in zip(line_titles(words, history.lines), history.lines, strict=True):
        if line.search is ChangeSearch.DONE:
            yield f"{title}: {' '.join(line_sentences(line, 'en'))}"
    short = sum(line.search is ChangeSearch.TOO_FEW for line in history.lines)
    if short:
        yield f"{short_text(words, short)}."
