"""The ledger's statements: values of the model to rows and back."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from teiten.ledger import codec
from teiten.ledger.failures import damaged
from teiten.model.plan import Plan
from teiten.model.stacks import StackSamples
from teiten.model.trial import Attempt, Event, Outcome, Problem, Series, Trial


def insert_campaign(connection: sqlite3.Connection, plan: Plan, **columns: Any) -> None:
    """Insert the only row of a campaign; ``columns``: those that do not follow from its plan."""
    values = {
        "id": 1,
        **columns,
        "plan": codec.encode_plan(plan),
        "planned": len(plan.trials),
        "repeats": plan.study.measure.repeats,
        "study": plan.study.name,
        "profile": plan.study.profile,
    }
    connection.execute(
        f"INSERT INTO campaign ({', '.join(values)})"  # noqa: S608 - names of columns
        f" VALUES ({', '.join(f':{name}' for name in values)})",
        values,
    )


def campaign(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """The campaign's row by column. Raises LedgerError where it is missing."""
    cursor = connection.execute("SELECT * FROM campaign")
    row = cursor.fetchone()
    if row is None:
        raise damaged(path, "it holds no campaign")
    values = dict(zip((column[0] for column in cursor.description), row, strict=True))
    for name, kind in _COLUMNS.items():
        if not isinstance(values[name], kind):
            raise ValueError(f"the campaign's {name} is no {kind.__name__}")
    return {**values, "created_at": _moment(values["created_at"])}


_COLUMNS = {
    "uuid": str, "name": str, "teiten_version": str, "command": str, "plan": str, "facts": str,
    "cautions": str, "planned": int, "repeats": int, "study": str, "profile": str,
}  # fmt: skip
LATEST = 32_503_680_000.0
"""Seconds since the epoch: the year 3000. A clock that shows more is no clock."""


def _moment(value: Any) -> float:
    """A time as the ledger holds it. Raises ValueError for one that cannot be shown."""
    if not isinstance(value, int | float) or not 0 <= value <= LATEST:
        raise ValueError(f"{value!r} is no time")
    return float(value)


def has_trial(connection: sqlite3.Connection, number: int, attempt: int) -> bool:
    query = "SELECT 1 FROM trial WHERE number = ? AND attempt = ?"
    return connection.execute(query, (number, attempt)).fetchone() is not None


def insert_trial(connection: sqlite3.Connection, trial: Trial) -> None:
    key = (trial.number, trial.attempt)
    connection.execute(
        "INSERT INTO trial (number, attempt, outcome, problems, started_at, finished_at, facts,"
        " evidence, histogram) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *key,
            trial.outcome.value,
            codec.encode(tuple[Problem, ...], trial.problems),
            trial.started_at,
            trial.finished_at,
            codec.encode_json(trial.facts),
            codec.encode_json(trial.evidence),
            trial.histogram,
        ),
    )
    if trial.stack_samples is not None:
        connection.execute(
            "INSERT INTO profile (number, attempt, samples, data) VALUES (?, ?, ?, ?)",
            (*key, trial.stack_samples.samples, codec.encode_stack_samples(trial.stack_samples)),
        )
    connection.executemany(
        "INSERT INTO metric (number, attempt, name, value) VALUES (?, ?, ?, ?)",
        [(*key, name, value) for name, value in codec.encode_metrics(trial.metrics)],
    )
    connection.executemany(
        "INSERT INTO series (number, attempt, source, samples, columns, data)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                *key,
                series.source,
                len(series.seconds),
                len(series.columns),
                codec.encode_series(series),
            )
            for series in trial.series
        ],
    )


def trials(connection: sqlite3.Connection, *, with_series: bool) -> Iterator[Trial]:
    keys = connection.execute("SELECT number, attempt FROM trial ORDER BY number, attempt")
    for key in keys.fetchall():
        _number(key[0]), _number(key[1])
        yield _trial(connection, key, with_series)


def _trial(connection: sqlite3.Connection, key: tuple[int, int], with_series: bool) -> Trial:
    outcome, problems, started_at, finished_at, facts, evidence, histogram = connection.execute(
        "SELECT outcome, problems, started_at, finished_at, facts, evidence, histogram"
        " FROM trial WHERE number = ? AND attempt = ?",
        key,
    ).fetchone()
    metrics = connection.execute(
        "SELECT name, value FROM metric WHERE number = ? AND attempt = ?", key
    )
    return Trial(
        number=key[0],
        attempt=key[1],
        outcome=Outcome(outcome),
        problems=codec.decode(tuple[Problem, ...], problems),
        started_at=_moment(started_at),
        finished_at=_moment(finished_at),
        metrics=codec.decode_metrics(metrics),
        series=tuple(_series(connection, key)) if with_series else (),
        histogram=histogram,
        facts=codec.decode_object(facts),
        evidence=codec.decode(tuple[tuple[str, str], ...], evidence),
        stack_samples=_stack_samples(connection, key) if with_series else None,
    )


