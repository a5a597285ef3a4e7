"""Layouts of data: which servers can have them, and what they cost while they are made."""

from __future__ import annotations

from collections.abc import Iterable

from teiten.errors import UsageError
from teiten.model.plan import PlannedTrial
from teiten.model.study import DataSet


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
