"""Every trial in a table, those that do not count with their reasons, and all as CSV columns."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from urllib.parse import quote

from teiten.analysis.model.findings import ContrastResult, LevelResult, TrialView
from teiten.kinds.contract import plan_of
from teiten.kinds.contract_present import TrialColumn, presents_in
from teiten.kinds.metrics import in_order
from teiten.model.study import SERVER
from teiten.model.trial import PARTNER, Problem
from teiten.report.blocks import Download
from teiten.report.charts.base import Columns, finite
from teiten.report.numbers import NOTHING, clock, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, headings
from teiten.report.view.kit import Kit

OF_THE_MACHINE = (
    TrialColumn("pgbench_cpu_share", 100.0, decimals=1),
    TrialColumn("cpu_idle_share", 100.0, decimals=1),
    TrialColumn("cpu_steal_share", 100.0, decimals=1),
)

MOST_AT_ONCE = 12
"""Rows above which what does not count scrolls in its own box."""


def _problems(kit: Kit, trial: TrialView) -> TableCell:
    """A trial's problems with their details; of a partner its number and why it does not count."""
    texts = []
    for problem in trial.problems:
        blamed, detail = re.fullmatch(r"trial (\d+): (\S+)", problem.detail), problem.detail
        if problem.code == PARTNER and blamed is not None:
            reason = kit.t.problem(Problem(blamed[2], ""))
            detail = kit.t("table.excluded.partner", number=blamed[1], reason=reason)
        texts.append(f"{kit.t.problem(problem)}: {detail}" if detail else kit.t.problem(problem))
    return TableCell(kit.t("list.strong").join(texts))


def trial_table(kit: Kit) -> Table:
    """All attempts in the order in which they ran."""
    t = kit.t
    of_kinds = (column for kind in presents_in(kit).values() for column in kind.columns)
    measured = {name for trial in kit.analysis.trials for name in trial.metrics}
    present = [column for column in (*of_kinds, *OF_THE_MACHINE) if column.metric in measured]
    columns = (
        *headings(t, "table.trial", "table.attempt", "table.block", numeric=True),
        *headings(t, "table.workload"),
        *(
            Column(kit.names.factor(factor.name), numeric=factor.name != kit.study.contrast)
            for factor in kit.study.factors
        ),
        *headings(t, "table.outcome"),
        *headings(t, *(f"column.{column.metric}" for column in present), numeric=True),
        *headings(t, "table.started", "table.problems"),
        *(headings(t, "table.evidence") if kit.beside else ()),
    )
    rows = tuple(_row(kit, trial, present) for trial in kit.analysis.trials)
    return Table(
        "trials", t("table.trials.caption"), columns, rows, note=t("table.trials.note"), tall=True
    )


def _row(kit: Kit, trial: TrialView, present: Sequence[TrialColumn]) -> Row:
    levels = dict(trial.levels)
    return (
        TableCell(str(trial.number), trial.number),
        TableCell(str(trial.attempt), trial.attempt),
        TableCell(str(trial.block), trial.block),
        TableCell(kit.names.workload(trial.workload)),
        *(_level(kit, factor.name, levels.get(factor.name, "")) for factor in kit.study.factors),
        TableCell(kit.t(f"outcome.{trial.outcome.value}"), kind=f"outcome {trial.outcome.value}"),
        *(_number(trial.metrics.get(column.metric, math.nan), column) for column in present),
        TableCell(clock(trial.started_at), trial.started_at),
        _problems(kit, trial),
        *([_evidence(kit, trial)] if kit.beside else []),
    )


def _evidence(kit: Kit, trial: TrialView) -> TableCell:
    """A trial's log, configuration and outputs: linked if beside the page, else their folders."""
    if kit.beside:
        links = ((PurePath(path).name, f"{kit.beside}/{quote(path)}") for _, path in trial.evidence)
        return TableCell("", kind="links", links=tuple(dict.fromkeys(links)))
    folders = dict.fromkeys(str(PurePath(path).parent) for _, path in trial.evidence)
    return TableCell(kit.t("list.separator").join(folders), kind="code")


def _number(value: float, column: TrialColumn) -> TableCell:
    if not math.isfinite(value):
        return TableCell(NOTHING)
    shown, decimals = value * column.factor, column.decimals
    text = significant(shown, column.digits) if decimals is None else fixed(shown, decimals)
    return TableCell(text, value)


def _level(kit: Kit, factor: str, level: str) -> TableCell:
    text = kit.short(level) if factor == kit.study.contrast else kit.names.level(factor, level)
    return TableCell(text, kit.names.orders.get(factor, {}).get(level))


