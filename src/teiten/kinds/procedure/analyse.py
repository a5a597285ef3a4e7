"""From the trials of procedures to how their times grow with partitions."""

from __future__ import annotations

from teiten.analysis.model.findings import Measured
from teiten.kinds.contract_analyse import KindAnalysis
from teiten.kinds.procedure.growth import growth_of
from teiten.kinds.procedure.results import ProceduresFound


class ProceduresAnalysis(KindAnalysis):
    def results(self, measured: Measured) -> ProceduresFound:
        return growth_of(measured)


ANALYSIS = ProceduresAnalysis()
