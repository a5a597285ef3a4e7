"""In which state the tables are; pure."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from teiten.errors import UsageError
from teiten.factors.contract import FactorRule, Need
from teiten.model.facts import HostFacts
from teiten.model.plan import PlannedTrial, TemplateSpec
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import SERVER, Study, TableState
from teiten.model.units import Share
from teiten.study.values import one_of

FRESH = "fresh"
OF_BOTH = ("pg_controldata", "pg_ctl", "pg_resetwal", "postgres")
OF_NEW = ("initdb", "pg_dump", "pg_dumpall", "pg_restore", "pg_upgrade", "psql", "vacuumdb")
"""Programs of both sides, and of the new one, that pg_upgrade needs (exec.c)."""


class TableStateFactor(FactorRule):
    name = "state"
    rank = 80
    of_server = False
    of_data = True
    not_with = ("layout", "nodes", "placement")
    """They have states of their own."""
    needs: ClassVar[frozenset[Need]] = frozenset({Need.START, Need.HERE})

    def level(self, value: Any) -> str:
        return one_of(value, tuple(recipes()))

    def sized(self, study: Study, facts: HostFacts) -> Study:
        """Where readers change a state, each trial of the study begins with a new copy: of all
        states, so that they are compared alike."""
        levels = study.levels(self.name)
        return replace(study, read_anew=any(recipes()[level].read_anew for level in levels))

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        is_first = cell.cell.server in cell.study.levels(SERVER)[:1]
        recipe = recipes()[FRESH if recipes()[level].upgraded and is_first else level]
        kept = setup.with_settings(dict(recipe.settings))
        return replace(kept, data=replace(kept.data, state=recipe.state))

    def check_trial(self, trial: PlannedTrial) -> None:
        """Autovacuum would end every state but the fresh one within a trial."""
        _check_upgrade(trial.template)
        state = trial.template.data.state
        vacuums = dict(trial.settings).get("autovacuum", "on") not in ("off", "false", "0")
        if state is not None and state.recipe and vacuums:
            raise UsageError(
                f"the state {state.level} does not last with autovacuum, which is on",
                "switch it off: --guc autovacuum=off",
            )


def _check_upgrade(template: TemplateSpec) -> None:
    """Raise UsageError where pg_upgrade cannot be run."""
    new, old, state = template.installation, template.origin, template.data.state
    if old is None or state is None:
        return
    without = "leave it out: --set state=fresh"
    if old.version > new.version:
        raise UsageError(
            f"the state {state.level}: {old.name}, the first server, is newer than {new.name}",
            f"name the old server first, or {without}",
        )
    for server, programs in ((old, OF_BOTH), (new, (*OF_BOTH, *OF_NEW))):
        lacking = [name for name in programs if server.surely_lacks_program(name)]
        if lacking:
            raise UsageError(
                f"the state {state.level} needs pg_upgrade, and {server.name} has no {lacking[0]}",
                "take servers with all programs (Debian's packages, builds from source, PyPI's"
                f" wheels as wheel:16), or {without}",
            )


FACTOR = TableStateFactor()


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
            (step.get("sql") or (FOLDER / step["file"]).read_text(encoding="utf-8"), number)
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
