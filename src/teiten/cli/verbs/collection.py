"""``teiten collection``: many studies one after another, and every finding in one table."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from teiten.cli.completion import collections, collections_begun
from teiten.cli.console import Verbosity
from teiten.cli.main import Session
from teiten.cli.parameters import (
    LANGUAGES,
    GivenPath,
    folder_option,
    form_option,
    json_option,
    read_value,
)
from teiten.cli.plan.options import checked_name, note_agreement
from teiten.errors import TrialsFailedError
from teiten.model.quantities import parse_size
from teiten.model.text import Language
from teiten.model.units import Seconds

if TYPE_CHECKING:
    from teiten.analysis.model.collection import CollectionResult
    from teiten.cli.collection.carry_out import Night
    from teiten.cli.collection.state import CollectionState

DEFAULT = "pgecons"

collection_argument = click.argument(
    "collection", default=DEFAULT, metavar="[COLLECTION]", shell_complete=collections
)
yes_option = click.option(
    "--yes",
    is_flag=True,
    expose_value=False,
    callback=note_agreement,
    help="Do not ask before servers and hosts are used that the files name.",
)
begun_argument = click.argument(
    "reference", default="last", metavar="[NAME]", shell_complete=collections_begun
)
budget_option = click.option(
    "--budget", metavar="TIME", help="Time for measuring, for example 8h (default: the file's)."
)


@click.group(
    "collection",
    epilog="Examples:  teiten collection plan  ·  teiten collection run pgecons --budget 8h",
)
def command() -> None:
    """Many studies one after another, and every published finding in one table.

    A collection is a TOML file of studies with their servers, or the name of a built-in one:
    pgecons, the reports of the PostgreSQL Enterprise Consortium, or upgrade, PostgreSQL 12 to 18
    on one page.
    """


@command.command(
    "plan",
    epilog="Examples:  teiten collection plan  ·  teiten --verbose collection plan mine.toml",
)
@collection_argument
@budget_option
@yes_option
@json_option("it")
@click.pass_obj
def plan_command(session: Session, collection: str, budget: str | None, as_json: bool) -> None:
    """Say what would run here, for how long, and which findings cannot be judged, and why.

    Nothing is started. `teiten --verbose collection plan` names each of those findings.
    """
    from teiten.cli.collection.planning import check_disk, plan_campaign
    from teiten.cli.collection.text import plan_lines
    from teiten.cli.printed.collection import JsonCollectionPlan
    from teiten.cli.printed.form import taken
    from teiten.study.collection import read_collection

    table = read_collection(collection).table
    campaigns = [plan_campaign(session, table, campaign) for campaign in table.campaigns]
    given = _seconds(budget) or table.budget
    if as_json:
        plan = taken(JsonCollectionPlan, table, budget=given, campaigns=campaigns)
        session.console.json(plan)
    else:
        whole = session.console.verbosity >= Verbosity.VERBOSE
        session.console.text(*plan_lines(table, campaigns, given, whole=whole))
    check_disk(campaigns)


@command.command(
    "run",
    epilog="Examples:  teiten collection run --budget 8h  ·  teiten collection run mine.toml"
    " --name first-night",
)
@collection_argument
@budget_option
@click.option("--name", callback=checked_name, metavar="TEXT", help="Name of what is run.")
@yes_option
@json_option("it")
@click.pass_obj
def run_command(
    session: Session, collection: str, budget: str | None, name: str | None, as_json: bool
) -> None:
    """Run a collection: each study at its least size, then what is nearest to a decision.

    Ctrl-C ends it in order; `teiten collection resume` continues it.
    """
    from teiten.cli.collection.planning import check_disk, plan_campaign
    from teiten.cli.collection.state import new_state
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
@yes_option
@json_option("it")
@click.pass_obj
def resume_command(
    session: Session, reference: str, budget: str | None, collection: str | None, as_json: bool
) -> None:
    """Continue a collection after Ctrl-C, a crash or a reboot, or for another night.

    NAME is a collection's name, a unique prefix, or "last" (the default). Campaigns that could not
    run are tried again.
    """
    from teiten.cli.collection.state import read_state, with_campaigns_of
    from teiten.study.collection import read_collection

    state = read_state(session.workdir.collections, reference)
    if collection is not None:
        state = with_campaigns_of(state, read_collection(collection), session.workdir.campaigns)
    state = replace(state, budget=Seconds(state.budget + (_seconds(budget) or 0.0)))
    session.console.say(f"continuing {state.name}")
    _carry_out(session, state, as_json=as_json)


@command.command(
    "report",
    epilog="Examples:  teiten collection report  ·  teiten collection report last --format pdf",
)
@begun_argument
@form_option("html", "markdown", "pdf")
@json_option("it")
@click.pass_obj
def report_command(session: Session, reference: str, form: str, as_json: bool) -> None:
    """Write the report of a collection as far as it has come, in English and Japanese.

    Every finding stands in one table; a JSON file holds the same. Nothing is measured.
    """
    _report(session, _night(session, reference), form, as_json=as_json)


@command.command(
    "publish",
    epilog="Examples:  teiten collection publish --to docs/replication  ·  teiten collection"
    " publish pgecons --to /tmp/night",
)
@begun_argument
@folder_option("The folder to write.", required=True)
@click.pass_obj
def publish_command(session: Session, reference: str, target: Path) -> None:
    """Write a collection as it can stand in a repository: its tables as Markdown in English and
    Japanese, its findings as JSON, and reduced ledgers from which anyone recomputes them.

    The ledgers have no time series, profiles or logs. Nothing is measured.
    """
    from teiten.cli.collection.published import published_files
    from teiten.cli.reports import write_files

    night = _night(session, reference)
    write_files(target, published_files(night, LANGUAGES))
    session.console.data(target)


@command.command(
    "restore",
    epilog="Examples:  teiten collection restore docs/replication  ·  teiten collection restore"
    " docs/replication --without cores,buffers",
)
@click.argument("folder", type=GivenPath(path_type=Path, file_okay=False, exists=True))
@click.option(
    "--without",
    metavar="NAMES",
    default="",
    help="Leave these campaigns out: `teiten collection resume` runs them anew.",
)
@click.pass_obj
def restore_command(session: Session, folder: Path, without: str) -> None:
    """Put a published collection into the working folder, to be reported and compared.

    `teiten collection report` and `teiten report` recompute its tables. `teiten collection resume`
    runs what has not run yet; to what is published nothing is added.
    """
    from teiten.cli.collection.published import restore_collection

    names = [name.strip() for name in without.split(",") if name.strip()]
    session.console.data(restore_collection(session, folder, names).name)


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
@json_option("it")
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
    from teiten.cli.collection.carry_out import result_of
    from teiten.cli.collection.prediction import prediction_of
    from teiten.cli.collection.text import prediction_lines

    size = read_value("--memory", memory, parse_size, "12GB")
    result = result_of(_night(session, reference))
    prediction = prediction_of(result, SecondMachine(cores, size), time.time())
    if as_json:
        session.console.json(prediction)
    else:
        session.console.text(*prediction_lines(prediction))


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
@json_option("it")
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
    from teiten.cli.collection.carry_out import result_of
    from teiten.cli.collection.prediction import check_prediction, read_prediction
    from teiten.cli.collection.text import checked_lines, comparison_lines
    from teiten.cli.printed.collection import JsonCollectionComparison
    from teiten.cli.printed.form import taken

    results = [result_of(_night(session, name)) for name in (first, second)]
    findings = tuple(compared(*results))
    first, second = (result.name for result in results)
    prediction = read_prediction(foretelling) if foretelling is not None else None
    checked = check_prediction(prediction, *results) if prediction is not None else None
    if as_json:
        values = {"first": first, "second": second, "findings": findings, "prediction": checked}
        session.console.json(taken(JsonCollectionComparison, None, **values))
    else:
        session.console.text(*comparison_lines(first, second, findings))
        if prediction is not None and checked is not None:
            session.console.text(*checked_lines(prediction, checked))


def _night(session: Session, reference: str) -> Night:
    """Read a collection by its name, a unique prefix, or ``last``."""
    from teiten.cli.collection.carry_out import read_night
    from teiten.cli.collection.state import read_state

    return read_night(session, read_state(session.workdir.collections, reference))


def _carry_out(session: Session, state: CollectionState, *, as_json: bool) -> None:
    from teiten.cli.collection.carry_out import carry_out_collection, ending, write_campaign_reports

    night = carry_out_collection(session, state)
    session.console.say(ending(night))
    write_campaign_reports(night)
    _report(session, night, "html", as_json=as_json)
    if night.failed:
        raise TrialsFailedError(
            f"failed: {', '.join(night.failed)}; the others have run",
            f"teiten runs lists them; teiten collection resume {state.name} tries them again",
        )


def _report(session: Session, night: Night, form: str, *, as_json: bool) -> None:
    """Write the report in both languages, and its JSON; say what it came to."""
    from teiten.cli.collection.carry_out import result_of
    from teiten.cli.collection.text import result_lines
    from teiten.cli.printed.collection import JsonCollection, findings_text
    from teiten.cli.printed.form import taken
    from teiten.cli.reports import write_files
    from teiten.report.render.pdf import require_typst

    if form == "pdf":
        require_typst()
    result = result_of(night)
    folder = session.workdir.collections / night.state.name
    files = {
        name: content
        for language in LANGUAGES
        for name, content in _rendered(result, language, form).items()
    }
    files["findings.json"] = findings_text(result).encode()
    write_files(folder, files)
    session.console.say(*result_lines(result))
    if as_json:
        session.console.json(taken(JsonCollection, result))
        return
    session.console.data(*(folder / name for name in files))


def _rendered(result: CollectionResult, language: Language, form: str) -> dict[str, bytes]:
    """The files of a report in one language, by their paths below the collection's folder."""
    from teiten.report.collection import report_of
    from teiten.report.forms import collection_html, collection_markdown, collection_pdf

    if form == "markdown":
        pages = collection_markdown(result, language, lambda *report: f"../{report_of(*report)}")
        return {f"markdown.{language}/{name}": content for name, content in pages.items()}
    render = collection_pdf if form == "pdf" else collection_html
    return {f"report.{language}.{form}": render(result, language)}


def _seconds(budget: str | None) -> Seconds | None:
    from teiten.study import values

    return None if budget is None else read_value("--budget", budget, values.budget, "8h")
