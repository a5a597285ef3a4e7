"""A kind of workload where trials are analysed; ``kinds/KIND/analyse.py`` says it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from teiten.analysis.model.measured import Measured
from teiten.kinds.registry import Stage, kind, offers
from teiten.model.plan import PlannedTrial
from teiten.model.study import Workload


@dataclass(frozen=True)
class Unlike:
    """What two campaigns' workloads of one name have; ``code`` has a text in the reports."""

    code: str
    here: object
    there: object
    """As ``here`` where it is the same."""
    subject: str = ""
    """What of the workload it is about; empty for the whole."""


class KindAnalysis:
    """The analysis of a kind; ``kinds/KIND/analyse.py`` holds one as ``ANALYSIS``.

    A kind without that file has verdicts, and no further results.
    """

    by_pgbench: ClassVar[bool] = False
    """Its numbers depend on the version of the campaign's pgbench."""

    def results(self, measured: Measured) -> object:
        """What is found beside verdicts: the kind's own values."""
        return None

    def identity(self, workload: Workload) -> dict[str, Any]:
        """What makes a workload the same work in another campaign, as JSON."""
        return {"texts": [[text.name, text.text] for text in workload.options.texts]}

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        """What two workloads of the kind must have in common to be compared."""
        same = self.identity(a) == self.identity(b)
        yield Unlike("script", a.options.source, a.options.source if same else b.options.source)

    def unlike_trials(self, a: PlannedTrial, b: PlannedTrial) -> Iterator[Unlike]:
        """What two trials of one cell should have in common; it is a caution where they do not."""
        return iter(())


def analysis_of(name: str) -> KindAnalysis:
    """What a kind does with its trials. Raises KeyError for an unknown one."""
    if not offers(name, Stage.ANALYSE):
        return KindAnalysis()
    found = kind(name, Stage.ANALYSE).ANALYSIS
    assert isinstance(found, KindAnalysis), f"kinds/{name}/analyse.py holds no KindAnalysis"
    return found
