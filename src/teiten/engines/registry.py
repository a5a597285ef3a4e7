"""The engines that there are, found by their files."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from teiten import engines
from teiten.engines.contract import Engine

_ROOMS = ("contract", "counters", "registry")
DEFAULT = "postgres_fdw"
"""Every installation with contrib modules has it."""


@cache
def names() -> tuple[str, ...]:
    """The names of all engines, sorted."""
    modules = (module.name for module in pkgutil.iter_modules(engines.__path__))
    return tuple(sorted(name for name in modules if name not in _ROOMS))


@cache
def engine_of(name: str) -> Engine:
    """Raises KeyError where there is no such engine."""
    if name not in names():
        raise KeyError(name)
    engine = importlib.import_module(f"{engines.__name__}.{name}").ENGINE
    assert isinstance(engine, Engine), f"engines/{name}.py holds no Engine"
    return engine
