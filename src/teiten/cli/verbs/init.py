"""``teiten init``: a commented copy of a study, to edit."""

from __future__ import annotations

import click

from teiten.cli.completion import studies
from teiten.cli.main import Session

EXAMPLES = "Examples:  teiten init observe > mine.toml  ·  teiten init observe | less"

REPORT_NOTES = "report-notes"


@click.command("init", epilog=EXAMPLES)
@click.argument("study", shell_complete=studies)
@click.pass_obj
def command(session: Session, study: str) -> None:
    """Print STUDY as a commented TOML file with its scripts inside.

    STUDY may be report-notes: the file of `teiten report --with`, with authors and remarks.
    Edit the copy, then look at it with `teiten plan FILE` and run it with `teiten run FILE`.
    """
    from teiten.cli.text.notes import EXAMPLE
    from teiten.study.load import commented_copy

    if study == REPORT_NOTES:
        session.console.data(EXAMPLE.rstrip("\n"))
        return
    session.console.data(commented_copy(study).rstrip("\n"))
