"""A campaign as tables: what ``teiten export`` writes. Missing values are null, never NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from teiten.analysis.model.findings import ContrastResult, LevelResult
from teiten.kinds.metrics import in_order
from teiten.ledger.codec import encode_json
from teiten.ledger.store import Ledger
from teiten.model.plan import Plan
from teiten.model.trial import Event, FloatArray, Series, Trial

BATCH_ROWS = 250_000
"""Rows of samples in memory at a time; a row group of the Parquet file."""

_MOMENT = pa.timestamp("us", tz="UTC")
_TEXT, _INTEGER, _NUMBER, _TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()

_ATTEMPT = (("trial", _INTEGER), ("attempt", _INTEGER))
SAMPLES = pa.schema(
    (*_ATTEMPT, ("source", _TEXT), ("second", _NUMBER), ("column", _TEXT), ("value", _NUMBER))
)
PROFILES = pa.schema(
    (
        *_ATTEMPT,
        ("stack", _TEXT),
        ("samples", _INTEGER),
        ("cpu_seconds_per_transaction", _NUMBER),
    )
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
    yield _events(list(ledger.events()))
    yield ArrowTable("samples", SAMPLES, _sample_batches(ledger.trials()))
    if next(ledger.stack_samples(), None) is not None:
        yield ArrowTable("profiles", PROFILES, _profile_batches(ledger))


Column = tuple[str, Any, Sequence[Any]]
"""A column's name, the type of its values, and these."""


def _trials(ledger: Ledger) -> ArrowTable:
    """One row per recorded trial, whatever its outcome: levels, outcome, all metrics."""
    plan, trials = ledger.plan, list(ledger.trials(series=False))
    by_number = {trial.number: trial for trial in plan.trials}
    planned = [by_number[trial.number] for trial in trials]
    keys = [{**dict(trial.cell.levels), **asdict(trial.load)} for trial in planned]
    factors = {
        factor.name: _INTEGER if factor.name == "clients" else _TEXT
        for factor in plan.study.factors
    }

    def of_keys(kinds: Mapping[str, Any]) -> Iterator[Column]:
        return ((name, kind, [known.get(name) for known in keys]) for name, kind in kinds.items())

    columns: list[Column] = [
        ("trial", _INTEGER, [trial.number for trial in trials]),
        ("attempt", _INTEGER, [trial.attempt for trial in trials]),
        ("block", _INTEGER, [trial.block for trial in planned]),
        ("workload", _TEXT, [trial.cell.workload for trial in planned]),
        *of_keys(factors),
        ("seed", _INTEGER, [trial.seed for trial in planned]),
        *of_keys({name: kind for name, kind in _of_loads(plan).items() if name not in factors}),
        ("outcome", _TEXT, [trial.outcome.value for trial in trials]),
        ("problems", _TEXT, [_problems(trial) for trial in trials]),
        ("started_at", _MOMENT, [_microseconds(trial.started_at) for trial in trials]),
        ("finished_at", _MOMENT, [_microseconds(trial.finished_at) for trial in trials]),
        *(
            (name, _NUMBER, [trial.metrics.get(name) for trial in trials])
            for name in in_order(name for trial in trials for name in trial.metrics)
        ),
        ("facts", _TEXT, [encode_json(trial.facts) for trial in trials]),
    ]
    return _small("trials", columns)


def _problems(trial: Trial) -> str:
    return "; ".join(f"{problem.code}: {problem.detail}" for problem in trial.problems)


def _of_loads(plan: Plan) -> dict[str, Any]:
    """The columns for the loads of a plan's trials, whatever their kinds, with their types."""
    values = {key: value for trial in plan.trials for key, value in asdict(trial.load).items()}
    types = {int: _INTEGER, float: _NUMBER, bool: _TRUTH}
    return {name: types.get(type(value), _TEXT) for name, value in values.items()}


def _contrasts(plan: Plan, contrasts: Sequence[ContrastResult]) -> ArrowTable:
    """One row per level of each contrast, and one for all levels together."""
    context = [factor.name for factor in plan.study.factors if factor.name != plan.study.contrast]
    rows: list[tuple[ContrastResult, LevelResult | None]] = []
    for contrast in contrasts:
        rows += [*((contrast, level) for level in contrast.levels), (contrast, None)]
    levels = [level for _, level in rows]
    of_all = [contrast for contrast, _ in rows]
    contexts = [dict(level.context) if level else {} for level in levels]
    verdicts = [level.verdict if level else contrast.overall for contrast, level in rows]
    effects = [verdict.effect for verdict in verdicts]
    columns: list[Column] = [
        ("workload", _TEXT, [contrast.workload for contrast in of_all]),
        ("metric", _TEXT, [contrast.metric.name for contrast in of_all]),
        ("unit", _TEXT, [contrast.metric.unit for contrast in of_all]),
        ("scope", _TEXT, ["level" if level else "overall" for level in levels]),
        *((name, _TEXT, [known.get(name) for known in contexts]) for name in context),
        ("old", _TEXT, [contrast.old for contrast in of_all]),
        ("new", _TEXT, [contrast.new for contrast in of_all]),
        ("old_median", _NUMBER, [level.old_median if level else None for level in levels]),
        ("new_median", _NUMBER, [level.new_median if level else None for level in levels]),
        ("verdict", _TEXT, [verdict.kind.value for verdict in verdicts]),
        ("at_least_delta", _TRUTH, [verdict.at_least_delta for verdict in verdicts]),
        ("conclusive", _TRUTH, [verdict.conclusive for verdict in verdicts]),
        *(
            (name, _NUMBER, [getattr(effect, name, None) for effect in effects])
            for name in ("ratio", "low", "high", "confidence")
        ),
        ("pairs", _INTEGER, [verdict.pairs for verdict in verdicts]),
        ("delta", _NUMBER, [verdict.delta for verdict in verdicts]),
        ("smallest_detectable", _NUMBER, [verdict.smallest_detectable for verdict in verdicts]),
        ("reason", _TEXT, [verdict.reason for verdict in verdicts]),
    ]
    return _small("contrasts", columns)


def _events(events: Sequence[Event]) -> ArrowTable:
    columns: list[Column] = [
        ("at", _MOMENT, [_microseconds(event.at) for event in events]),
        ("kind", _TEXT, [event.kind for event in events]),
        ("trial", _INTEGER, [event.trial for event in events]),
        ("attempt", _INTEGER, [event.attempt for event in events]),
        ("detail", _TEXT, [encode_json(event.detail) for event in events]),
    ]
    return _small("events", columns)


def _small(name: str, columns: Sequence[Column]) -> ArrowTable:
    """A table that fits into memory; text that is no UTF-8 is escaped."""
    schema = pa.schema([(title, kind) for title, kind, _ in columns])
    arrays = [
        pa.array([_value(value, kind) for value in values], kind) for _, kind, values in columns
    ]
    return ArrowTable(name, schema, [pa.record_batch(arrays, schema=schema)])


def _value(value: Any, kind: Any) -> Any:
    if isinstance(value, str):
        if kind == _INTEGER:
            return int(value)
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return None if isinstance(value, float) and math.isnan(value) else value


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
