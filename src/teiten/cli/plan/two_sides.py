"""The options that ``ab`` and ``null`` share (CLI.md)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from teiten.analysis.model.replication import Replication
from teiten.cli.main import Session
from teiten.cli.plan.options import (
    FLAME_GRAPH_HELP,
    HOST_OPTIONS,
    LARGEST_SEED,
    YES_HELP,
    checked_name,
    with_hosts,
)
from teiten.host.facts.machine import read_host_facts
from teiten.model.study import Study
from teiten.study.sides import Shared


@dataclass(frozen=True)
class SharedOptions:
    """The options that ``ab`` and ``null`` share, as they were written."""

    shared: Shared = field(default_factory=Shared)
    seed: int | None = None
    name: str | None = None
    yes: bool = False

    @property
    def keys(self) -> frozenset[str]:
        """Those of ``--set``, as they were written."""
        return frozenset(one.partition("=")[0].strip() for one in self.shared.overrides)

    @property
    def fixes_slices(self) -> bool:
        """Whether the number of slices was asked for, even where that is 1."""
        return self.shared.slices is not None or bool(self.keys & {"slices", "measure.slices"})

    def with_chosen(self, chosen: Replication | None) -> SharedOptions:
        """With the length of trials that was chosen for them, so that a command line repeats it."""
        if chosen is None:
            return self
        overrides = self.shared.overrides
        if chosen.restart_every > 1:
            overrides = (*overrides, f"restart_every={chosen.restart_every}")
        shared = replace(
            self.shared,
            duration=f"{chosen.duration:g}s",
            slices=chosen.slices,
            overrides=overrides,
        )
        return replace(self, shared=shared)

    def as_arguments(self) -> list[str]:
        """The options as a command line that repeats them; without name and seed."""
        one = self.shared
        single = (
            ("--profile", one.profile),
            ("--script", one.script),
            ("--clients", one.clients),
            ("--duration", one.duration),
            ("--budget", one.budget),
            ("--slices", one.slices),
            ("--blocks", one.blocks),
            ("--delta", one.delta),
            ("--alpha", one.alpha),
        )
        words = [word for flag, value in single if value is not None for word in (flag, str(value))]
        words += ["--flame-graph"] if one.flame_graph else []
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
    click.option(
        "--profile", metavar="PROFILE", help="Size: quick, standard (the default) or published."
    ),
    click.option("--duration", metavar="TIME", help="Measured time of a trial; else chosen."),
    click.option(
        "--slices",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Cut trials into slices that both sides, which stay up, run in turn.",
    ),
    click.option("--budget", metavar="TIME", help="What the campaign may take, for example 30m."),
    click.option(
        "--blocks", type=click.IntRange(2, 5000), metavar="N", help="No more pairs than these."
    ),
    click.option("--flame-graph", is_flag=True, help=FLAME_GRAPH_HELP),
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
    *HOST_OPTIONS,
    click.option("--yes", is_flag=True, help=YES_HELP),
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
    chosen["overrides"] = with_hosts(chosen["overrides"], given)
    keys = {one.partition("=")[0].strip() for one in chosen["overrides"]}
    if chosen["clients"] is None and not keys & {"clients", "factors.clients"}:
        chosen["clients"] = str(read_host_facts(session.workdir.root).cpu.logical)
    return SharedOptions(Shared(**chosen), seed, name, yes)


def tell_of_changed_data(session: Session, study: Study, options: SharedOptions) -> None:
    """Say what it costs that nobody knows whether a script of one's own only reads."""
    (script,) = study.workloads[0].options.texts
    if script.builtin or options.shared.script is None or not study.workloads[0].changes_data:
        return
    if Path(options.shared.script).is_file() and "changes_data" not in options.keys:
        session.console.say(
            f"{script.name} is taken to change data: each trial begins with a fresh copy of them;"
            " if it only reads, --set changes_data=no saves that"
        )
