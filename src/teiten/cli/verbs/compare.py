"""``teiten compare``: campaigns of two machines, systems or years, side by side."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import click

from teiten.analysis.model.comparison import Comparison
from teiten.analysis.model.verdict import WORDS
from teiten.cli.campaign.fail_on import came_true, refuse_fail_on
from teiten.cli.completion import campaigns
from teiten.cli.main import Session
from teiten.cli.parameters import (
    LANGUAGES,
    folder_option,
    form_option,
    json_option,
    languages_option,
)
from teiten.cli.reports import write_files
from teiten.errors import UsageError, VerdictError
from teiten.model.text import Language

EXAMPLES = (
    "Examples:  teiten compare linux/ledger.sqlite windows/ledger.sqlite"
    "  ·  teiten compare observe-standard-2025 last --fail-on slower --lang ja"
)
FOLDER = "comparisons"
"""Where reports go in the working folder."""


@click.command("compare", epilog=EXAMPLES)
@click.argument("a", metavar="A", shell_complete=campaigns)
@click.argument("b", metavar="B", shell_complete=campaigns)
@click.option("--anyway", is_flag=True, help="Compare campaigns that measured different things.")
@languages_option("report")
@form_option("html", "markdown")
@folder_option("Folder to write to (default: comparisons/A-B in the working folder).")
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice([kind.value for kind in WORDS]),
    help="End with exit code 5 where this is a verdict of TPS, or of the time of queries, over all"
    " levels (slower and faster: or at a level of a mixed one; any: at a level where levels have no"
    " mean); may be given several times.",
)
@json_option("differences and verdicts")
@click.pass_obj
def command(
    session: Session,
    a: str,
    b: str,
    *,
    anyway: bool,
    language: Language | None,
    form: str,
    target: Path | None,
    fail_on: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare campaign B with campaign A: the machines, systems or years that they ran in.

    A and B are names of campaigns, unique prefixes, "last", or paths of ledgers or campaigns'
    folders, also copied from another machine. They are only read. Campaigns that measured
    different things (data, script, duration, settings …) are refused unless --anyway.
    """
    from teiten.report.comparison.sides import Pair

    comparison = _comparison(session, a, b, anyway=anyway)
    for side in (comparison.a, comparison.b):
        refuse_fail_on(side.plan.study, fail_on)
    folder = target or session.workdir.root / FOLDER / _name(comparison)
    paths = _write(comparison, folder, form, (language,) if language else LANGUAGES)
    judged = [result for result in comparison.results if result.metric.judged]
    sentences = [*map(Pair(comparison, "en").sentence, judged)]
    if as_json:
        from teiten.cli.printed.across import json_comparison

        session.console.json(json_comparison(comparison, paths))
    else:
        session.console.say(*sentences)
        session.console.data(*paths)
    for result, sentence in zip(judged, sentences, strict=True):
        true = came_true(fail_on, result.overall, result.levels)
        if true:
            raise VerdictError(f"--fail-on {true}: {sentence}", "see the report")


def _comparison(session: Session, a: str, b: str, *, anyway: bool) -> Comparison:
    """Raises UsageError for campaigns that are not comparable, unless ``anyway``."""
    from teiten.analysis.across.comparison import compare
    from teiten.claims.catalogue import claims_of
    from teiten.cli.campaign.read import locate, read_campaign
    from teiten.report.comparison.sides import obstacle_lines

    folders = [locate(session, reference) for reference in (a, b)]
    if folders[0] == folders[1] and not anyway:
        raise UsageError(
            f"A and B are one campaign, {folders[0].name}", "teiten runs lists the others"
        )
    first, second = map(read_campaign, folders)
    comparison = compare(first, second, claims=claims_of(first.plan.study.name))
    lines = obstacle_lines(comparison, "en")
    if lines and not anyway:
        raise UsageError(
            f"{first.name} (A) and {second.name} (B) measured different things: {'; '.join(lines)}",
            "repeat one of them with the other's values (--set, --guc); --anyway compares them"
            " nevertheless, and the report says so on top",
        )
    if not comparison.results:
        raise UsageError(
            f"{first.name} (A) and {second.name} (B) have no workload and level in common",
            "teiten show tells what a study measures; choose campaigns of one study",
        )
    return comparison


def _name(comparison: Comparison) -> str:
    names = f"{comparison.a.name}--{comparison.b.name}"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", names).strip("-.")[:180] or "comparison"


def _write(
    comparison: Comparison, folder: Path, form: str, languages: Sequence[Language]
) -> list[Path]:
    from teiten.report.forms import comparison_html, comparison_markdown
    from teiten.report.render.markdown import TEXT

    paths = []
    for language in languages:
        if form == "markdown":
            place = folder / f"markdown.{language}"
            write_files(place, comparison_markdown(comparison, language))
            paths.append(place / TEXT)
        else:
            name = f"comparison.{language}.html"
            write_files(folder, {name: comparison_html(comparison, language).encode()})
            paths.append(folder / name)
    return paths
