"""The options that ``ab`` and ``null`` share (CLI.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import click

from teiten.cli.main import Session
from teiten.cli.options import LARGEST_SEED, checked_name
from teiten.cli.planning import Planned, plan_study
from teiten.host.facts import read_host_facts
from teiten.model.study import Study
from teiten.model.units import Seconds
from teiten.study.sides import Shared

SHORTEST = 5
"""Seconds of a trial, however little a longer one would pay."""


@dataclass(frozen=True)
class SharedOptions:
    """The options that ``ab`` and ``null`` share, as they were written."""

    shared: Shared = field(default_factory=Shared)
    seed: int | None = None
    name: str | None = None
    yes: bool = False

    def as_arguments(self) -> list[str]:
        """The options as a command line that repeats them; without name and seed."""
        one = self.shared
        single = (
            ("--script", one.script),
            ("--clients", one.clients),
            ("--duration", one.duration),
            ("--budget", one.budget),
            ("--pairs", one.pairs),
            ("--delta", one.delta),
            ("--alpha", one.alpha),
        )
        words = [word for flag, value in single if value is not None for word in (flag, str(value))]
        return [*words, *repeated("--set", one.overrides), *repeated("--guc", one.gucs)]


def repeated(flag: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (flag, value)]


_OPTIONS = (
    click.option(
        "--script",
        metavar="SCRIPT",
        help="A file, or read (the default), update, tpcb-like, simple-update, select-only.",
    ),
    click.option("--clients", metavar="N", help="Clients; by default as many as cores."),
    click.option("--duration", metavar="TIME", help="Measured time of a trial; else derived."),
    click.option("--budget", metavar="TIME", help="What the campaign may take, for example 30m."),
    click.option(
        "--pairs", type=click.IntRange(2, 1000), metavar="N", help="No more pairs than these."
    ),
    click.option(
        "--delta", metavar="SHARE", help="The smallest difference that matters, for example 2%."
    ),
    click.option(
        "--alpha", metavar="SHARE", help="The share of false alarms you accept, for example 5%."
    ),
    click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change a key of the study."
    ),
    click.option(
        "--guc", "gucs", multiple=True, metavar="NAME=VALUE", help="Set a parameter on both sides."
    ),
    click.option(
        "--seed", type=click.IntRange(0, LARGEST_SEED), metavar="N", help="Repeat an order."
    ),
    click.option("--name", callback=checked_name, metavar="TEXT", help="Name of the campaign."),
    click.option("--yes", is_flag=True, help="Do not ask before starting."),
)


def pair_options(function: Any) -> Any:
    """Give a verb the options of ``SharedOptions``."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def shared_options(session: Session, given: dict[str, Any]) -> SharedOptions:
    """The options from what click gave; takes them out of ``given``."""
    seed, name, yes = given.pop("seed"), given.pop("name"), given.pop("yes")
    names = Shared.__dataclass_fields__
    chosen = {key: given.pop(key) for key in names}
    keys = {one.partition("=")[0].strip() for one in chosen["overrides"]}
    if chosen["clients"] is None and not keys & {"clients", "factors.clients"}:
        chosen["clients"] = str(read_host_facts(session.workdir.root).cpu.logical)
    return SharedOptions(Shared(**chosen), seed, name, yes)


def plan_pairs(session: Session, study: Study, *, seed: int | None) -> Planned:
    """The plan of a study whose trials are as long as the noise here makes worthwhile.

    Where the duration is left open and ``teiten null`` has been here, no trial is longer than what
    pays (``analysis.replication``), so that the budget holds more pairs.
    """
    planned = plan_study(session, study, seed=seed)
    best = [one.best_duration for one in planned.noise if one.best_duration is not None]
    derived = planned.plan.study.measure.duration
    if study.measure.duration is not None or derived is None or not best:
        return planned
    worthwhile = Seconds(float(max(SHORTEST, math.ceil(max(best)))))
    if worthwhile >= derived:
        return planned
    session.console.say(
        f"trials of {worthwhile:g} s: by the noise that teiten null has measured here, longer ones"
        " do not pay"
    )
    shorter = replace(study, measure=replace(study.measure, duration=worthwhile))
    return plan_study(session, shorter, seed=planned.plan.seed)
