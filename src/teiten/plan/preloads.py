"""Extensions that a workload loads, and that only some servers have."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.errors import UsageError
from teiten.model.plan import PlannedTrial
from teiten.model.study import Study


def check_preloads(study: Study, trials: Iterable[PlannedTrial]) -> None:
    """Raise UsageError where a server surely lacks an extension that a workload loads."""
    for trial, template in ((one, each) for one in trials for each in one.templates):
        workload, installation = study.workload(trial.cell.workload), template.installation
        missing = [one for one in workload.preload if installation.surely_lacks(one)]
        if missing:
            server = trial.cell.server or installation.name
            raise UsageError(
                f"server {server}: the workload {workload.name} loads the extension {missing[0]},"
                f" which {installation.name} does not have",
                "install the extension there (Debian's packages are named postgresql-17-…), or"
                " leave the workload out: --set workloads=…",
            )
