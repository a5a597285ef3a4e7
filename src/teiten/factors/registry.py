"""The factors that there are, found by their files; study and plan reach one through this room."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from teiten import factors
from teiten.factors.contract import FactorRule
from teiten.suggest import did_you_mean


@cache
def folders() -> tuple[str, ...]:
    """The names of all factors' folders, sorted."""
    inside = pkgutil.iter_modules(factors.__path__)
    return tuple(sorted(module.name for module in inside if module.ispkg))


@cache
def rules() -> tuple[FactorRule, ...]:
    """All factors, in the order in which they are listed, and their levels applied."""
    files = (importlib.import_module(f"{factors.__name__}.{name}.plan") for name in folders())
    rules = [file.FACTOR for file in files]
    assert all(isinstance(rule, FactorRule) for rule in rules)
    return tuple(sorted(rules, key=lambda rule: (rule.rank, rule.name)))


def rule(factor: str) -> FactorRule:
    """What holds for a factor, by its full name. Raises KeyError where there is none."""
    for one in rules():
        if one.includes(factor):
            return one
    raise KeyError(factor)


def factor_name(value: object) -> str:
    """The name of a factor as it was written, in its full form. Raises ValueError."""
    text = str(value)
    found = (one.full_name(text) for one in rules())
    full = next((name for name in found if name is not None), None)
    if full is not None:
        return full
    known = tuple(one.form for one in rules())
    near = did_you_mean(text, known)
    raise ValueError(f"{value!r} is not a factor.{near} Known: {', '.join(known)}")


def plain_names() -> tuple[str, ...]:
    """The names of all factors that have one name."""
    return tuple(one.name for one in rules() if one.form == one.name)
