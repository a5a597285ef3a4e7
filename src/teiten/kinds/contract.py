"""What a kind of workload must say, stage by stage; a folder that says it is a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from teiten.kinds.registry import Stage, kind, offers
from teiten.model.metrics import Metric
from teiten.model.study import Workload, WorkloadOptions

if TYPE_CHECKING:
    from teiten.analysis.model.measured import Measured
    from teiten.study.place import Place
    from teiten.study.schema import WorkloadTable


class KindPlan(ABC):
    """A kind in the stages before anything runs; ``kinds/KIND/plan.py`` holds one as ``PLAN``."""

    metrics: ClassVar[tuple[Metric, ...]]
    """What a trial of the kind has one number of each of; the first one is judged."""
    contrasted: ClassVar[tuple[str, ...]]
    """The names of those that get verdicts, the judged one first; also the machine's."""
    options: ClassVar[type[WorkloadOptions]] = WorkloadOptions
    """The class of a workload's options."""
    table: ClassVar[type[WorkloadTable]]
    """The keys that may stand in ``[[workloads]]``."""
    told_by: ClassVar[str | None] = None
    """The key that tells the kind of a workload that names none."""
    changeable: ClassVar[tuple[str, ...]] = ()
    """Which of the kind's own keys profiles and ``--set`` may change, for all workloads or one."""

    @abstractmethod
    def options_of(self, place: Place, table: WorkloadTable) -> WorkloadOptions:
        """A workload's options from its table.

        Raises what ``place.error`` makes: the keys contradict, or a file is not there.
        """


def plan_of(name: str) -> KindPlan:
    """What a kind says to the stages before anything runs. Raises KeyError for an unknown one."""
    found = kind(name, Stage.PLAN).PLAN
    assert isinstance(found, KindPlan), f"kinds/{name}/plan.py holds no KindPlan"
    return found


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
    """A kind where trials are analysed; ``kinds/KIND/analyse.py`` holds one as ``ANALYSIS``.

    A kind without that file has verdicts, and no further results.
    """

    by_pgbench: ClassVar[bool] = False
    """Its numbers depend on the version of the campaign's pgbench."""

    def results(self, measured: Measured) -> object:  # noqa: ARG002
        """What is found beside verdicts: the kind's own values."""
        return None

    def identity(self, workload: Workload) -> dict[str, Any]:
        """What makes a workload the same work in another campaign, as JSON."""
        return {"texts": [[one.name, one.text] for one in workload.options.texts]}

    def unlike(self, a: Workload, b: Workload) -> Iterator[Unlike]:
        """What two workloads of the kind must have in common to be compared."""
        same = self.identity(a) == self.identity(b)
        yield Unlike("script", a.options.source, a.options.source if same else b.options.source)


def analysis_of(name: str) -> KindAnalysis:
    """What a kind does with its trials. Raises KeyError for an unknown one."""
    if not offers(name, Stage.ANALYSE):
        return KindAnalysis()
    found = kind(name, Stage.ANALYSE).ANALYSIS
    assert isinstance(found, KindAnalysis), f"kinds/{name}/analyse.py holds no KindAnalysis"
    return found
