"""The options that ``ab``, ``null`` and ``gate`` share (CLI.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from teiten.analysis.model.replication import Replication
from teiten.cli.main import Session
from teiten.cli.plan.conf_file import CONF, with_conf
from teiten.cli.plan.flags import Flag, renamed, repeating, with_flags
from teiten.cli.plan.options import (
    ALPHA,
    BLOCKS,
    BUDGET,
    DELTA,
    FLAME_GRAPH,
    GUC,
    HOSTS,
    NAME,
    PROFILE,
    SEED,
    SET,
    YES,
    with_hosts,
)
from teiten.errors import MachineError
from teiten.host.facts.machine import read_host_facts
from teiten.model.study import Study
from teiten.study.sides import Shared, SideFlags
from teiten.ways.registry import rules


@dataclass(frozen=True)
class SharedOptions:
    """The options that ``ab``, ``null`` and ``gate`` share, as they were written."""

    shared: Shared = field(default_factory=Shared)
    seed: int | None = None
    name: str | None = None
    yes: bool = False

    @property
    def fixes_slices(self) -> bool:
        """Whether the number of slices was asked for, even where that is 1."""
        shared = self.shared
        return shared.slices is not None or bool(shared.keys & {"slices", "measure.slices"})

    @property
    def fixes_way(self) -> bool:
        """Whether the way was asked for."""
        shared = self.shared
        return shared.way is not None or bool(shared.keys & {"way", "measure.way"})

    def with_way(self, way: str) -> SharedOptions:
        """With the way in which the sides are loaded, so that a command line repeats it."""
        return replace(self, shared=replace(self.shared, way=way))

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
        return repeating((SCRIPT, *FLAGS), lambda name: getattr(self.shared, name, None))


LEAST_ROUNDS = 6
"""Nothing is decided before the sixth number (METHOD.md, When to stop)."""
OFFERED = {rule.name: rule.of_two_sides for rule in rules().values() if rule.of_two_sides}
WAY = Flag(
    "--way",
    "way",
    "; ".join(f"{name}: {what}" for name, what in OFFERED.items()) + ".",
    "WAY",
    type=click.Choice(list(OFFERED)),
)
SCRIPT = Flag(
    "--script",
    "script",
    "A file, or read (the default), update, tpcb-like, simple-update, select-only.",
    "SCRIPT",
)
FLAGS = (
    Flag("--clients", "clients", "Clients; by default as many as cores.", "N"),
    PROFILE.of(help="Size: quick, standard (the default) or published."),
    Flag("--duration", "duration", "Measured time of a trial; else chosen.", "TIME"),
    Flag(
        "--slices",
        "slices",
        "Cut trials into slices that both sides, which stay up, run in turn.",
        "N",
        type=click.IntRange(1, 100),
    ),
    WAY,
    BUDGET.of(help="What the campaign may take, for example 30m."),
    BLOCKS.of(help="No more pairs than these.", type=click.IntRange(2, 5000)),
    Flag(
        "--rounds",
        "rounds",
        "No more pairs than these, each with new copies of the data.",
        "N",
        type=click.IntRange(LEAST_ROUNDS, 5000),
    ),
    FLAME_GRAPH,
    DELTA,
    ALPHA,
    SET.of(help="Change a key of the study."),
    GUC.of(help="Set a parameter on both sides."),
    CONF,
    SEED.of(help="Repeat an order.", repeats=False),
    NAME,
    *HOSTS,
    YES,
)


def words_of_sides(sides: Iterable[SideFlags]) -> list[str]:
    """The words of a command line that give the flags of single sides again."""
    words = []
    for side in sides:
        words += repeated(f"--guc-{side.letter}", side.gucs)
        words += repeated(f"--set-{side.letter}", side.overrides)
    return words


def repeated(flag: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (flag, value)]


@contextmanager
def flags_of_sides(sides: Sequence[SideFlags]) -> Iterator[None]:
    """A machine that does not suffice for a parameter of one side: its flag is named."""
    try:
        yield
    except MachineError as error:
        hint = error.hint
        for side in reversed(sides):
            for text in side.gucs:
                name = text.partition("=")[0].strip()
                hint = hint.replace(f"--guc {name}=", f"--guc-{side.letter} {name}=")
        raise type(error)(error.message, hint) from error


def pair_options(function: Any) -> Any:
    """Give a verb the options of ``SharedOptions``."""
    return renamed("--workload", SCRIPT.name)(with_flags((SCRIPT, *FLAGS), function))


def shared_options(session: Session, given: dict[str, Any]) -> SharedOptions:
    """The options from what click gave; takes them out of ``given``."""
    seed, name, yes = given.pop("seed"), given.pop("name"), given.pop("yes")
    chosen = {key: given.pop(key) for key in Shared.__dataclass_fields__ if key in given}
    chosen["gucs"] = with_conf(chosen["gucs"], given)
    chosen["overrides"] = with_hosts(chosen["overrides"], given)
    shared = Shared(**chosen)
    if shared.clients is None and not shared.keys & {"clients", "factors.clients"}:
        cores = read_host_facts(session.workdir.root).cpu.logical
        shared = replace(shared, clients=str(cores))
    return SharedOptions(shared, seed, name, yes)


def tell_of_changed_data(session: Session, study: Study, options: SharedOptions) -> None:
    """Say what it costs that nobody knows whether a script of one's own only reads."""
    shared = options.shared
    if study.measure.rounds or "changes_data" in shared.keys:
        return
    if any(Path(script).is_file() for script in shared.scripts):
        for workload in study.workloads:
            for script in workload.options.texts if workload.changes_data else ():
                session.console.say(
                    f"{script.name} is taken to change data: each trial begins with a fresh copy of"
                    " them; if it only reads, --set changes_data=no saves that"
                )
