"""Whether a trial counts: rules on the machine's and the server's record, blind to the result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from teiten.execute.workload.pgbench_result import ENDED_BY_SIGNAL
from teiten.model.trial import Problem, Series
from teiten.model.units import Share

CLIENT_BOUND = 0.95
"""A pgbench that used this share of its threads' time had no time left to load the server."""


CHANGES_BY_TRANSACTION = 0.01


@dataclass(frozen=True)
class TrialReadings:
    """What is known when a trial is judged."""

    log_problems: tuple[Problem, ...]
    pgbench_problems: tuple[Problem, ...]
    metrics: dict[str, float]
    pgbench_cpu_seconds: float
    threads: int
    disturbed_share: Share


def problems_of(readings: TrialReadings) -> tuple[Problem, ...]:
    """Why the trial does not count; empty where it does (METHOD.md, A trial, 7).

    The cause comes first: a server that fails fails pgbench, but a pgbench that was killed leaves
    errors of broken connections in the server's log.
    """
    killed = tuple(
        one for one in readings.pgbench_problems if one.detail.startswith(ENDED_BY_SIGNAL)
    )
    return (
        *killed,
        *readings.log_problems,
        *(one for one in readings.pgbench_problems if one not in killed),
        *_failed_transactions(readings),
        *_client_bound(readings),
        *_disturbance(readings, "steal", "cpu_steal_share"),
        *_disturbance(readings, "other-load", "cpu_other_share"),
        *_disturbance(readings, "steal", "client_cpu_steal_share"),
        *_disturbance(readings, "other-load", "client_cpu_other_share"),
    )


def changes_rows(series: Iterable[Series], transactions: float) -> bool:
    """Whether a trial changed rows at least with every hundredth transaction.

    Fewer are the server's own: its catalogue's statistics.
    """
    for one in series:
        rates = one.columns.get("rows_changed_per_second") if one.source == "postgres" else None
        if rates is not None and np.isfinite(rates).any():
            times = np.diff(one.seconds, prepend=0.0)
            return float(np.nansum(rates * times)) > CHANGES_BY_TRANSACTION * transactions
    return False


def _failed_transactions(readings: TrialReadings) -> tuple[Problem, ...]:
    failed = readings.metrics.get("failed_transactions", 0.0)
    return (Problem("failed-transactions", f"{failed:.0f}"),) if failed > 0 else ()


def _client_bound(readings: TrialReadings) -> tuple[Problem, ...]:
    seconds = readings.metrics.get("measured_seconds", 0.0)
    if seconds <= 0:
        return ()
    share = readings.pgbench_cpu_seconds / (seconds * readings.threads)
    if share < CLIENT_BOUND:
        return ()
    return (Problem("client-bound", f"{share:.0%}"),)


def _disturbance(readings: TrialReadings, code: str, metric: str) -> tuple[Problem, ...]:
    share = readings.metrics.get(metric, 0.0)
    if share <= readings.disturbed_share:
        return ()
    return (Problem(code, f"{share:.1%} > {readings.disturbed_share:.1%}"),)
