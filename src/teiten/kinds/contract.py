"""What a kind of workload must say, stage by stage; a folder that says it is a kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from teiten.kinds.registry import Stage, kind
from teiten.model.metrics import Metric
from teiten.model.study import WorkloadOptions

if TYPE_CHECKING:
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
