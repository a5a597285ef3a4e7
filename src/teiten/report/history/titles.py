"""Titles of the lines of a history, each unlike all others of its page."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from teiten.analysis.model.history import HistoryLine
from teiten.model.study import SERVER
from teiten.report.names import Names
from teiten.report.sentences import machine_text
from teiten.report.texts import Texts


def line_titles(t: Texts, lines: Sequence[HistoryLine]) -> tuple[str, ...]:
    """``Range read, server 18; 2 cores of AMD EPYC (observe, standard)``, in the order of the
    lines. Those that would be called the same have what tells them apart."""
    alike: dict[str, list[HistoryLine]] = defaultdict(list)
    for line in lines:
        alike[_title(t, line, "")].append(line)
    return tuple(_title(t, line, _apart(t, line, alike[_title(t, line, "")])) for line in lines)


def line_id(line: HistoryLine) -> str:
    """Make the id of a line's heading: the same for the same line, whatever lines are beside it."""
    identity = (line.machine, line.conditions, line.study, line.workload, line.factor, line.level)
    return f"line-of-{hashlib.sha256(chr(0).join(identity).encode()).hexdigest()[:10]}"


def level_text(t: Texts, line: HistoryLine) -> str:
    """The contrasted level as reports call it. A server keeps the name that the study gives it,
    as its version may change along the line."""
    if not line.level:
        return t("history.all-versions")
    if line.factor == SERVER:
        return t("history.server", server=line.level)
    return Names(line.plan, t).side(line.level).long


def _title(t: Texts, line: HistoryLine, apart: str) -> str:
    return t(
        "history.line",
        workload=t.of(line.title),
        level=level_text(t, line),
        machine=machine_text(t, line.facts),
        study=line.study,
        profile=line.profile,
        apart=apart,
    )


def _apart(t: Texts, line: HistoryLine, alike: Sequence[HistoryLine]) -> str:
    """Tell what differs between lines of one title: clients where these tell their conditions
    apart, else fingerprints."""
    machines = {one.machine for one in alike}
    conditions = {one.conditions for one in alike}
    said = t("history.apart-machine", of=line.machine) if len(machines) > 1 else ""
    if len(conditions) == 1:
        return said
    if len({(one.conditions, _clients(one)) for one in alike}) == len(set(map(_clients, alike))):
        counts = t("history.counts").join(map(str, _clients(line)))
        return said + t("history.apart-clients", of=counts)
    return said + t("history.apart-conditions", of=line.conditions)


def _clients(line: HistoryLine) -> tuple[int, ...]:
    return tuple(sorted({trial.load.connections for trial in line.plan.trials}))
