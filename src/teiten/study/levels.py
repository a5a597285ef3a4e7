"""Factors with their levels, each read to its canonical form by the factor itself.

As in ``values``: ValueError holds a sentence that completes "KEY: …".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from teiten.factors.registry import factor_name, rule
from teiten.study.references import reference
from teiten.study.values import AUTO


def levels(factor: str, value: Any) -> tuple[str, ...]:
    """A factor's levels in canonical form; empty for ``auto``.

    One value stands for a list of one.
    """
    if rule(factor).automatic and value == AUTO:
        return ()
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values:
        raise ValueError("needs at least one level")
    result = tuple(rule(factor).level(each) for each in values)
    _refuse_repeated(factor, result)
    return result


@dataclass(frozen=True)
class ServerAlias:
    """A server, and the levels of other factors that belong to it, for which an alias stands."""

    server: str
    levels: tuple[tuple[str, str], ...] = ()


def server_alias(value: Any) -> ServerAlias:
    """``17``, or a table ``{ server = "17", checksums = "on", "guc:work_mem" = "64MB" }``."""
    if not isinstance(value, dict):
        return ServerAlias(reference(value))
    if "server" not in value:
        raise ValueError('a table needs the key server, for example { server = "18" }')
    found: dict[str, str] = {}
    for key, level in value.items():
        if key == "server":
            continue
        factor = factor_name(key)
        if not rule(factor).of_server:
            raise ValueError(f"{factor} cannot belong to a server's alias")
        found[factor] = rule(factor).level(level)
    return ServerAlias(reference(value["server"]), tuple(found.items()))


def _refuse_repeated(factor: str, found: Sequence[str]) -> None:
    seen: dict[object, str] = {}
    for level in found:
        key = rule(factor).compared(level)
        if key in seen:
            same = "" if seen[key] == level else f" (the same as {seen[key]})"
            raise ValueError(f"the level {level}{same} stands there twice")
        seen[key] = level
