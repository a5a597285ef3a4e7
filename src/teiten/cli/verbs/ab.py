"""``teiten ab``: two servers, or one with two settings, in pairs until the verdict is decided."""

from __future__ import annotations

from typing import Any

import click

from teiten.cli.campaign.begin import carry_out_sides, prepare
from teiten.cli.campaign.fail_on import check_fail_on, fail_on_option, refuse_fail_on
from teiten.cli.completion import servers
from teiten.cli.main import Session
from teiten.cli.parameters import json_option
from teiten.cli.plan.two_sides import (
    pair_options,
    refuse_several_workloads,
    shared_options,
    words_of_sides,
)
from teiten.cli.printed.outcome import json_two_sides
from teiten.study.sides import SideFlags, ab_study

EXAMPLES = (
    "Examples:  teiten ab 17 18  ·  teiten ab 18 18 --guc-b shared_buffers=8GB --budget 1h"
    "  ·  teiten ab old/bin new/bin --script q.sql --clients 16 --delta 1% --fail-on slower"
)
ONE_BY_ONE = "leave out --json; teiten report last --json then has the verdict on each workload"


@click.command("ab", epilog=EXAMPLES)
@click.argument("old", metavar="A", shell_complete=servers)
@click.argument("new", metavar="B", shell_complete=servers)
@click.option("--guc-a", multiple=True, metavar="NAME=VALUE", help="A parameter of A alone.")
@click.option("--guc-b", multiple=True, metavar="NAME=VALUE", help="A parameter of B alone.")
@click.option(
    "--set-a", multiple=True, metavar="KEY=VALUE", help="checksums, cores, directory … of A."
)
@click.option(
    "--set-b", multiple=True, metavar="KEY=VALUE", help="checksums, cores, directory … of B."
)
@pair_options
@fail_on_option
@json_option("the verdict")
@click.pass_obj
def command(session: Session, /, old: str, new: str, **given: Any) -> None:
    """Is B slower or faster than A? Starts of both until that is decided, or the budget is spent.

    A and B are servers as in --servers: 17, 18.4, system:15, a folder or NAME=postgresql://… of
    one that runs already; they may be the same
    where --guc-a, --guc-b, --set-a or --set-b make the sides differ. Both servers start together,
    and clients alternate between them, transaction by transaction; where that cannot be had, or
    with --way classic, trials of one side and the other alternate. The verdict is that of TPS.
    """
    options = shared_options(session, given)
    sides = (
        SideFlags("a", old, given["set_a"], given["guc_a"]),
        SideFlags("b", new, given["set_b"], given["guc_b"]),
    )
    study = ab_study(*sides, options)
    refuse_fail_on(study, given["fail_on"])
    if given["as_json"]:
        refuse_several_workloads(study, "teiten ab --json", ONE_BY_ONE)
    prepare(session, options.name)
    words = ["ab", old, new, *words_of_sides(sides)]
    carried = carry_out_sides(session, study, options, words, sides=sides, piloting=True)
    if given["as_json"]:
        judged = next(result for result in carried.analysis.contrasts if result.metric.judged)
        session.console.json(json_two_sides(carried.analysis, judged, carried.reports))
    else:
        session.console.data(carried.reports[0])
    check_fail_on(carried, given["fail_on"])
