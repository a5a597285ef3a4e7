"""The kinds of data sets that there are, found by their folders, as ``kinds.registry`` has it."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from teiten import datasets


@cache
def names() -> tuple[str, ...]:
    """The names of all kinds of data sets, sorted."""
    inside = pkgutil.iter_modules(datasets.__path__)
    return tuple(sorted(module.name for module in inside if module.ispkg))


@cache
def dataset(name: str, file: str) -> ModuleType:
    """A file of a data set's folder, such as ``fill``; imported when it is first asked for.

    Raises KeyError where there is no data set of this name.
    """
    if name not in names():
        raise KeyError(name)
    return importlib.import_module(f"{datasets.__name__}.{name}.{file}")
