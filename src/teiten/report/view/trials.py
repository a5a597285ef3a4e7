"""Every trial in a table, those that do not count with their reasons, and all as CSV columns."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from teiten.analysis.model.findings import TrialView, Verdict
from teiten.kinds.contract import plan_of
from teiten.kinds.contract_present import TrialColumn, presents_in
from teiten.kinds.metrics import in_order
from teiten.model.study import SERVER
from teiten.model.trial import PARTNER, Outcome, Problem
from teiten.report.blocks import Download
from teiten.report.charts.base import as_columns
from teiten.report.numbers import NOTHING, clock, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell
from teiten.report.texts import problem_text
from teiten.report.view.kit import Kit

OF_THE_MACHINE = (
    TrialColumn("pgbench_cpu_share", 100.0, decimals=1),
    TrialColumn("cpu_idle_share", 100.0, decimals=1),
    TrialColumn("cpu_steal_share", 100.0, decimals=1),
)

MOST_AT_ONCE = 12
"""Rows above which what does not count scrolls in its own box."""


def problems_text(kit: Kit, problems: Sequence[Problem]) -> str:
    return kit.t("list.strong").join(
        f"{problem_text(problem, kit.t.language)}: {_detail(kit, problem)}"
        if problem.detail
        else problem_text(problem, kit.t.language)
        for problem in problems
    )


def _detail(kit: Kit, problem: Problem) -> str:
    """The detail of a problem; of a partner its number and why it does not count, in words."""
    blamed = re.fullmatch(r"trial (\d+): (\S+)", problem.detail)
    if problem.code != PARTNER or blamed is None:
        return problem.detail
    reason = problem_text(Problem(blamed[2], ""), kit.t.language)
    return kit.t("table.excluded.partner", number=blamed[1], reason=reason)


def trial_table(kit: Kit) -> Table:
    """All attempts in the order in which they ran."""
    t = kit.t
    of_kinds = (column for kind in presents_in(kit).values() for column in kind.columns)
    measured = {name for trial in kit.analysis.trials for name in trial.metrics}
    present = [column for column in (*of_kinds, *OF_THE_MACHINE) if column.metric in measured]
    columns = (
        Column(t("table.trial"), numeric=True),
        Column(t("table.attempt"), numeric=True),
        Column(t("table.block"), numeric=True),
        Column(t("table.workload")),
        *(
            Column(kit.names.factor(factor.name), numeric=factor.name != kit.study.contrast)
            for factor in kit.study.factors
        ),
        Column(t("table.outcome")),
        *(Column(t(f"column.{column.metric}"), numeric=True) for column in present),
        Column(t("table.started")),
        Column(t("table.problems")),
        *([Column(t("table.evidence"))] if kit.beside else []),
    )
    rows = tuple(_row(kit, trial, present) for trial in kit.analysis.trials)
    return Table(
        "trials", t("table.trials.caption"), columns, rows, note=t("table.trials.note"), tall=True
    )


def _row(kit: Kit, trial: TrialView, present: Sequence[TrialColumn]) -> Row:
    numbers = [_number(trial.metrics.get(column.metric, math.nan), column) for column in present]
    levels = dict(trial.levels)
    return (
        TableCell(str(trial.number), trial.number),
        TableCell(str(trial.attempt), trial.attempt),
        TableCell(str(trial.block), trial.block),
        TableCell(kit.names.workload(trial.workload)),
        *(_level(kit, factor.name, levels.get(factor.name, "")) for factor in kit.study.factors),
        TableCell(kit.t(f"outcome.{trial.outcome.value}"), kind=f"outcome {trial.outcome.value}"),
        *numbers,
        TableCell(clock(trial.started_at), trial.started_at),
        TableCell(problems_text(kit, trial.problems)),
        *([_evidence(kit, trial)] if kit.beside else []),
    )


def _evidence(kit: Kit, trial: TrialView) -> TableCell:
    """A trial's log, configuration and outputs: linked where they are beside the page, else the
    folder of the campaign that holds them."""
    if kit.beside:
        links = ((PurePath(path).name, f"{kit.beside}/{quote(path)}") for _, path in trial.evidence)
        return TableCell("", kind="links", links=tuple(dict.fromkeys(links)))
    folders = dict.fromkeys(str(PurePath(path).parent) for _, path in trial.evidence)
    return TableCell(kit.t("list.separator").join(folders), kind="code")


def _number(value: float, column: TrialColumn) -> TableCell:
    if not math.isfinite(value):
        return TableCell(NOTHING)
    shown = value * column.factor
    if column.decimals is not None:
        return TableCell(fixed(shown, column.decimals), value)
    return TableCell(significant(shown, column.digits), value)


def _level(kit: Kit, factor: str, level: str) -> TableCell:
    text = kit.short(level) if factor == kit.study.contrast else kit.names.level(factor, level)
    return TableCell(text, kit.names.orders.get(factor, {}).get(level))


def excluded_table(kit: Kit) -> Table | None:
    """The attempts that do not count, each with its reason."""
    t = kit.t
    out = [trial for trial in kit.analysis.trials if trial.outcome is not Outcome.COUNTED]
    if not out:
        return None
    columns = (
        Column(t("table.trial"), numeric=True),
        Column(t("table.attempt"), numeric=True),
        Column(t("table.workload")),
        Column(kit.names.factor(kit.study.contrast)),
        Column(t("table.level")),
        Column(t("table.outcome")),
        Column(t("table.problems")),
        Column(t("table.evidence")),
    )
    rows = tuple(
        (
            TableCell(str(trial.number), trial.number),
            TableCell(str(trial.attempt), trial.attempt),
            TableCell(kit.names.workload(trial.workload)),
            TableCell(kit.names.titled(kit.side_of(trial))),
            TableCell(kit.names.context(kit.context_of(trial))),
            TableCell(t(f"outcome.{trial.outcome.value}"), kind=f"outcome {trial.outcome.value}"),
            TableCell(problems_text(kit, trial.problems)),
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
    metrics = list(dict.fromkeys((*own, *in_order(sorted(measured)))))
    factors = [factor.name for factor in kit.study.factors]
    names = (
        "campaign",
        "server_version",
        "trial",
        "attempt",
        "block",
        "workload",
        *factors,
        "outcome",
        "problems",
        "started_at",
        "finished_at",
        *metrics,
    )
    rows: list[tuple[Any, ...]] = []
    for trial in trials:
        levels = dict(trial.levels)
        rows.append(
            (
                kit.analysis.name,
                _version(kit, levels.get(SERVER, "")),
                trial.number,
                trial.attempt,
                trial.block,
                trial.workload,
                *(levels.get(factor, "") for factor in factors),
                trial.outcome.value,
                "; ".join(f"{problem.code}: {problem.detail}" for problem in trial.problems),
                _iso(trial.started_at),
                _iso(trial.finished_at),
                *(trial.metrics.get(metric) for metric in metrics),
            )
        )
    return Download("trials.csv", as_columns(names, rows))


def _version(kit: Kit, level: str) -> str | None:
    """With its minor number: of a server's level, or of the only server; else nothing."""
    versions = {name: str(server.version) for name, server in kit.analysis.plan.servers}
    only = next(iter(versions.values())) if len(versions) == 1 else None
    return versions.get(level, only)


