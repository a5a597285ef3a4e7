"""``teiten init``: a commented copy of a study, to edit."""

from __future__ import annotations

import click

from teiten.cli.main import Session

EXAMPLES = "Examples:  teiten init observe > mine.toml  ·  teiten init observe | less"


@click.command("init", epilog=EXAMPLES)
@click.argument("study")
@click.pass_obj
def command(session: Session, study: str) -> None:
    """Print STUDY as a commented TOML file with its scripts inside.

    Edit the copy, then look at it with `teiten plan FILE` and run it with `teiten run FILE`.
    """
    from teiten.study.copying import commented_copy

    session.console.data(commented_copy(study).rstrip("\n"))
