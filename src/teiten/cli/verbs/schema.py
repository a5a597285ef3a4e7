"""``teiten schema``: the JSON schemas of what verbs print."""

from __future__ import annotations

import click

from teiten.cli.main import Session

EXAMPLES = "Examples:  teiten schema verdict  ·  teiten schema verdict > verdict.schema.json"


@click.command("schema", epilog=EXAMPLES)
@click.argument("name", type=click.Choice(["verdict"]))
@click.pass_obj
def command(session: Session, name: str) -> None:
    """Print the JSON schema NAME: the keys that every verdict has in --json of ab, run, report and
    compare, what they mean, and the version of their form.
    """
    from teiten.cli.text.verdict_schema import verdict_schema

    session.console.json({"verdict": verdict_schema}[name]())
