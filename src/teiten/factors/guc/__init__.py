"""One server parameter: ``guc:NAME``."""

from __future__ import annotations

from typing import Any

from teiten.factors.contract import FactorFamily, WrittenStudy
from teiten.model import quantities
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import GUC_PREFIX, Factor
from teiten.study.values import setting_name, setting_value


class Guc(FactorFamily):
    name = GUC_PREFIX
    rank = 90

    def member(self, written: str) -> str:
        return setting_name(written)

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
        return (self.member_of(factor),)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        return setup.with_settings({self.member_of(factor): level})

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """No flag fixes what the factor varies."""
        name = self.member_of(factor.name)
        fixed = written.fixed_settings.get(name)
        if fixed is not None:
            raise written.contradiction(
                ("settings", name, "value"),
                f"fixes {name} to {fixed}, but the factor {factor.name} varies it"
                f" ({', '.join(factor.levels)})",
            )


FACTOR = Guc()
