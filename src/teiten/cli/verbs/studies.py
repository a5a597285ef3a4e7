"""``teiten studies``: the catalogue."""

from __future__ import annotations

import click

from teiten.cli.main import Session
from teiten.cli.text.layout import paragraph
from teiten.model.text import Language

EXAMPLES = "Examples:  teiten studies  ·  teiten studies --json"


@click.command("studies", epilog=EXAMPLES)
@click.option(
    "--lang", type=click.Choice(["en", "ja"]), default="en", show_default=True, help="Language."
)
@click.option("--json", "as_json", is_flag=True, help="Print the catalogue as JSON.")
@click.pass_obj
def command(session: Session, lang: str, as_json: bool) -> None:
    """List the studies that come with Teiten, and what each asks."""
    from teiten.study.load import catalogue

    summaries = catalogue()
    if as_json:
        session.console.json(summaries)
        return
    for study in summaries:
        language: Language = "ja" if lang == "ja" else "en"
        sources = f" ({'; '.join(study.sources)})" if study.sources else ""
        session.console.text(f"{study.name}  {study.title.in_language(language)}{sources}")
        for line in paragraph(study.question.in_language(language), indent="    "):
            session.console.text(line)
        session.console.text(f"    --profile {'|'.join(study.profiles)}")
