"""The kinds of workloads that there are, found by their folders; a stage loads its own file only.

A stage reaches a kind through this room alone, so that no other line names one.
"""

from __future__ import annotations

import importlib.util
import pkgutil
from enum import StrEnum
from functools import cache
from types import ModuleType

from teiten import kinds


class Stage(StrEnum):
    """The files of a kind's folder."""

    PLAN = "plan"
    """Pure: keys in the study file, metrics, factors, cost, what a site lacks, steps."""
    RUN = "run"
    """The load itself."""
    ANALYSE = "analyse"
    """From trials to the kind's own results."""
    PRESENT = "present"
    """The results as blocks of a report."""
    CLAIMS = "claims"
    """Predicates of published findings: their form, their question, their words."""


@cache
def names() -> tuple[str, ...]:
    """The names of all kinds, sorted."""
    return tuple(
        sorted(folder.name for folder in pkgutil.iter_modules(kinds.__path__) if folder.ispkg)
    )


@cache
def kind(name: str, stage: Stage) -> ModuleType:
    """The file of a kind for a stage; imported when it is first asked for.

    Raises KeyError where there is no kind of this name.
    """
    if name not in names():
        raise KeyError(name)
    return importlib.import_module(f"{kinds.__name__}.{name}.{stage}")


def offers(name: str, stage: Stage) -> bool:
    """Whether a kind has a file for a stage: one that adds nothing there needs none."""
    return importlib.util.find_spec(f"{kinds.__name__}.{name}.{stage}") is not None
