"""In which state the tables are; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar

from teiten.errors import UsageError
from teiten.factors.contract import FactorRule, Need, WrittenStudy
from teiten.factors.state.states import recipes
from teiten.model.facts import HostFacts
from teiten.model.plan import PlannedTrial, TemplateSpec
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import SERVER, Factor, Study
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

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Layouts and spread tables have states of their own."""
        for excluded in ("layout", "nodes", "placement"):
            if excluded in written.factors:
                raise written.contradiction(
                    ("factors", self.name), f"cannot be varied together with {excluded}"
                )

    def check_trials(self, trials: Iterable[PlannedTrial]) -> None:
        """Autovacuum would end every state but the fresh one within a trial."""
        for trial in trials:
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
