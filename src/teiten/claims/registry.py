"""The predicates that there are, found by their files and by the kinds of workloads."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from inspect import isabstract
from types import ModuleType

from teiten.analysis.model.predicate import Predicate
from teiten.claims import predicates
from teiten.kinds.registry import Stage, kind, names, offers


def known() -> tuple[type[Predicate], ...]:
    """Those of every study first, then those of each kind of workload."""
    shared = (
        each for one in pkgutil.iter_modules(predicates.__path__) for each in _of_file(one.name)
    )
    of_kinds = (each for module in _of_kinds() for each in module.PREDICATES)
    return (*shared, *of_kinds)


def measures() -> tuple[str, ...]:
    """List the measures, as in ``MEASURE:OF``, that kinds of workloads take from the evidence of
    their trials."""
    return tuple(one for module in _of_kinds() for one in getattr(module, "MEASURES", ()))


def _of_file(name: str) -> Iterator[type[Predicate]]:
    module = importlib.import_module(f"{predicates.__name__}.{name}")
    for one in vars(module).values():
        is_one = isinstance(one, type) and issubclass(one, Predicate) and not isabstract(one)
        if is_one and one.__module__ == module.__name__:
            yield one


def _of_kinds() -> Iterator[ModuleType]:
    """The files of the kinds that have predicates of their own."""
    return (kind(name, Stage.CLAIMS) for name in names() if offers(name, Stage.CLAIMS))
