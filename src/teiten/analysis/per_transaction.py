"""Costs of a transaction on both sides: CPU, switches, buffers, WAL, waits.

Numbers of the measured window are from every counted trial, of one on several nodes the sums over
all its servers; those of perf are from the extra window after it. Times spent waiting follow from
the samples of wait events: the mean number of backends that wait, times the seconds, is the time
that all of them waited (Little's law).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from teiten.analysis.model.discussion import WAL_ROW, Counted, Origin, PerTransaction, Taken
from teiten.analysis.model.findings import TrialView
from teiten.analysis.model.node_series import mean_backends
from teiten.analysis.stacks import leaf_seconds
from teiten.analysis.verdict.changes import PairedViews, paired_views
from teiten.model.facts import HostFacts
from teiten.model.metrics import SERVER_CPU, TRANSACTIONS, WAL_BYTES, by_node, total_of_nodes
from teiten.model.plan import Plan
from teiten.model.stacks import StackSamples
from teiten.model.study import Measure
from teiten.ways.registry import way_of

RUNNING = "CPU"
"""Backends that wait for nothing: their time is the CPU's row."""
LEAST_WAIT = 0.01
"""The least share of all active backends' time, on one side, for which a wait gets a row."""

Of = Callable[[TrialView], float]
"""A number of a trial, per transaction; NaN where it was not counted."""


@dataclass(frozen=True)
class _Row:
    name: str
    kind: Counted
    of: Of
    origin: Origin = Origin.MEASURED


COUNTED = (
    (WAL_ROW, Counted.BYTES, WAL_BYTES.name),
    ("wal-records", Counted.COUNT, "wal_records"),
    ("wal-full-page-images", Counted.COUNT, "wal_full_page_images"),
    ("blocks-hit", Counted.COUNT, "blocks_hit"),
    ("blocks-read", Counted.COUNT, "blocks_read"),
    ("buffers-written-by-backends", Counted.COUNT, "buffers_written_by_backends"),
    ("buffers-written-by-checkpointer", Counted.COUNT, "buffers_written_by_checkpointer"),
)
OF_THE_MACHINE = (
    ("disk-read", Counted.BYTES, "disk_read_bytes"),
    ("disk-written", Counted.BYTES, "disk_written_bytes"),
    ("context-switches", Counted.COUNT, "context_switches"),
)
"""Counted for the whole machine: one number for sides under load in the same seconds."""
BY_PERF = (
    ("server-context-switches", "context_switches"),
    ("page-faults", "page_faults"),
    ("instructions", "instructions"),
    ("cycles", "cycles"),
)


def per_transaction(
    plan: Plan, facts: HostFacts, views: Sequence[TrialView]
) -> tuple[PerTransaction, ...]:
    """One table for each contrast and level; none where no row could be made."""
    cpu = server_cpu(plan, facts)
    made = (_table(pairs, cpu, plan.study.measure) for pairs in paired_views(plan, views))
    return tuple(table for table in made if table.rows)


def _table(pairs: PairedViews, cpu: Of, measure: Measure) -> PerTransaction:
    asked = ((row, pairs.numbers(row.of)) for row in _rows(pairs, cpu, measure))
    known = [(row, numbers) for row, numbers in asked if numbers]
    rows = tuple(
        Taken(
            row.name,
            row.kind,
            row.origin,
            *numbers.means,
            len(numbers.old),
            numbers.change(measure, measure.alpha / len(known)),
        )
        for row, numbers in known
    )
    return PerTransaction(*pairs.key, pairs.context, rows)


def _rows(pairs: PairedViews, cpu: Of, measure: Measure) -> Iterator[_Row]:
    yield _Row("cpu", Counted.SECONDS, cpu)
    for name, in_kernel in (("cpu-user", False), ("cpu-system", True)):
        yield _Row(name, Counted.SECONDS, _by_mode(in_kernel), Origin.PROFILE)
    for name, counter in BY_PERF:
        yield _Row(name, Counted.COUNT, _by_perf(counter), Origin.PROFILE)
    for name, kind, metric in COUNTED + (() if way_of(measure).concurrent else OF_THE_MACHINE):
        yield _Row(name, kind, _metric(metric))
    for event in _events(view for pair in pairs.blocks for view in pair):
        yield _Row(event, Counted.SECONDS, _waited(event))


def server_cpu(plan: Plan, facts: HostFacts) -> Of:
    """Seconds of processor time of a trial's servers per transaction, on all their hosts, whose
    processors may differ; NaN where they were not counted."""
    planned = {trial.number: trial for trial in plan.trials}

    def cores(view: TrialView, node: int) -> int:
        return plan.machine_of(planned[view.number], node, facts).cpu.online

    def of(view: TrialView) -> float:
        shares = by_node(view.metrics, SERVER_CPU)
        if not shares:
            return math.nan
        used = math.fsum(share * cores(view, node) for node, share in shares.items())
        return _each(view, used * view.metric("measured_seconds"))

    return of


def _each(view: TrialView, total: float) -> float:
    transactions = view.metrics.get(TRANSACTIONS.name, 0.0)
    return total / transactions if transactions > 0 else math.nan


def _metric(name: str) -> Of:
    return lambda view: _each(view, total_of_nodes(view.metrics, name))


def _sampled(of: Callable[[StackSamples], float]) -> Of:
    """A number of the extra window; NaN without one."""
    return lambda view: math.nan if view.stack_samples is None else of(view.stack_samples)


def _by_mode(in_kernel: bool) -> Of:
    return _sampled(
        lambda window: leaf_seconds(window, kernel=in_kernel) if window.kernel else math.nan
    )


def _by_perf(counter: str) -> Of:
    return _sampled(lambda window: window.counters.get(counter, math.nan) / window.transactions)


def _waited(event: str) -> Of:
    """Versions spell an event differently (WALSync, WalSync): the case does not matter."""
    wanted = event.lower()

    def of(view: TrialView) -> float:
        waits = mean_backends(view)
        if waits is None:
            return math.nan
        backends = math.fsum(value for name, value in waits.items() if name.lower() == wanted)
        return _each(view, backends * view.metric("measured_seconds"))

    return of


def _events(views: Iterable[TrialView]) -> list[str]:
    """Wait events that take a share of the backends' time, the longest first."""
    spent: dict[str, float] = {}
    spelled: dict[str, str] = {}
    total = 0.0
    for view in views:
        for name, value in (mean_backends(view) or {}).items():
            total += value
            if name != RUNNING:
                spent[name.lower()] = spent.get(name.lower(), 0.0) + value
                spelled[name.lower()] = name
    shown = [name for name, value in spent.items() if value >= LEAST_WAIT * total > 0]
    return [spelled[name] for name in sorted(shown, key=lambda name: -spent[name])]
