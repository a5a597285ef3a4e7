"""``--fail-on``: verdicts that end a verb with exit code 5, for use in scripts and CI."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import click

from teiten.analysis.model.verdict import WORDS
from teiten.cli.campaign.carry_out import CarriedOut
from teiten.errors import VerdictError
from teiten.report.sentences import verdict_sentence

Command = TypeVar("Command", bound=Callable[..., Any])

fail_on_option = click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(tuple(kind.value for kind in WORDS)),
    help="End with exit code 5 where this is a primary verdict; may be given several times.",
)


def check_fail_on(carried: CarriedOut, kinds: Collection[str]) -> None:
    """Raise VerdictError where a primary verdict, over all levels, is one of ``kinds``."""
    for contrast in carried.analysis.contrasts:
        kind = contrast.overall.kind.value
        if contrast.metric.judged and kind in kinds:
            raise VerdictError(
                f"--fail-on {kind}: {verdict_sentence(carried.analysis, contrast, 'en')}",
                f"see the report {carried.reports[0]}",
            )
