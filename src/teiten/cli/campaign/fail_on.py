"""``--fail-on``: verdicts that end a verb with exit code 5, for use in scripts and CI."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import click

from teiten.analysis.model.findings import LevelResult
from teiten.analysis.model.verdict import WORDS, Verdict
from teiten.analysis.verdict.verdict import NOT_AVERAGED
from teiten.cli.campaign.carry_out import CarriedOut
from teiten.cli.main import Session
from teiten.cli.printed.outcome import json_outcome
from teiten.errors import UsageError, VerdictError
from teiten.model.study import Study
from teiten.report.sentences import verdict_sentence

fail_on_option = click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(tuple(kind.value for kind in WORDS)),
    help="End with exit code 5 where this is a primary verdict (slower and faster: or a level of a"
    " mixed one), or that of a level where levels have no mean; may be given several times.",
)


def refuse_fail_on(study: Study, kinds: Collection[str]) -> None:
    """Raise UsageError before anything runs where a verdict on which something may fail would be
    none."""
    if kinds:
        asked = f"--fail-on {', '.join(kinds)}"
        refuse_inconclusive(
            study, asked, "choose another profile (teiten show), or leave out --fail-on"
        )


def refuse_inconclusive(study: Study, asked: str, hint: str) -> None:
    """Raise UsageError where the study supports no conclusion; ``asked``: what needs one."""
    if not study.conclusive:
        raise UsageError(
            f"{asked}: the profile {study.profile} of {study.name} supports no conclusion, so that"
            " no verdict of it may fail anything",
            hint,
        )


def end(session: Session, carried: CarriedOut, *, as_json: bool, fail_on: Collection[str]) -> None:
    """End a verb that carries a study out: print how it ended, or where the report is. Raises
    VerdictError as ``check_fail_on`` does."""
    if as_json:
        session.console.json(json_outcome(carried.analysis, carried.reports))
    else:
        session.console.data(carried.reports[0])
    check_fail_on(carried, fail_on)


def check_fail_on(carried: CarriedOut, kinds: Collection[str]) -> None:
    """Raise VerdictError where a primary verdict, over all levels, is one of ``kinds``; a mixed one
    is slower, or faster, where a level of it is, and where levels have no mean each is asked."""
    refuse_fail_on(carried.analysis.plan.study, kinds)
    for contrast in carried.analysis.contrasts:
        true = came_true(kinds, contrast.overall, contrast.levels)
        if contrast.metric.judged and true:
            raise VerdictError(
                f"--fail-on {true}: {verdict_sentence(carried.analysis, contrast, 'en')}",
                "see the report",
            )


def came_true(kinds: Iterable[str], overall: Verdict, levels: Sequence[LevelResult]) -> str:
    """Name the first of ``kinds`` that holds of a verdict over all levels or, where these have no
    mean, of a level, with this level: ``slower at query_mode=prepared``; empty where none does."""
    alone = levels if overall.reason == NOT_AVERAGED else ()
    for kind in kinds:
        if kind in overall.holds_of:
            return kind
        for level in alone:
            if level.verdict.kind == kind:
                named = " ".join(f"{factor}={value}" for factor, value in level.context)
                return f"{kind} at {named}"
    return ""
