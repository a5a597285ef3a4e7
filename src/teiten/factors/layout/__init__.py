"""Layouts of one set of rows; each workload says which layouts its tables may have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from teiten.errors import UsageError
from teiten.factors.contract import FactorRule, WrittenStudy
from teiten.model.plan import PlannedTrial
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Factor, Workload
from teiten.suggest import did_you_mean


class LayoutFactor(FactorRule):
    name = "layout"
    rank = 70
    of_data = True
    of_workloads = True

    def applies(self, workload: Workload) -> bool:
        return bool(workload.layouts)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        layout = cell.workload.layout(level)
        return replace(setup, data=replace(setup.data, layout=layout))

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Every level is one of the workload's layouts."""
        if not any(workload.layouts for workload in written.workloads):
            raise written.error(
                ("factors", self.name),
                "no workload has layouts",
                'write [workloads.data.layouts] with NAME = ["file.sql"] lines, or --set'
                " data.layouts.NAME=file.sql",
            )
        for workload in written.workloads:
            levels = workload.own_levels(self.name) or factor.levels
            self._check_workload(written, levels, workload)

    def _check_workload(
        self, written: WrittenStudy, levels: Sequence[str], workload: Workload
    ) -> None:
        known = [layout.name for layout in workload.layouts]
        if written.contrast == self.name and not known:
            raise written.error(
                ("study", "contrast"),
                f"layouts are contrasted, and the workload {workload.name} has none",
                "leave the workload out, or give it layouts: --set data.layouts.NAME=file.sql",
            )
        for level in levels if known else ():
            if level not in known:
                raise written.error(
                    ("factors", self.name),
                    f"the workload {workload.name} has no layout {level!r}."
                    f"{did_you_mean(level, known)}",
                    f"it has {', '.join(known)}; scripts for it: --set"
                    f" data.layouts.{level}=file.sql",
                )

    def check_trial(self, trial: PlannedTrial) -> None:
        """Some layouts need a server that is new enough."""
        for template in trial.templates:
            layout, installation = template.data.layout, template.installation
            if layout is None or layout.needs is None:
                continue
            server = trial.cell.server or installation.name
            if installation.version.number < layout.needs * 10_000:
                raise UsageError(
                    f"server {server}: the layout {layout.name} needs PostgreSQL {layout.needs} or"
                    f" later, and this is {installation.version}",
                    "choose later servers, or other layouts: --set layout=…",
                )


FACTOR = LayoutFactor()
