"""``teiten gate``: whether a change made something slower, for CI."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from teiten.analysis.verdict.gate import GateOutcome
from teiten.cli.campaign.begin import prepare
from teiten.cli.campaign.fail_on import refuse_inconclusive
from teiten.cli.campaign.way import carry_out_sides
from teiten.cli.completion import servers
from teiten.cli.gate.answer import (
    GateAnswer,
    annotation_lines,
    answer_lines,
    answer_of,
    markdown,
    needed,
    title,
)
from teiten.cli.gate.sides import GateOptions, gate_sides
from teiten.cli.main import Session
from teiten.cli.parameters import GivenPath, build_options, json_option, with_flags
from teiten.cli.plan.builds import spec_of
from teiten.cli.plan.two_sides import FLAGS, SCRIPT, SharedOptions, shared_options
from teiten.cli.printed.gate import json_gate
from teiten.errors import CannotTellError, UsageError, VerdictError
from teiten.host.system.causes import translate_os_errors
from teiten.host.system.target_folder import append_file, write_file
from teiten.study.sides import GATE_BUDGET, SqlFolders, gate_study

EXAMPLES = (
    "Examples:  teiten gate 17 18 --script q.sql --script r.sql --markdown gate.md"
    "  ·  teiten gate ~/postgresql@master ~/postgresql@HEAD --delta 3% --budget 20m"
    "  ·  teiten gate old/ new/ --server 18 --set data.script=tables.sql"
    "  ·  teiten gate main HEAD --extension . --server 18 --script q.sql --set data.script=t.sql"
)
SCRIPTS = SCRIPT.of(
    help="A file, or a workload as in teiten ab; may be given several times.", many=True
)
HELP = {
    "budget": f"What the gate may take, {GATE_BUDGET} by default; builds come before it.",
    "profile": "Size: standard (the default) or published; quick supports no conclusion.",
}
"""The help of flags, by their field, that is a gate's own."""
GATE_FLAGS = (SCRIPTS, *(flag.of(help=HELP.get(flag.field, flag.help)) for flag in FLAGS))
SUMMARY = "GITHUB_STEP_SUMMARY"
ON_GITHUB = "GITHUB_ACTIONS"


def _gate_options(function: Any) -> Any:
    return with_flags(GATE_FLAGS, function)


@click.command("gate", epilog=EXAMPLES)
@click.argument("base", shell_complete=servers)
@click.argument("head", shell_complete=servers)
@_gate_options
@click.option("--guc-base", multiple=True, metavar="NAME=VALUE", help="A parameter of BASE alone.")
@click.option("--guc-head", multiple=True, metavar="NAME=VALUE", help="A parameter of HEAD alone.")
@click.option("--set-base", multiple=True, metavar="KEY=VALUE", help="As --set-a of teiten ab.")
@click.option("--set-head", multiple=True, metavar="KEY=VALUE", help="As --set-b of teiten ab.")
@click.option(
    "--extension",
    metavar="CHECKOUT",
    help="BASE and HEAD are commits of this extension, built by PGXS into copies of --server.",
)
@click.option(
    "--server",
    metavar="SERVER",
    help="The server of --extension, of folders of SQL, or of versions of an extension.",
)
@build_options()
@click.option(
    "--markdown",
    "markdown_file",
    type=GivenPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the answer as a table for a pull request.",
)
@json_option("the answer")
@click.pass_obj
def command(session: Session, /, base: str, head: str, **given: Any) -> None:
    """Did HEAD become slower than BASE? Ends with 5 for a regression, 6 where this machine cannot
    tell, else 0.

    BASE and HEAD are servers as in teiten ab, commits of PostgreSQL (CHECKOUT@REF), which are
    built, commits of an extension (REF, with --extension and --server), folders of SQL (with
    --server), or versions of an extension (extension:NAME@VERSION, with --server). In each start
    run three servers on new copies of the data: BASE, BASE once more, and HEAD. What BASE differs
    from itself by is this machine's noise, and stands beside every verdict. Starts follow until
    HEAD is decided for each script, or the budget is spent.
    """
    options = shared_options(session, given)
    how = GateOptions(
        spec_of("", given["configure"], given["cflags"], meson=given["meson"]),
        given["jobs"],
        given["extension"],
        given["server"],
    )
    prepare(session, options.name)
    sides = gate_sides(session, (base, head), given, how)
    if sides.folders is not None:
        _tell_of_folders(session, sides.folders, options)
    study = gate_study(*sides.compared, options, sides.folders)
    refuse_inconclusive(study, "gate", "leave --profile out, or name another one")
    words = ["gate", *sides.words]
    carried = carry_out_sides(session, study, options, words, sides=sides.flags)
    answer = answer_of(carried.analysis)
    _publish(answer, given["markdown_file"])
    if given["as_json"]:
        session.console.json(json_gate(answer, carried.reports))
    else:
        session.console.text(*answer_lines(answer))
        session.console.data(carried.reports[0])
    _end(answer)


def _tell_of_folders(session: Session, folders: SqlFolders, options: SharedOptions) -> None:
    """Say which files are left out. Raises UsageError for scripts beside the folders'."""
    if options.script:
        raise UsageError(
            "--script names a workload, and so do the files of both folders", "leave it out"
        )
    for file in folders.unpaired:
        session.console.say(f"{file} is left out: one of the two folders does not have it")


def _publish(answer: GateAnswer, file: Path | None) -> None:
    """Write the table where it was asked for, and where GitHub Actions shows it."""
    table = markdown(answer)
    summary = os.environ.get(SUMMARY)
    with translate_os_errors("the table cannot be written", "--markdown"):
        if file is not None:
            write_file(file, table.encode())
        if summary:
            append_file(Path(summary), table.encode())
    if os.environ.get(ON_GITHUB) == "true":
        for line in annotation_lines(answer):
            sys.stderr.write(line + "\n")


def _end(answer: GateAnswer) -> None:
    """Raise what gives the exit code, where the answer is not that all is well."""
    match answer.outcome:
        case GateOutcome.REGRESSION:
            raise VerdictError(f"gate: {title(answer)}", "see the report")
        case GateOutcome.CANNOT_TELL:
            raise CannotTellError(f"gate: {title(answer)}", f"what would help: {needed(answer)}")
