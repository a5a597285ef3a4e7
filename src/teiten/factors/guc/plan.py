"""One server parameter: ``guc:NAME``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teiten.factors.contract import FactorRule, WrittenStudy
from teiten.model import quantities
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import GUC_PREFIX, Factor, Workload
from teiten.study.parameters import setting_name, setting_value


class Guc(FactorRule):
    name = GUC_PREFIX
    rank = 90

    @property
    def form(self) -> str:
        return f"{GUC_PREFIX}NAME"

    def full_name(self, written: str) -> str | None:
        if not written.startswith(GUC_PREFIX):
            return None
        return GUC_PREFIX + setting_name(written.removeprefix(GUC_PREFIX))

    def includes(self, factor: str) -> bool:
        return factor.startswith(GUC_PREFIX)

    def level(self, value: Any) -> str:
        return setting_value(value)

    def compared(self, level: str) -> object:
        """``1GB`` and ``1024MB`` are the same, and ``25%`` and ``25.0%``."""
        if quantities.is_share(level):
            return quantities.parse_share(level)
        try:
            return int(quantities.parse_size(level)) if level[-1:] in "Bb" else level.lower()
        except ValueError:
            return level.lower()

    def parameters(self, factor: str) -> tuple[str, ...]:
        return (factor.removeprefix(GUC_PREFIX),)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        return setup.with_settings({factor.removeprefix(GUC_PREFIX): level})

    def check_study(
        self, written: WrittenStudy, factor: Factor, workloads: Sequence[Workload]
    ) -> None:
        """No flag fixes what the factor varies."""
        name = factor.name.removeprefix(GUC_PREFIX)
        fixed = written.fixed_settings.get(name)
        if fixed is not None:
            raise written.error(
                ("settings", name, "value"),
                f"fixes {name} to {fixed}, but the factor {factor.name} varies it"
                f" ({', '.join(factor.levels)})",
                "leave out one of the two",
            )


FACTOR = Guc()