def _stack_samples(connection: sqlite3.Connection, key: tuple[int, int]) -> StackSamples | None:
    if not _knows_stack_samples(connection):
        return None
    query = "SELECT data FROM profile WHERE number = ? AND attempt = ?"
    row = connection.execute(query, key).fetchone()
    return None if row is None else codec.decode_stack_samples(row[0])


def stack_samples(connection: sqlite3.Connection) -> Iterator[tuple[int, int, StackSamples]]:
    """Number, attempt and profile of the trials that have one."""
    if not _knows_stack_samples(connection):
        return
    query = "SELECT number, attempt, data FROM profile ORDER BY number, attempt"
    for number, attempt, data in connection.execute(query):
        yield number, attempt, codec.decode_stack_samples(data)


def _knows_stack_samples(connection: sqlite3.Connection) -> bool:
    """Not so a ledger that was written before there were any, and is only read."""
    known = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'profile'"
    return connection.execute(known).fetchone() is not None


def attempts(connection: sqlite3.Connection, metrics: Sequence[str]) -> list[Attempt]:
    """Every recorded trial with those of these metrics that it has."""
    wanted = [name + ending for name in metrics for ending in ("", codec.OF_BEFORE)]
    names = ", ".join("?" * len(wanted))
    rows = connection.execute(
        "SELECT trial.number, trial.attempt, outcome, started_at, finished_at, name, value"  # noqa: S608
        " FROM trial LEFT JOIN metric ON metric.number = trial.number"
        f" AND metric.attempt = trial.attempt AND name IN ({names}) ORDER BY trial.rowid",
        tuple(wanted),
    )
    ended: dict[tuple[int, int], tuple[Outcome, float, float]] = {}
    values: dict[tuple[int, int], list[tuple[str, float | None]]] = defaultdict(list)
    for number, attempt, outcome, started_at, finished_at, name, value in rows:
        ended[number, attempt] = Outcome(outcome), _moment(started_at), _moment(finished_at)
        if name is not None:
            values[number, attempt].append((name, value))
    return [
        Attempt(*key, outcome, codec.decode_metrics(values[key]), started_at, finished_at)
        for key, (outcome, started_at, finished_at) in ended.items()
    ]


def _series(connection: sqlite3.Connection, key: tuple[int, int]) -> Iterator[Series]:
    query = "SELECT source, data FROM series WHERE number = ? AND attempt = ? ORDER BY rowid"
    for source, data in connection.execute(query, key):
        yield codec.decode_series(source, data)


def points(connection: sqlite3.Connection) -> dict[str, int]:
    query = "SELECT source, SUM(samples * columns) FROM series GROUP BY source ORDER BY source"
    return {source: int(count) for source, count in connection.execute(query)}


def insert_server_facts(connection: sqlite3.Connection, level: str, facts: dict[str, Any]) -> None:
    statement = "INSERT INTO server_facts (level, facts) VALUES (?, ?)"
    connection.execute(statement, (level, codec.encode_json(facts)))


def server_facts(connection: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    rows = connection.execute("SELECT level, facts FROM server_facts ORDER BY id")
    return {level: codec.decode_object(facts) for level, facts in rows}


def insert_event(connection: sqlite3.Connection, event: Event) -> None:
    connection.execute(
        "INSERT INTO event (at, kind, trial, attempt, detail) VALUES (?, ?, ?, ?, ?)",
        (event.at, event.kind, event.trial, event.attempt, codec.encode_json(event.detail)),
    )


def events(
    connection: sqlite3.Connection, kind: str | None = None, *, of_campaign: bool = False
) -> Iterator[Event]:
    """All events in order, those of one kind, or those that belong to no trial."""
    rows = connection.execute(
        "SELECT at, kind, trial, attempt, detail FROM event WHERE (kind = :kind OR :kind IS NULL)"
        " AND (trial IS NULL OR NOT :of_campaign) ORDER BY id",
        {"kind": kind, "of_campaign": of_campaign},
    )
    for at, name, trial, attempt, detail in rows:
        numbers = _number(trial), _number(attempt)
        yield Event(_moment(at), str(name), *numbers, codec.decode_object(detail))


def _number(value: Any) -> int | None:
    """A trial's number, or an attempt's. Raises ValueError for what is none."""
    if value is not None and not isinstance(value, int):
        raise ValueError(f"{value!r} is no number")
    return value