def excluded_table(kit: Kit) -> Table | None:
    """The attempts that do not count, each with its reason."""
    t = kit.t
    out = [trial for trial in kit.analysis.trials if not trial.counts]
    if not out:
        return None
    columns = (
        *headings(t, "table.trial", "table.attempt", numeric=True),
        *headings(t, "table.workload"),
        Column(kit.names.factor(kit.study.contrast)),
        *headings(t, "table.level", "table.outcome", "table.problems", "table.evidence"),
    )
    rows = tuple(
        (
            TableCell(str(trial.number), trial.number),
            TableCell(str(trial.attempt), trial.attempt),
            TableCell(kit.names.workload(trial.workload)),
            TableCell(kit.names.titled(kit.side_of(trial))),
            TableCell(kit.names.context(kit.context_of(trial))),
            TableCell(t(f"outcome.{trial.outcome.value}"), kind=f"outcome {trial.outcome.value}"),
            _problems(kit, trial),
            _evidence(kit, trial),
        )
        for trial in out
    )
    return Table(
        "excluded",
        t("table.excluded.caption"),
        columns,
        rows,
        note=t("table.excluded.note"),
        tall=len(rows) > MOST_AT_ONCE,
    )


def trial_download(kit: Kit) -> Download:
    """Every attempt with every metric, unrounded, in base units (seconds, bytes, shares)."""
    trials = kit.analysis.trials
    measured = {name for trial in trials for name in trial.metrics}
    kinds = sorted({workload.kind for workload in kit.study.workloads})
    own = [
        metric.name for kind in kinds for metric in plan_of(kind).metrics if metric.name in measured
    ]
    metrics = dict.fromkeys((*own, *in_order(sorted(measured))))
    levels = [dict(trial.levels) for trial in trials]
    factors = [factor.name for factor in kit.study.factors]
    columns: Columns = {
        "campaign": [kit.analysis.name for _ in trials],
        "server_version": [_version(kit, of_trial.get(SERVER, "")) for of_trial in levels],
        "trial": [trial.number for trial in trials],
        "attempt": [trial.attempt for trial in trials],
        "block": [trial.block for trial in trials],
        "workload": [trial.workload for trial in trials],
        **{factor: [of_trial.get(factor, "") for of_trial in levels] for factor in factors},
        "outcome": [trial.outcome.value for trial in trials],
        "problems": [
            "; ".join(f"{problem.code}: {problem.detail}" for problem in trial.problems)
            for trial in trials
        ],
        "started_at": [_iso(trial.started_at) for trial in trials],
        "finished_at": [_iso(trial.finished_at) for trial in trials],
        **{metric: [trial.metrics.get(metric) for trial in trials] for metric in metrics},
    }
    return Download("trials.csv", finite(columns))


def _version(kit: Kit, level: str) -> str | None:
    """With its minor number: of a server's level, or of the only server; else nothing."""
    versions = {name: str(server.version) for name, server in kit.analysis.plan.servers}
    only = next(iter(versions.values())) if len(versions) == 1 else None
    return versions.get(level, only)


def _iso(at: float | None) -> str | None:
    """UTC, by ISO 8601."""
    if at is None:
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def level_download(kit: Kit) -> Download:
    """Every contrast at every level: medians, ratio, interval and verdict, unrounded."""
    rows: list[tuple[ContrastResult, LevelResult | None]] = []
    for contrast in kit.analysis.contrasts:
        rows += [(contrast, None), *((contrast, level) for level in contrast.levels)]
    contrasts, levels = [contrast for contrast, _ in rows], [level for _, level in rows]
    verdicts = [level.verdict if level else contrast.overall for contrast, level in rows]
    columns: Columns = {
        "campaign": [kit.analysis.name for _ in rows],
        "workload": [contrast.workload for contrast in contrasts],
        "metric": [contrast.metric.name for contrast in contrasts],
        "unit": [contrast.metric.unit for contrast in contrasts],
        "old": [contrast.old for contrast in contrasts],
        "new": [contrast.new for contrast in contrasts],
        "old_version": [_version(kit, contrast.old) for contrast in contrasts],
        "new_version": [_version(kit, contrast.new) for contrast in contrasts],
        "level": [
            " ".join(f"{name}={text}" for name, text in level.context) if level else "all"
            for level in levels
        ],
        "old_median": [level.old_median if level else None for level in levels],
        "new_median": [level.new_median if level else None for level in levels],
        **{
            name: [getattr(verdict.effect, name, None) for verdict in verdicts]
            for name in ("ratio", "low", "high", "confidence")
        },
        "pairs": [verdict.pairs for verdict in verdicts],
        "verdict": [verdict.kind.value for verdict in verdicts],
        "at_least_delta": [verdict.at_least_delta for verdict in verdicts],
        "conclusive": [verdict.conclusive for verdict in verdicts],
        "delta": [verdict.delta for verdict in verdicts],
        "smallest_detectable": [verdict.smallest_detectable for verdict in verdicts],
    }
    return Download("levels.csv", finite(columns))
