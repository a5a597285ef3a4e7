"""``teiten``: one program, verbs in the order of the work (CLI.md)."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path

import click

from teiten import __version__
from teiten.addresses import Secrets
from teiten.cli.console import Console, Verbosity
from teiten.cli.failures import report_failure, say
from teiten.cli.parameters import GivenPath
from teiten.cli.passwords import ShownCommand, begin_anew, handed_over, take_passwords
from teiten.cli.streams import StandardStreams, guarded_streams
from teiten.connections import take_variables
from teiten.errors import UsageError
from teiten.given_paths import expanded
from teiten.host.system.causes import machine_error
from teiten.host.system.own_folders import leave_folders_of_others, require_own
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.signals import interruptible
from teiten.report.charts.library import keep_library_in
from teiten.secrets import forget
from teiten.study.scripts import read_archives_by

VERBS = {
    "demo": "PostgreSQL 16 against 18 on this machine, to a report, in a few minutes",
    "doctor": "what this machine is, what Teiten can do here, and what could disturb it",
    "pg": "PostgreSQL installations: list, install, build, remove",
    "studies": "the catalogue of studies",
    "show": "a study in words",
    "init": "a commented copy of a study, to edit",
    "plan": "what a study would do here; starts nothing",
    "run": "run a study to a report",
    "ab": "is B slower than A? pairs until that is decided",
    "gate": "did a change make it slower? for CI: yes, no, or this runner cannot tell",
    "null": "how much two equal sides differ on this machine",
    "bisect": "which commit of PostgreSQL changed the speed",
    "collection": "many studies in one go, and every published finding in one table",
    "resume": "continue a campaign that was interrupted",
    "runs": "list campaigns",
    "rm": "delete a campaign",
    "clean": "give disk back",
    "claims": "published findings, and their outcomes in a campaign",
    "explain-diff": "two execution plans, node by node, and what the difference cost",
    "report": "make a campaign's report again, in another form or language",
    "compare": "campaigns of two machines, systems or years",
    "history": "many campaigns as a line through time",
    "site": "many campaigns as static pages: index, reports, lines, a feed",
    "data": "benchmark data: as files, to a pipe, or straight into a server",
    "export": "a campaign's numbers as CSV and Parquet",
    "schema": "the JSON schemas of what verbs print",
}


OTHER_WORDS = {
    **dict.fromkeys(("list", "ls", "campaigns"), "runs"),
    **dict.fromkeys(("delete", "remove"), "rm"),
    "install": "pg install",
    "continue": "resume",
}
"""Words that other programs have for verbs that are called otherwise here."""


WHOLE = "\N{NON-BREAKING HYPHEN}"


class WholeNames(click.HelpFormatter):
    """Lines are broken at spaces alone, never at a hyphen."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        super().write_dl(
            [(name, text.replace("-", WHOLE)) for name, text in rows], col_max, col_spacing
        )

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", WHOLE))

    def getvalue(self) -> str:
        return super().getvalue().replace(WHOLE, "-")


class HelpContext(click.Context):
    """Context of every verb, in whose help names stay whole."""

    formatter_class = WholeNames


def with_whole_names(command: click.Command) -> click.Command:
    """The command, and all below it, with help in which names stay whole."""
    command.context_class = HelpContext
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            with_whole_names(subcommand)
    return command


