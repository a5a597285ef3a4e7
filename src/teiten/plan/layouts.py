"""What only some servers can have: layouts of data, and extensions that a workload loads."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.errors import UsageError
from teiten.model.plan import PlannedTrial
from teiten.model.study import DataSet, Study


def laid_out(data: DataSet) -> bool:
    """Whether something is done to the tables after they were filled."""
    return data.layout is not None and bool(data.layout.scripts)


def check_layouts(trials: Iterable[PlannedTrial]) -> None:
    """Raise UsageError where a server is too old for the layout of one of its trials."""
    for trial in trials:
        layout, installation = trial.template.data.layout, trial.template.installation
        if layout is None:
            continue
        server = trial.cell.level("server") or installation.name
        if layout.needs is not None and installation.version.number < layout.needs * 10_000:
            raise UsageError(
                f"server {server}: the layout {layout.name} needs PostgreSQL {layout.needs} or"
                f" later, and this is {installation.version}",
                "choose later servers, or other layouts: --set layout=…",
            )
        if layout.scripts and installation.attached is not None:
            raise UsageError(
                f"server {server}: the layout {layout.name} runs scripts on the tables, and this"
                " server is attached",
                "compare layouts on servers that Teiten starts: --servers 18",
            )


def check_preloads(study: Study, trials: Iterable[PlannedTrial]) -> None:
    """Raise UsageError where a server lacks an extension that a workload loads. What a server that
    is built from source will have besides PostgreSQL's own, only its start tells."""
    for trial in trials:
        workload, installation = study.workload(trial.cell.workload), trial.template.installation
        missing = [one for one in workload.preload if one not in installation.contrib]
        if missing and installation.build is None and installation.attached is None:
            server = trial.cell.level("server") or installation.name
            raise UsageError(
                f"server {server}: the workload {workload.name} loads the extension {missing[0]},"
                f" which {installation.name} does not have",
                "install the extension there (Debian's packages are named postgresql-17-…), or"
                " leave the workload out: --set workloads=…",
            )