def _iso(at: float | None) -> str | None:
    """UTC, by ISO 8601."""
    return (
        None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    )


def level_download(kit: Kit) -> Download:
    """Every contrast at every level: medians, ratio, interval and verdict, unrounded."""
    names = (
        "campaign",
        "workload",
        "metric",
        "unit",
        "old",
        "new",
        "old_version",
        "new_version",
        "level",
        "old_median",
        "new_median",
        "ratio",
        "low",
        "high",
        "confidence",
        "pairs",
        "verdict",
        "at_least_delta",
        "conclusive",
        "delta",
        "smallest_detectable",
    )
    rows: list[tuple[Any, ...]] = []
    for contrast in kit.analysis.contrasts:
        judged: list[tuple[str, float | None, float | None, Verdict]] = [
            ("all", None, None, contrast.overall)
        ]
        judged += [
            (
                " ".join(f"{name}={level}" for name, level in level.context),
                level.old_median,
                level.new_median,
                level.verdict,
            )
            for level in contrast.levels
        ]
        for label, old, new, verdict in judged:
            effect = verdict.effect
            interval = (
                (effect.ratio, effect.low, effect.high, effect.confidence)
                if effect
                else (None,) * 4
            )
            rows.append(
                (
                    kit.analysis.name,
                    contrast.workload,
                    contrast.metric.name,
                    contrast.metric.unit,
                    contrast.old,
                    contrast.new,
                    _version(kit, contrast.old),
                    _version(kit, contrast.new),
                    label,
                    old,
                    new,
                    *interval,
                    verdict.pairs,
                    verdict.kind.value,
                    verdict.at_least_delta,
                    verdict.conclusive,
                    verdict.delta,
                    verdict.smallest_detectable,
                )
            )
    return Download("levels.csv", as_columns(names, rows))
