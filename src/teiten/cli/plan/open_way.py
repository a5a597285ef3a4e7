"""A study that prefers a way of paired transactions: that one where it can be had, else why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from teiten.cli.console import Console
from teiten.errors import MachineError, WayError
from teiten.execute.client.paired import is_built
from teiten.host.facts.native_part import NativePart, how_to_get, native_part
from teiten.model.study import Study
from teiten.ways.registry import rules

NOT_BUILT = "the native part of Teiten, which has their generator, is not here"
OF_TWO_SIDES = "the native part is of an earlier Teiten, and loads two servers at the most"
IN_TURN = "one side at a time, no paired transactions"
Plan = TypeVar("Plan")


def paired_plan(
    console: Console, study: Study, plan: Callable[[Study], Plan], way: str
) -> Plan | None:
    """The plan of a study in a way of paired transactions; None where it cannot be had, which is
    said.

    ``plan``: how a study is planned.
    """
    missing = missing_for_pairs(study)
    if missing is not None:
        console.warn(f"{IN_TURN}, slower and less conclusive: {missing}", how_to_get())
        return None
    try:
        return plan(_in_way(study, way))
    except (WayError, MachineError) as error:
        console.say(f"{IN_TURN}: {error.message}")
        return None


def _in_way(study: Study, way: str) -> Study:
    preferred = study.measure.preferred
    own = replace(study.measure, way=way)
    if preferred is not None and preferred.name == way:
        own = replace(own, sequential=preferred.sequential)
    return replace(study, measure=own)


def missing_for_pairs(study: Study) -> str | None:
    """Things that the native part lacks for a study."""
    preferred = study.measure.preferred
    if preferred is not None and not rules()[preferred.name].concurrent:
        return None
    if not is_built():
        return NOT_BUILT
    several = len(study.contrasted_levels) > 2
    return OF_TWO_SIDES if several and native_part() is NativePart.OLD else None
