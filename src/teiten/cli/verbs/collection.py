"""``teiten collection``: many studies one after another, and every finding in one table."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teiten.cli.completion import collections, collections_begun
from teiten.cli.given_path import GivenPath
from teiten.cli.main import Session
from teiten.cli.plan.options import checked_name
from teiten.errors import TrialsFailedError, UsageError
from teiten.model.text import Language
from teiten.model.units import Bytes, Seconds

if TYPE_CHECKING:
    from teiten.cli.collection.carry_out import Night
    from teiten.cli.collection.state import CollectionState

DEFAULT = "pgecons"
LANGUAGES: tuple[Language, ...] = ("en", "ja")

collection_argument = click.argument(
    "collection", default=DEFAULT, metavar="[COLLECTION]", shell_complete=collections
)
begun_argument = click.argument(
    "reference", default="last", metavar="[NAME]", shell_complete=collections_begun
)
budget_option = click.option(
    "--budget", metavar="TIME", help="Time for measuring, for example 8h (default: the file's)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group(
    "collection",
    epilog="Examples:  teiten collection plan  ·  teiten collection run pgecons --budget 8h",
)
def command() -> None:
    """Many studies one after another, and every published finding in one table.

    A collection is a TOML file of studies with their servers, or the name of a built-in one:
    pgecons, the reports of the PostgreSQL Enterprise Consortium.
    """


@command.command(
    "plan",
    epilog="Examples:  teiten collection plan  ·  teiten --verbose collection plan mine.toml",
)
@collection_argument
@budget_option
@json_option
@click.pass_obj
def plan_command(session: Session, collection: str, budget: str | None, as_json: bool) -> None:
    """Say what would run here, for how long, and which findings cannot be judged, and why.

    Nothing is started. `teiten --verbose collection plan` names each of those findings.
    """
    from teiten.cli.collection.planning import check_disk, plan_campaign
    from teiten.cli.collection.text import plan_lines
    from teiten.cli.console import Verbosity
    from teiten.cli.printed.collection import json_collection_plan
    from teiten.study.collection import read_collection

    table = read_collection(collection).table
    campaigns = [plan_campaign(session, table, campaign) for campaign in table.campaigns]
    given = _seconds(budget) or table.budget
    if as_json:
        session.console.json(json_collection_plan(table, campaigns, given))
    else:
        whole = session.console.verbosity >= Verbosity.VERBOSE
        for line in plan_lines(table, campaigns, given, whole=whole):
            session.console.text(line)
    check_disk(campaigns)


@command.command(
    "run",
    epilog="Examples:  teiten collection run --budget 8h  ·  teiten collection run mine.toml"
    " --name first-night",
)
@collection_argument
@budget_option
@click.option("--name", callback=checked_name, metavar="TEXT", help="Name of what is run.")
@json_option
@click.pass_obj
def run_command(
    session: Session, collection: str, budget: str | None, name: str | None, as_json: bool
) -> None:
    """Run a collection: each study at its least size, then what is nearest to a decision.

    Ctrl-C ends it in order; `teiten collection resume` continues it.
    """
    from teiten.cli.collection.planning import check_disk, plan_campaign
    from teiten.cli.collection.state import new_state, write_state
    from teiten.ledger.campaigns import new_name
    from teiten.study.collection import read_collection

    read = read_collection(collection)
    session.workdir.prepare()
    folder = session.workdir.collections
    given = _seconds(budget) or read.table.budget
    called = name or new_name(read.table.name, "", time.time(), folder)
    words = ["teiten", "collection", "run", collection, *(["--budget", budget] if budget else [])]
    state = new_state(folder, called, read, given, shlex.join(words))
    check_disk([plan_campaign(session, read.table, campaign) for campaign in read.table.campaigns])
    write_state(folder, state)
    session.console.say(f"collection {called}")
    _carry_out(session, state, as_json=as_json)


@command.command(
    "resume",
    epilog="Examples:  teiten collection resume  ·  teiten collection resume last --budget 8h"
    "  ·  teiten collection resume last --collection pgecons",
)
@begun_argument
@click.option("--budget", metavar="TIME", help="Further time for measuring, for example 8h.")
@click.option(
    "--collection",
    metavar="COLLECTION",
    help="The collection's file or name, if campaigns have been added to it since it was begun.",
)
@json_option
@click.pass_obj
def resume_command(
    session: Session, reference: str, budget: str | None, collection: str | None, as_json: bool
) -> None:
    """Continue a collection after Ctrl-C, a crash or a reboot, or for another night.

    NAME is a collection's name, a unique prefix, or "last" (the default). Campaigns that could not
    run are tried again.
    """
    from dataclasses import replace

    from teiten.cli.collection.state import read_state, with_campaigns_of, write_state
    from teiten.study.collection import read_collection

    state = read_state(session.workdir.collections, reference)
    if collection is not None:
        state = with_campaigns_of(state, read_collection(collection), session.workdir.campaigns)
    state = replace(state, budget=Seconds(state.budget + (_seconds(budget) or 0.0)))
    write_state(session.workdir.collections, state)
    session.console.say(f"continuing {state.name}")
    _carry_out(session, state, as_json=as_json)


@command.command(
    "report",
    epilog="Examples:  teiten collection report  ·  teiten collection report last --format pdf",
)
@begun_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "pdf"]),
    default="html",
    show_default=True,
    help="HTML files that work offline, or PDF (with the extra teiten[pdf]).",
)
@json_option
@click.pass_obj
def report_command(session: Session, reference: str, form: str, as_json: bool) -> None:
    """Write the report of a collection as far as it has come, in English and Japanese.

    Every finding stands in one table; a JSON file holds the same. Nothing is measured.
    """
    from teiten.cli.collection.carry_out import read_night
    from teiten.cli.collection.state import read_state

    night = read_night(session, read_state(session.workdir.collections, reference))
    _tell(session, night, _write(session, night, form), as_json=as_json)


@command.command(
    "publish",
    epilog="Examples:  teiten collection publish --to docs/replication  ·  teiten collection"
    " publish pgecons --to /tmp/night",
)
@begun_argument
@click.option(
    "--to",
    "target",
    type=GivenPath(path_type=Path, file_okay=False),
    required=True,
    help="The folder to write.",
)
@click.pass_obj
def publish_command(session: Session, reference: str, target: Path) -> None:
    """Write a collection as it can stand in a repository: its tables as Markdown in English and
    Japanese, its findings as JSON, and reduced ledgers from which anyone recomputes them.

    The ledgers have no time series, profiles or logs. Nothing is measured.
    """
    from teiten.cli.collection.carry_out import read_night
    from teiten.cli.collection.published import published_files
    from teiten.cli.collection.state import read_state
    from teiten.cli.verbs.report import write_files

    night = read_night(session, read_state(session.workdir.collections, reference))
    write_files(target, published_files(night, LANGUAGES))
    session.console.data(str(target))


@command.command(
    "restore",
    epilog="Examples:  teiten collection restore docs/replication",
)
@click.argument("folder", type=GivenPath(path_type=Path, file_okay=False, exists=True))
@click.pass_obj
def restore_command(session: Session, folder: Path) -> None:
    """Put a published collection into the working folder, to be reported and compared.

    `teiten collection report` and `teiten report` recompute its tables. `teiten collection resume`
    runs what has not run yet; to what is published nothing is added.
    """
    from teiten.cli.collection.published import restore_collection

    session.console.data(restore_collection(session, folder).name)


@command.command(
    "predict",
    epilog="Examples:  teiten collection predict --cores 1 --memory 12GB  ·  teiten collection"
    " predict night --cores 16 --memory 64GB --json > prediction.json",
)
@begun_argument
@click.option(
    "--cores",
    type=click.IntRange(min=1),
    required=True,
    help="Processors of the second machine that Teiten may use.",
)
@click.option("--memory", metavar="SIZE", required=True, help="Its memory, for example 12GB.")
@json_option
@click.pass_obj
def predict_command(
    session: Session, reference: str, cores: int, memory: str, as_json: bool
) -> None:
    """Foretell which findings a second machine answers as this collection does, before it is
    measured.

    A decided outcome is foretold where intervals twice as wide would decide it too, and where it
    does not hang on processors or memory that the machines do not have alike. Keep what --json
    prints: `teiten collection compare --prediction` tells how much of it came true.
    """
    from teiten.analysis.across.prediction import SecondMachine
    from teiten.cli.collection.carry_out import read_night, result_of
    from teiten.cli.collection.prediction import prediction_of
    from teiten.cli.collection.state import read_state
    from teiten.cli.collection.text import prediction_lines

    result = result_of(read_night(session, read_state(session.workdir.collections, reference)))
    prediction = prediction_of(result, SecondMachine(cores, _size(memory)), time.time())
    if as_json:
        session.console.json(prediction)
    else:
        for line in prediction_lines(prediction):
            session.console.text(line)


@command.command(
    "compare",
    epilog="Examples:  teiten collection compare night-small night-large  ·  teiten collection"
    " compare night second --prediction prediction.json",
)
@click.argument("first", metavar="FIRST", shell_complete=collections_begun)
@click.argument("second", metavar="SECOND", shell_complete=collections_begun)
@click.option(
    "--prediction",
    "foretelling",
    type=GivenPath(path_type=Path, dir_okay=False, exists=True),
    help="What `teiten collection predict --json` printed of FIRST before SECOND began.",
)
@json_option
@click.pass_obj
def compare_command(
    session: Session, first: str, second: str, foretelling: Path | None, as_json: bool
) -> None:
    """Say which findings came out otherwise in a second collection: on another machine, or with
    other servers.

    FIRST and SECOND are collections of the working folder; `teiten collection restore` brings
    published ones.
    """
    from teiten.analysis.across.collection import compared
    from teiten.cli.collection.carry_out import read_night, result_of
    from teiten.cli.collection.prediction import check_prediction, read_prediction
    from teiten.cli.collection.state import read_state
    from teiten.cli.collection.text import checked_lines, comparison_lines
    from teiten.cli.printed.collection import json_collection_comparison

    folder = session.workdir.collections
    results = [result_of(read_night(session, read_state(folder, name))) for name in (first, second)]
    findings = tuple(compared(*results))
    names = (results[0].name, results[1].name)
    prediction = read_prediction(foretelling) if foretelling is not None else None
    checked = check_prediction(prediction, *results) if prediction is not None else None
    if as_json:
        session.console.json(json_collection_comparison(*names, findings, checked))
    else:
        for line in comparison_lines(*names, findings):
            session.console.text(line)
        if prediction is not None and checked is not None:
            for line in checked_lines(prediction, checked):
                session.console.text(line)


def _carry_out(session: Session, state: CollectionState, *, as_json: bool) -> None:
    from teiten.cli.collection.carry_out import (
        carry_out_collection,
        ending,
        write_campaign_reports,
    )

    night = carry_out_collection(session, state)
    session.console.say(ending(night))
    write_campaign_reports(night)
    _tell(session, night, _write(session, night, "html"), as_json=as_json)
    failed = [called for called in night.state.lacking if called in night.campaigns]
    if failed:
        raise TrialsFailedError(
            f"trials failed in {', '.join(failed)}; everything else has run",
            f"teiten runs lists them; teiten collection resume {state.name} tries them again",
        )


def _write(session: Session, night: Night, form: str) -> tuple[Path, ...]:
    """Write the report in both languages, and its JSON."""
    from teiten.cli.collection.carry_out import result_of
    from teiten.cli.console import json_text
    from teiten.cli.printed.collection import json_collection
    from teiten.cli.verbs.report import write_files
    from teiten.report.forms import collection_html, collection_pdf
    from teiten.report.render.pdf import require_typst

    if form == "pdf":
        require_typst()
    result = result_of(night)
    folder = session.workdir.collections / night.state.name
    render = collection_pdf if form == "pdf" else collection_html
    files = {f"report.{language}.{form}": render(result, language) for language in LANGUAGES}
    files["findings.json"] = json_text(json_collection(result)).encode()
    write_files(folder, files)
    return tuple(folder / name for name in files)


def _tell(session: Session, night: Night, paths: tuple[Path, ...], *, as_json: bool) -> None:
    from teiten.cli.collection.carry_out import result_of
    from teiten.cli.collection.text import result_lines
    from teiten.cli.printed.collection import json_collection

    result = result_of(night)
    for line in result_lines(result):
        session.console.say(line)
    if as_json:
        session.console.json(json_collection(result))
    else:
        for path in paths:
            session.console.data(str(path))


def _seconds(budget: str | None) -> Seconds | None:
    from teiten.study import values

    if budget is None:
        return None
    try:
        return values.budget(budget)
    except ValueError as error:
        raise UsageError(f"--budget {error}", "give a time, for example 8h or 90m") from error


def _size(memory: str) -> Bytes:
    from teiten.model.quantities import parse_size

    try:
        return parse_size(memory)
    except ValueError as error:
        raise UsageError(f"--memory {error}", "give a size, for example 12GB") from error
