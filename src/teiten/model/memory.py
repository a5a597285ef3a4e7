"""The memory that a server, its load generator and the page cache of their files have together."""

from __future__ import annotations

from teiten.model.plan import PlannedTrial
from teiten.model.study import Study
from teiten.model.units import Bytes


def memory_of(study: Study, trial: PlannedTrial | None = None) -> Bytes:
    """The memory in force: the limit of a trial (without one: the study's), else the machine's.

    The study must be sized.
    """
    limit = study.measure.memory if trial is None else trial.memory_limit
    found = study.machine_memory if limit is None else limit
    if found is None:
        raise RuntimeError("the memory of the machine is known once a study is sized")
    return found
