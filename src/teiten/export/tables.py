"""A campaign as tables: what ``teiten export`` writes. Missing values are null, never NaN."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from teiten.analysis.model.findings import ContrastResult, Verdict
from teiten.kinds.metrics import in_order
from teiten.ledger.codec import encode_json
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.trial import Event, FloatArray, Series, Trial

BATCH_ROWS = 250_000
"""Rows of samples in memory at a time; a row group of the Parquet file."""

_MOMENT = pa.timestamp("us", tz="UTC")
_TEXT, _INTEGER, _NUMBER, _TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()

SAMPLES = pa.schema(
    [
        ("trial", _INTEGER),
        ("attempt", _INTEGER),
        ("source", _TEXT),
        ("second", _NUMBER),
        ("column", _TEXT),
        ("value", _NUMBER),
    ]
)


PROFILES = pa.schema(
    [
        ("trial", _INTEGER),
        ("attempt", _INTEGER),
        ("stack", _TEXT),
        ("samples", _INTEGER),
        ("cpu_seconds_per_transaction", _NUMBER),
    ]
)
"""Folded stacks (outermost function first, between semicolons) of the extra windows."""


@dataclass(frozen=True)
class ArrowTable:
    """A table in batches, made while it is written."""

    name: str
    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]


def tables(ledger: Ledger, contrasts: Sequence[ContrastResult]) -> Iterator[ArrowTable]:
    """The campaign's tables: trials, contrasts, events, samples, and profiles where it has any."""
    yield _trials(ledger)
    yield _contrasts(ledger.plan, contrasts)
    yield _events(ledger.events())
    yield ArrowTable("samples", SAMPLES, _sample_batches(ledger.trials()))
    if next(ledger.stack_samples(), None) is not None:
        yield ArrowTable("profiles", PROFILES, _profile_batches(ledger))


def _trials(ledger: Ledger) -> ArrowTable:
    """One row per recorded trial, whatever its outcome: levels, outcome, all metrics."""
    plan = ledger.plan
    planned = {trial.number: trial for trial in plan.trials}
    recorded = list(ledger.trials(series=False))
    metrics = in_order(name for trial in recorded for name in trial.metrics)
    factors = [factor.name for factor in plan.study.factors]
    fields = [
        ("trial", _INTEGER),
        ("attempt", _INTEGER),
        ("block", _INTEGER),
        ("workload", _TEXT),
        *((name, _INTEGER if name == "clients" else _TEXT) for name in factors),
        ("seed", _INTEGER),
        *((name, kind) for name, kind in _of_loads(plan) if name not in factors),
        ("outcome", _TEXT),
        ("problems", _TEXT),
        ("started_at", _MOMENT),
        ("finished_at", _MOMENT),
        *((name, _NUMBER) for name in metrics),
        ("facts", _TEXT),
    ]
    return _small(
        "trials", fields, [_trial_row(planned[trial.number], trial) for trial in recorded]
    )


def _of_loads(plan: Plan) -> list[tuple[str, pa.DataType]]:
    """List the columns for the loads of a plan's trials, whatever their kinds."""
    values = {key: value for trial in plan.trials for key, value in asdict(trial.load).items()}
    types = {int: _INTEGER, float: _NUMBER, bool: _TRUTH}
    return [(name, types.get(type(value), _TEXT)) for name, value in values.items()]


def _trial_row(planned: PlannedTrial, trial: Trial) -> dict[str, Any]:
    return {
        **{name: value for name, value in trial.metrics.items() if not np.isnan(value)},
        **dict(planned.cell.levels),
        **asdict(planned.load),
        "trial": trial.number,
        "attempt": trial.attempt,
        "block": planned.block,
        "workload": planned.cell.workload,
        "seed": planned.seed,
        "outcome": trial.outcome.value,
        "problems": "; ".join(f"{problem.code}: {problem.detail}" for problem in trial.problems),
        "started_at": _microseconds(trial.started_at),
        "finished_at": _microseconds(trial.finished_at),
        "facts": encode_json(trial.facts),
    }


def _contrasts(plan: Plan, contrasts: Sequence[ContrastResult]) -> ArrowTable:
    """One row per level of each contrast, and one for all levels together."""
    context = [factor.name for factor in plan.study.factors if factor.name != plan.study.contrast]
    fields = [
        ("workload", _TEXT),
        ("metric", _TEXT),
        ("unit", _TEXT),
        ("scope", _TEXT),
        *((name, _TEXT) for name in context),
        ("old", _TEXT),
        ("new", _TEXT),
        ("old_median", _NUMBER),
        ("new_median", _NUMBER),
        ("verdict", _TEXT),
        ("at_least_delta", _TRUTH),
        ("conclusive", _TRUTH),
        ("ratio", _NUMBER),
        ("low", _NUMBER),
        ("high", _NUMBER),
        ("confidence", _NUMBER),
        ("pairs", _INTEGER),
        ("delta", _NUMBER),
        ("smallest_detectable", _NUMBER),
        ("reason", _TEXT),
    ]
    rows = [row for contrast in contrasts for row in _contrast_rows(contrast)]
    return _small("contrasts", fields, rows)


