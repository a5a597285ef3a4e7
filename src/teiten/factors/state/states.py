"""The levels of the factor state as ``states.toml`` has them."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from teiten.model.study import TableState
from teiten.model.units import Share

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class StateRecipe:
    """How tables come into a state, and by which numbers it is known."""

    name: str
    steps: tuple[tuple[str, int], ...]
    """SQL and its round, in order; each is one simple query outside of a transaction block."""
    settings: tuple[tuple[str, str], ...]
    """Parameters that a server needs to keep the state."""
    size: Share
    read_anew: bool
    """Readers change the state, so that each trial begins with a new copy."""
    upgraded: bool
    """By pg_upgrade of the first server's cluster."""
    confirmed: tuple[tuple[str, float, float], ...]
    """Numbers of ``numbers.sql``, with the least and the most that each may be."""
    before: tuple[tuple[int, tuple[tuple[str, float, float], ...]], ...] = ()
    """Other bounds of servers before a major version."""

    def bounds(self, major: int) -> Mapping[str, tuple[float, float]]:
        """The least and the most of each number, on a server of a major version."""
        older = (bounds for version, bounds in self.before if major < version)
        return {
            key: (least, most) for part in (self.confirmed, *older) for key, least, most in part
        }

    @property
    def state(self) -> TableState:
        """The part of it that plans and ledgers know."""
        digest = hashlib.sha256(repr(self.steps).encode()).hexdigest()[:12]
        recipe = digest if self.steps or self.upgraded else ""
        return TableState("state", self.name, recipe, self.size, self.upgraded)


@cache
def recipes() -> Mapping[str, StateRecipe]:
    """All states, in their order."""
    tables = tomllib.loads((FOLDER / "states.toml").read_text(encoding="utf-8"))
    return {name: _recipe(name, table) for name, table in tables.items()}


def numbers_sql() -> str:
    """The query that counts by what a state is known: one row, a column for each number."""
    return (FOLDER / "numbers.sql").read_text(encoding="utf-8")


def _recipe(name: str, table: Mapping[str, Any]) -> StateRecipe:
    return StateRecipe(
        name,
        tuple(
            (_text(step), number)
            for step in table.get("steps", ())
            for number in range(step.get("rounds", 1))
        ),
        tuple(table.get("settings", {}).items()),
        Share(table.get("size", 1.0)),
        table.get("read_anew", False),
        table.get("upgraded", False),
        _bounds(table["confirmed"]),
        tuple(
            (int(version), _bounds(bounds)) for version, bounds in table.get("before", {}).items()
        ),
    )


def _bounds(table: Mapping[str, Sequence[float]]) -> tuple[tuple[str, float, float], ...]:
    return tuple((key, float(least), float(most)) for key, (least, most) in table.items())


def _text(step: Mapping[str, Any]) -> str:
    return (
        str(step["sql"]) if "sql" in step else (FOLDER / step["file"]).read_text(encoding="utf-8")
    )
