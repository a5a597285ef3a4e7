"""``teiten ab``: two servers, or one with two settings, in pairs until the verdict is decided."""

from __future__ import annotations

import shlex
from typing import Any

import click

from teiten.cli.campaign import CarriedOut
from teiten.cli.main import Session
from teiten.cli.pairing import pair_options, plan_pairs, repeated, shared_options
from teiten.cli.run import begin, carry_out_new, prepare
from teiten.errors import VerdictError
from teiten.model.analysis import ContrastResult, VerdictKind
from teiten.model.metrics import TPS
from teiten.report.sentences import verdict_sentence
from teiten.study.sides import SideFlags, ab_study

EXAMPLES = (
    "Examples:  teiten ab 17 18  ·  teiten ab 18 18 --guc-b shared_buffers=8GB --budget 1h"
    "  ·  teiten ab old/bin new/bin --script q.sql --clients 16 --delta 1% --fail-on slower"
)
FAIL_ON = tuple(kind.value for kind in VerdictKind)


@click.command("ab", epilog=EXAMPLES)
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--guc-a", multiple=True, metavar="NAME=VALUE", help="A parameter of A alone.")
@click.option("--guc-b", multiple=True, metavar="NAME=VALUE", help="A parameter of B alone.")
@click.option("--set-a", multiple=True, metavar="KEY=VALUE", help="checksums, query_mode of A.")
@click.option("--set-b", multiple=True, metavar="KEY=VALUE", help="checksums, query_mode of B.")
@pair_options
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="End with exit code 5 where this is the verdict; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.pass_obj
def command(session: Session, /, old: str, new: str, **given: Any) -> None:
    """Is B slower or faster than A? Pairs of trials until that is decided, or the budget is spent.

    A and B are servers as in --servers: 17, 18.4, system:15, a folder or NAME=postgresql://… of
    one that runs already; they may be the same
    where --guc-a, --guc-b, --set-a or --set-b make the sides differ. The verdict is that of TPS.
    """
    options = shared_options(session, given)
    sides = (
        SideFlags("a", old, given["set_a"], given["guc_a"]),
        SideFlags("b", new, given["set_b"], given["guc_b"]),
    )
    study = ab_study(*sides, options.shared)
    prepare(session, options.name)
    planned = plan_pairs(session, study, seed=options.seed)
    words = ["teiten", "ab", old, new]
    for side in sides:
        words += repeated(f"--guc-{side.letter}", side.gucs)
        words += repeated(f"--set-{side.letter}", side.overrides)
    words += [*options.as_arguments(), "--seed", str(planned.plan.seed)]
    name = begin(session, planned, options.name, shlex.join(words), yes=options.yes)
    carried = carry_out_new(session, name)
    result = _primary(carried)
    if given["as_json"]:
        session.console.json(_as_json(name, carried, result))
    else:
        session.console.data(str(carried.reports[0]))
    if result.overall.kind.value in given["fail_on"]:
        raise VerdictError(
            f"--fail-on {result.overall.kind.value}:"
            f" {verdict_sentence(carried.analysis, result, 'en')}",
            f"see the report {carried.reports[0]}",
        )


def _primary(carried: CarriedOut) -> ContrastResult:
    return next(one for one in carried.analysis.contrasts if one.metric.name == TPS.name)


def _as_json(name: str, carried: CarriedOut, result: ContrastResult) -> dict[str, Any]:
    verdict, analysis = result.overall, carried.analysis
    effect = verdict.effect
    ending = analysis.standing.ending
    return {
        "campaign": name,
        "verdict": verdict.kind.value,
        "at_least_delta": verdict.at_least_delta,
        "ratio": effect.ratio if effect else None,
        "interval": [effect.low, effect.high] if effect else None,
        "confidence": effect.confidence if effect else None,
        "delta": verdict.delta,
        "pairs": verdict.pairs,
        "seconds": analysis.wall,
        "ending": ending.value if ending else None,
        "reason": verdict.reason,
        "reports": [str(path) for path in carried.reports],
    }
