"""The options that ``ab``, ``null`` and ``gate`` share (CLI.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from teiten.analysis.model.replication import Replication
from teiten.cli.main import Session
from teiten.cli.parameters import Flag, renamed, repeating, with_flags, with_keys
from teiten.cli.plan.options import (
    ALPHA,
    BLOCKS,
    BUDGET,
    CONF,
    DELTA,
    FLAME_GRAPH,
    GUC,
    HOSTS,
    NAME,
    PROFILE,
    SEED,
    SET,
    YES,
    with_conf,
)
from teiten.errors import MachineError, UsageError
from teiten.host.facts.machine import read_host_facts
from teiten.model.study import Study
from teiten.study.sides import Shared, SideFlags
from teiten.ways.registry import rules


@dataclass(frozen=True)
class SharedOptions(Shared):
    """The options that ``ab``, ``null`` and ``gate`` share, as they were written."""

    seed: int | None = None
    name: str | None = None
    yes: bool = False

    @property
    def fixes_slices(self) -> bool:
        """Whether the number of slices was asked for, even where that is 1."""
        return self.slices is not None or bool(self.keys & {"slices", "measure.slices"})

    @property
    def fixes_way(self) -> bool:
        """Whether the way was asked for."""
        return self.way is not None or bool(self.keys & {"way", "measure.way"})

    def with_chosen(self, chosen: Replication | None) -> SharedOptions:
        """Add the length of trials that was chosen, so that a command line repeats it."""
        if chosen is None:
            return self
        overrides = tuple(self.overrides)
        if chosen.restart_every > 1:
            overrides = (*overrides, f"restart_every={chosen.restart_every}")
        duration = f"{chosen.duration:g}s"
        return replace(self, duration=duration, slices=chosen.slices, overrides=overrides)

    def as_arguments(self) -> list[str]:
        """The options as a command line that repeats them; without name and seed."""
        return repeating((SCRIPT, *FLAGS), lambda name: getattr(self, name, None))


LEAST_ROUNDS = 6
"""Nothing is decided before the sixth number (METHOD.md, When to stop)."""
OFFERED = {rule.name: rule.of_two_sides for rule in rules().values() if rule.of_two_sides}
WAY = Flag(
    "--way",
    "; ".join(f"{name}: {what}" for name, what in OFFERED.items()) + ".",
    "WAY",
    type=click.Choice(list(OFFERED)),
)
SCRIPT = Flag(
    "--script",
    "A file, or read (the default), update, tpcb-like, simple-update, select-only.",
    "SCRIPT",
)
CLIENTS = Flag("--clients", "Clients; by default as many as cores.", "N")
DURATION = Flag("--duration", "Measured time of a trial; else chosen.", "TIME")
FLAGS = (
    CLIENTS,
    PROFILE.of(help="Size: quick, standard (the default) or published."),
    DURATION,
    Flag(
        "--slices",
        "Cut trials into slices that both sides, which stay up, run in turn.",
        "N",
        type=click.IntRange(1, 100),
    ),
    WAY,
    BUDGET.of(help="What the campaign may take, for example 30m."),
    BLOCKS.of(help="No more pairs than these.", type=click.IntRange(2, 5000)),
    Flag(
        "--rounds",
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
        for what, values in (("guc", side.gucs), ("set", side.overrides)):
            words += [word for value in values for word in (f"--{what}-{side.letter}", value)]
    return words


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
    chosen = {key: given.pop(key) for key in SharedOptions.__dataclass_fields__ if key in given}
    chosen["gucs"] = with_conf(chosen["gucs"], given)
    chosen["overrides"] = with_keys(FLAGS, chosen["overrides"], given)
    options = SharedOptions(**chosen)
    if options.clients is None and not options.keys & {"clients", "factors.clients"}:
        cores = read_host_facts(session.workdir.root).cpu.logical
        options = replace(options, clients=str(cores))
    return options


def refuse_several_workloads(study: Study, asked: str, hint: str) -> None:
    """Raise UsageError before anything runs where several workloads would share one verdict;
    ``asked``: what has no other."""
    names = [workload.name for workload in study.workloads]
    if len(names) > 1:
        listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        raise UsageError(
            f"{asked} has one verdict, and there are {len(names)} workloads: {listed}", hint
        )


def tell_of_changed_data(session: Session, study: Study, options: SharedOptions) -> None:
    """Say what it costs that nobody knows whether a script of one's own only reads."""
    if study.measure.rounds or "changes_data" in options.keys:
        return
    if any(Path(script).is_file() for script in options.scripts):
        for workload in study.workloads:
            for script in workload.options.texts if workload.changes_data else ():
                session.console.say(
                    f"{script.name} is taken to change data: each trial begins with a fresh copy of"
                    " them; if it only reads, --set changes_data=no saves that"
                )