class Verbs(click.Group):
    """Loads a verb's module when it is used, so that ``--help`` answers at once."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"teiten.cli.verbs.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return with_whole_names(command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from teiten.suggest import did_you_mean

        if args[0] not in VERBS and not args[0].startswith("-"):
            meant = OTHER_WORDS.get(args[0])
            near = f" Did you mean {meant!r}?" if meant else did_you_mean(args[0], VERBS)
            raise UsageError(
                f"no verb {args[0]!r}.{near}",
                f"the verbs are {', '.join(VERBS)}",
            )
        return super().resolve_command(ctx, args)


class Session:
    """The working folder and the console, which every verb is given."""

    def __init__(
        self, workdir: Workdir, console: Console, taken: ShownCommand | None = None
    ) -> None:
        self._workdir = workdir
        self.console = console
        self.secrets: Mapping[str, Secrets] = taken.secrets if taken else {}
        """By address of a server: what was secret in it on the command line."""
        known = self.secrets.items()
        self.passwords = {name: held["password"] for name, held in known if "password" in held}
        """The passwords among ``secrets``, by address of a server."""
        self.agreed_to_all = False
        """``--yes`` was given: whatever asks before servers and hosts of others are used is agreed
        to."""
        self.agreed: set[str] = set()
        """Servers and hosts that a file alone names, and that a person has agreed to reach."""

    @cached_property
    def workdir(self) -> Workdir:
        """The working folder, looked at once. Raises UsageError where root's could be exchanged by
        another user."""
        require_own(self._workdir.root)
        return self._workdir


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples:  teiten run observe --profile quick  ·  teiten plan observe --servers 13,18",
)
@click.version_option(__version__, prog_name="teiten")
@click.option(
    "--workdir",
    type=GivenPath(path_type=Path, file_okay=False, readable=False),  # told when it is used
    envvar="TEITEN_WORKDIR",
    help="Folder for data and campaigns (default: the XDG data folder; for root /var/lib/teiten).",
)
@click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
@click.option("-v", "--verbose", is_flag=True, help="Say each step.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Colours on the terminal.",
)
@click.pass_context
def teiten(
    context: click.Context, workdir: Path | None, quiet: bool, verbose: bool, color: str
) -> None:
    """Is this PostgreSQL slower than that one, by how much, how sure are we, and why?"""
    verbosity = Verbosity.QUIET if quiet else Verbosity.VERBOSE if verbose else Verbosity.NORMAL
    root = expanded(workdir or default_workdir()).absolute()
    taken: ShownCommand | None = context.obj
    if taken is not None:
        taken.check()
    leave_folders_of_others()
    workdir_of_all = Workdir(root)
    context.obj = Session(workdir_of_all, Console(verbosity, color), taken)
    keep_library_in(workdir_of_all.caches)
    read_archives_by(partial(_sql_of_archive, workdir_of_all))


def _sql_of_archive(workdir: Workdir, archive: Path) -> str:
    from teiten.cli.archives import sql_of_archive

    return sql_of_archive(workdir, archive)


def as_typed_elsewhere(arguments: list[str]) -> list[str]:
    """``help`` and ``version`` as verbs, as many programs have them."""
    match arguments:
        case ["version"]:
            return ["--version"]
        case ["help", *verbs]:
            return [*verbs, "--help"]
        case _:
            return arguments


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; never returns.

    ``arguments``: None for those of the process.
    """
    forget()
    taken = take_passwords(sys.argv[1:] if arguments is None else arguments)
    sys.argv[1:] = taken.arguments  # what a defect's log shows
    known = handed_over()
    if arguments is None and not known:
        begin_anew(taken)
    take_variables()
    taken.secrets |= known
    sys.exit(_run(taken))


def _run(taken: ShownCommand) -> int:
    """The exit code. Whatever comes up, a signal or a closed terminal too, ends in one."""
    try:
        with guarded_streams() as streams, interruptible():
            try:
                words = as_typed_elsewhere(taken.arguments)
                code = teiten.main(args=words, standalone_mode=False, prog_name="teiten", obj=taken)
            except BaseException as error:  # each kind has its exit code
                code = report_failure(error)
            sys.stdout.flush()
        return code if isinstance(code, int) and code else _lost_data(streams)
    except KeyboardInterrupt as error:  # a second one, while the first was told
        return report_failure(error)


def _lost_data(streams: StandardStreams) -> int:
    """Data that could not be written are a failure of the machine."""
    if streams.failure is None:
        return 0
    doing = "the output could not be written"
    known = machine_error(streams.failure, doing)
    message = known.message if known else f"{doing}: {os.strerror(streams.failure.errno or 0)}"
    say(message, "see where the output of this program goes")
    return 3
