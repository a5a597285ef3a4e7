"""Sets of server parameters that are varied together."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.factors.contract import FactorRule, WrittenStudy
from teiten.factors.registry import rule
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Factor, Study
from teiten.suggest import did_you_mean


class Parameters(FactorRule):
    name = "parameters"
    rank = 80
    of_server = False

    def set_parameters(self, study: Study, factor: str) -> Iterable[str]:
        return (name for parameter in study.parameters for name, _ in parameter.settings)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        return setup.with_settings(dict(cell.study.parameter_set(level).settings))

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Every level is a set of the study file, and sets nothing that something else varies."""
        for level in factor.levels:
            if level not in written.parameters:
                known = ", ".join(written.parameters) or "none"
                near = did_you_mean(level, written.parameters)
                raise written.error(
                    ("factors", self.name),
                    f"there is no set of parameters {level!r}.{near}",
                    f"the study file has {known}; write [parameters.{level}] with NAME = VALUE"
                    " lines",
                )
            self._check_set(written, level)

    def _check_set(self, written: WrittenStudy, level: str) -> None:
        varied = {
            name: factor for factor in written.factors for name in rule(factor).parameters(factor)
        }
        for name in written.parameters[level]:
            if name in varied:
                raise written.contradiction(
                    ("parameters", level, name),
                    f"sets {name}, and the factor {varied[name]} varies it",
                )
            if name in written.fixed_settings:
                raise written.error(
                    ("settings", name, "value"),
                    f"fixes {name}, and the set of parameters {level} sets it",
                    f"leave out one of the two; the sets in use: --set {self.name}=…",
                )


FACTOR = Parameters()
