"""``teiten schema``: the JSON schemas of what verbs print."""

from __future__ import annotations

import click

from teiten.cli.main import Session
from teiten.cli.printed.registry import BY_NAME, SCHEMAS, NamedSchema
from teiten.cli.text.layout import columns

EXAMPLES = "Examples:  teiten schema  ·  teiten schema verdict > verdict.schema.json"


@click.command("schema", epilog=EXAMPLES)
@click.argument("name", required=False, type=click.Choice(list(BY_NAME)), metavar="[NAME]")
@click.pass_obj
def command(session: Session, name: str | None) -> None:
    """Print the JSON schema NAME, with the version of its form; without NAME, list them all.

    There is one for everything that a verb prints with --json.
    """
    if name is not None:
        session.console.json(BY_NAME[name].make())
        return
    session.console.text(
        *columns([(schema.name, schema.what, _printed_by(schema)) for schema in SCHEMAS])
    )


def _printed_by(schema: NamedSchema) -> str:
    single = ", ".join(f"teiten {verb}" for verb in schema.verbs)
    lists = ", ".join(f"teiten {verb}" for verb in schema.listing)
    return "; ".join([*([single] if single else []), *([f"a list: {lists}"] if lists else [])])
