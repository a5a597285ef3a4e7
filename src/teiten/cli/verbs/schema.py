"""``teiten schema``: the JSON schemas of what verbs print."""

from __future__ import annotations

import click

from teiten.cli.main import Session

EXAMPLES = "Examples:  teiten schema verdict  ·  teiten schema verdict > verdict.schema.json"


@click.command("schema", epilog=EXAMPLES)
@click.argument("name", type=click.Choice(["verdict", "installation", "site"]))
@click.pass_obj
def command(session: Session, name: str) -> None:
    """Print the JSON schema NAME, with the version of its form.

    verdict: the keys that every verdict has in --json of ab, run, report and compare, and what they
    mean. installation: what pg list, install, build and remove print of each. site: what site
    prints.
    """
    from teiten.cli.text.installations_schema import installation_schema
    from teiten.cli.text.site_schema import site_schema
    from teiten.cli.text.verdict_schema import verdict_schema

    schemas = {
        "verdict": verdict_schema,
        "installation": installation_schema,
        "site": site_schema,
    }
    session.console.json(schemas[name]())
