"""The memory that a server, its load generator and the page cache of their files have together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from teiten.model.plan import Plan, PlannedTrial
from teiten.model.quantities import is_share, parse_size
from teiten.model.setup import level_of
from teiten.model.study import GUC_PREFIX, Study
from teiten.model.trial import Event
from teiten.model.units import Bytes

MACHINE = "machine"
"""In the place of a limit: all that the machine has."""
SHARED_BUFFERS = "shared_buffers"
"""The parameter that may be a share of the memory."""
LIMIT_CHECKED = "memory-limit"
"""The event that holds what a check of a limit came to."""


def memory_of(study: Study, trial: PlannedTrial | None = None) -> Bytes:
    """The memory in force: the limit of a trial (without one: the study's), else the machine's.
    Where nodes are emulated with memory of their own: one node's.

    The study must be sized.
    """
    memory = memory_in_force(study, study.measure.memory if trial is None else trial.memory_limit)
    if memory is None:
        raise RuntimeError("the memory of the machine is known once a study is sized")
    return memory


def memory_in_force(study: Study, limit: Bytes | None) -> Bytes | None:
    """The memory of one server under a limit, if any; None where the machine's is not known."""
    of_node = None if study.nodes is None else study.nodes.memory_in_force
    return limit or of_node or study.machine_memory


def checked_limits(events: Iterable[Event]) -> dict[Bytes, dict[str, Any]]:
    """By limit of memory that was seen to hold: what reading a larger file inside of it came to."""
    return {
        event.detail["memory"]: event.detail
        for event in events
        if event.kind == LIMIT_CHECKED and "memory" in event.detail
    }


def shares_of(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The shares of memory that the plan's servers have as shared_buffers, as they are written,
    and what each comes to: one size for each memory, the smallest first."""
    sizes: dict[str, set[str]] = {}
    for trial in plan.trials:
        written = _written(plan.study, trial)
        if written is not None and is_share(written):
            value = dict(trial.settings).get(SHARED_BUFFERS)
            if value is not None:  # an attached server keeps its own
                sizes.setdefault(written, set()).add(value)
    return {share: tuple(sorted(values, key=parse_size)) for share, values in sizes.items()}


def _written(study: Study, trial: PlannedTrial) -> str | None:
    """A trial's shared_buffers as the study writes them, in whichever table."""
    chosen = level_of(study, trial.cell, "parameters")
    of_set = dict(study.parameter_set(chosen).settings) if chosen else {}
    written = level_of(study, trial.cell, GUC_PREFIX + SHARED_BUFFERS)
    known = {**study.fixed_settings, **of_set}.get(SHARED_BUFFERS)
    return known if written is None else written
