"""A study whose way is left open: paired transactions where they can be had, else why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from teiten.cli.console import Console
from teiten.errors import MachineError, WayError
from teiten.execute.client.paired import is_built
from teiten.model.study import Study
from teiten.ways.registry import PREFERRED

NOT_BUILT = "the native part of Teiten, which has their generator, is not here (make native)"
Plan = TypeVar("Plan")


def paired_plan(console: Console, study: Study, plan: Callable[[Study], Plan]) -> Plan | None:
    """The plan of a study in paired transactions; None where these cannot be had, which is said.

    ``plan``: how a study is planned.
    """
    if not is_built():
        reason = NOT_BUILT
    else:
        try:
            return plan(replace(study, measure=replace(study.measure, way=PREFERRED)))
        except (WayError, MachineError) as error:
            reason = error.message
    console.say(f"one side at a time, no paired transactions: {reason}")
    return None
