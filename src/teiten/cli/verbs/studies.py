"""``teiten studies``: the catalogue."""

from __future__ import annotations

import click

from teiten.cli.main import Session
from teiten.cli.parameters import json_option, language_option
from teiten.cli.text.layout import aside, paragraph
from teiten.model.text import Language

EXAMPLES = "Examples:  teiten studies  ·  teiten studies --json"


@click.command("studies", epilog=EXAMPLES)
@language_option
@json_option("the catalogue")
@click.pass_obj
def command(session: Session, language: Language, as_json: bool) -> None:
    """List the studies that come with Teiten, and what each asks."""
    from teiten.study.load import catalogue

    summaries = catalogue()
    if as_json:
        session.console.json(summaries)
        return
    for study in summaries:
        sources = aside(language, *study.sources) if study.sources else ""
        session.console.text(f"{study.name}  {study.title.in_language(language)}{sources}")
        session.console.text(*paragraph(study.question.in_language(language), indent="    "))
        session.console.text(f"    --profile {'|'.join(study.profiles)}")