def _contrast_rows(contrast: ContrastResult) -> Iterator[dict[str, Any]]:
    common = {
        "workload": contrast.workload,
        "metric": contrast.metric.name,
        "unit": contrast.metric.unit,
        "old": contrast.old,
        "new": contrast.new,
    }
    for level in contrast.levels:
        medians = {"old_median": level.old_median, "new_median": level.new_median}
        yield {
            **common,
            **dict(level.context),
            **medians,
            **_verdict(level.verdict),
            "scope": "level",
        }
    yield {**common, **_verdict(contrast.overall), "scope": "overall"}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    effect = verdict.effect
    return {
        "verdict": verdict.kind.value,
        "at_least_delta": verdict.at_least_delta,
        "conclusive": verdict.conclusive,
        "ratio": effect.ratio if effect else None,
        "low": effect.low if effect else None,
        "high": effect.high if effect else None,
        "confidence": effect.confidence if effect else None,
        "pairs": verdict.pairs,
        "delta": verdict.delta,
        "smallest_detectable": verdict.smallest_detectable,
        "reason": verdict.reason,
    }


def _events(events: Iterable[Event]) -> ArrowTable:
    fields = [
        ("at", _MOMENT),
        ("kind", _TEXT),
        ("trial", _INTEGER),
        ("attempt", _INTEGER),
        ("detail", _TEXT),
    ]
    rows = [
        {
            "at": _microseconds(event.at),
            "kind": event.kind,
            "trial": event.trial,
            "attempt": event.attempt,
            "detail": encode_json(event.detail),
        }
        for event in events
    ]
    return _small("events", fields, rows)


def _small(
    name: str, fields: Sequence[tuple[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> ArrowTable:
    """A table that fits into memory; text that is no UTF-8 is escaped."""
    schema = pa.schema(fields)
    columns = [
        pa.array([_value(row.get(field.name), field.type) for row in rows], field.type)
        for field in schema
    ]
    return ArrowTable(name, schema, [pa.record_batch(columns, schema=schema)])


def _value(value: Any, kind: Any) -> Any:
    if isinstance(value, str):
        if kind == _INTEGER:
            return int(value)
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _sample_batches(trials: Iterable[Trial]) -> Iterator[pa.RecordBatch]:
    """The samples of all trials in long form, in batches of about BATCH_ROWS rows."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for trial in trials:
        for series in trial.series:
            for name, values in series.columns.items():
                waiting.append(_long_form(trial, series, name, values))
                rows += len(values)
        if rows >= BATCH_ROWS:
            yield _together(waiting)
            waiting, rows = [], 0
    if waiting:
        yield _together(waiting)


def _profile_batches(ledger: Ledger) -> Iterator[pa.RecordBatch]:
    for number, attempt, window in ledger.stack_samples():
        seconds_of_sample = window.sample_seconds / window.transactions
        stacks = list(window.stacks)
        counts = [window.stacks[stack] for stack in stacks]
        yield pa.record_batch(
            [
                pa.repeat(pa.scalar(number, _INTEGER), len(stacks)),
                pa.repeat(pa.scalar(attempt, _INTEGER), len(stacks)),
                pa.array(stacks, _TEXT),
                pa.array(counts, _INTEGER),
                pa.array([count * seconds_of_sample for count in counts], _NUMBER),
            ],
            schema=PROFILES,
        )


def _long_form(trial: Trial, series: Series, column: str, values: FloatArray) -> pa.RecordBatch:
    count = len(values)
    return pa.record_batch(
        [
            pa.repeat(pa.scalar(trial.number, _INTEGER), count),
            pa.repeat(pa.scalar(trial.attempt, _INTEGER), count),
            pa.repeat(pa.scalar(series.source, _TEXT), count),
            pa.array(series.seconds, _NUMBER),
            pa.repeat(pa.scalar(column, _TEXT), count),
            pa.array(values, _NUMBER, from_pandas=True),  # NaN becomes null
        ],
        schema=SAMPLES,
    )


def _together(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _microseconds(seconds: float) -> int:
    return round(seconds * 1_000_000)
