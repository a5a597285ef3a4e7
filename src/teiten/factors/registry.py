"""The factors that there are, found by their folders; other rooms reach one through this room."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from enum import StrEnum
from functools import cache
from types import ModuleType

from teiten import factors
from teiten.factors.contract import FactorRule, Need
from teiten.suggest import did_you_mean

NEEDED_TO_APPLY = frozenset({Need.START, Need.HERE})
"""By factors whose levels are applied as a server starts."""


class FactorStage(StrEnum):
    """The files of a factor's folder beside its rule."""

    RUN = "run"
    """How a level is applied to a server, and read back; only of factors that the operating system
    knows."""
    FILL = "fill"
    """How tables come into the state of a level, and how that is seen."""


@cache
def folders() -> tuple[str, ...]:
    """The names of all factors' folders, sorted."""
    inside = pkgutil.iter_modules(factors.__path__)
    return tuple(sorted(module.name for module in inside if module.ispkg))


@cache
def rules() -> tuple[FactorRule, ...]:
    """All factors, in the order in which they are listed, and their levels applied."""
    return tuple(sorted(_by_folder().values(), key=lambda rule: (rule.rank, rule.name)))


@cache
def _by_folder() -> dict[str, FactorRule]:
    by_folder = {
        name: importlib.import_module(f"{factors.__name__}.{name}").FACTOR for name in folders()
    }
    for name, factor in by_folder.items():
        assert isinstance(factor, FactorRule), f"factors/{name} holds no FactorRule"
        assert not _has(name, FactorStage.RUN) or factor.needs >= NEEDED_TO_APPLY, (
            f"factors/{name} is applied as a server starts, and needs {NEEDED_TO_APPLY}"
        )
    return by_folder


def _has(folder: str, stage: FactorStage) -> bool:
    return importlib.util.find_spec(f"{factors.__name__}.{folder}.{stage}") is not None


def _folder_of(factor: str) -> str:
    for name, rule in _by_folder().items():
        if rule.includes(factor):
            return name
    raise KeyError(factor)


def rule(factor: str) -> FactorRule:
    """The rule of a factor, by its full name. Raises KeyError where there is none."""
    return _by_folder()[_folder_of(factor)]


@cache
def is_applied(factor: str) -> bool:
    """Whether the levels of a factor are applied as a server starts. Raises as ``rule``."""
    return _has(_folder_of(factor), FactorStage.RUN)


def stage_of(factor: str, stage: FactorStage) -> ModuleType:
    """A factor's file for a stage. Raises as ``rule``, ImportError where it has no such file."""
    return importlib.import_module(f"{factors.__name__}.{_folder_of(factor)}.{stage}")


def factor_name(value: object) -> str:
    """The name of a factor as it was written, in its full form. Raises ValueError."""
    text = str(value)
    full_names = (factor.full_name(text) for factor in rules())
    full = next((name for name in full_names if name is not None), None)
    if full is not None:
        return full
    known = tuple(factor.form for factor in rules())
    near = did_you_mean(text, known)
    raise ValueError(f"{value!r} is not a factor.{near} Known: {', '.join(known)}")


def plain_names() -> tuple[str, ...]:
    """The names of all factors that have one name."""
    return tuple(factor.name for factor in rules() if factor.form == factor.name)
