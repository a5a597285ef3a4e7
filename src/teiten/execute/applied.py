"""Levels of factors that are applied to a server as it starts, and read back once it runs.

A factor that the operating system knows says in ``factors/NAME/run.py`` how: ``APPLIED`` holds an
``AppliedFactor``. Teiten starts such servers itself, on this machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from teiten.factors.registry import FactorStage, stage_of

Levels = Sequence[tuple[str, str]]
"""Factors and their levels (``model.plan.Conditions.applied``)."""


class AppliedFactor(ABC):
    """A factor that is applied to a server's postmaster and inherited by all of its processes."""

    @abstractmethod
    def command(self, level: str) -> tuple[str, ...]:
        """The program, and its arguments, that replaces itself with the server's own command under
        a level: ``nice -n 5``. Empty where nothing is changed."""

    @abstractmethod
    def confirm(self, level: str, postmaster: int) -> Any:
        """The value that the kernel has for a process, in a form for JSON.

        Raises ServerError where it is not that of the level: the trial would measure another one.
        """


def command_of(levels: Levels) -> tuple[str, ...]:
    """The programs of all levels, each of which starts the next one."""
    return tuple(part for factor, level in levels for part in _applied(factor).command(level))


def confirmed(levels: Levels, postmaster: int) -> dict[str, Any]:
    """The value of each factor as the kernel has it, for a trial's facts. Raises as ``confirm``."""
    return {factor: _applied(factor).confirm(level, postmaster) for factor, level in levels}


def _applied(factor: str) -> AppliedFactor:
    applied = stage_of(factor, FactorStage.RUN).APPLIED
    assert isinstance(applied, AppliedFactor), f"factors/{factor}/run.py holds no AppliedFactor"
    return applied
