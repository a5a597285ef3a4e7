"""The extra window of a trial in which its server's call stacks are sampled."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from teiten.errors import TeitenError
from teiten.execute.load import ExtraWindow
from teiten.execute.probes.perf import (
    PerfError,
    PerfSession,
    PerfWay,
    call_graph_for,
    rate_for,
)
from teiten.execute.sites.contract import StackSource
from teiten.host.facts.stacks import ProfilingFacts, kernel_allowed, profiling_caution
from teiten.model.facts import Caution, Severity
from teiten.model.stacks import StackSamples, is_unresolved
from teiten.model.units import Seconds

TRIES = 3
"""perf refuses to attach where a process of its list has just ended."""
FEWEST_SAMPLES = 50
"""Fewer say nothing."""
UNRESOLVED = 0.05
"""Above this share of samples without a name the binary has lost its symbols. With them hardly any
is without; without them a fifth is, since the functions that a program exports keep their names."""
TRUNCATED = 0.05


@dataclass(frozen=True)
class Window:
    """The window in which call stacks are sampled."""

    seconds: Seconds
    busy: int
    """Processes that can run at once: the lesser of clients and cores."""
    source: StackSource
    folder: Path
    """For what perf writes; deleted at the end."""


def sample(
    window: Window, facts: ProfilingFacts, load: Callable[[], ExtraWindow]
) -> StackSamples | Caution:
    """Run ``load`` while perf watches the server; the samples, or why there are none. perf has
    ended in any case."""
    forbidden = profiling_caution(facts)
    if forbidden is not None and forbidden.severity is Severity.WARNING:
        return forbidden
    way = PerfWay(
        perf=facts.perf or "perf",
        call_graph=call_graph_for(window.source.cflags),
        kernel=kernel_allowed(facts),
        frequency=rate_for(window.seconds, window.busy),
    )
    try:
        return _sample(window, way, load)
    except (TeitenError, OSError, psutil.Error) as error:
        reason = error.message if isinstance(error, TeitenError) else str(error)
        return Caution.warning("profile-failed", server=window.source.name, reason=reason)
    finally:
        shutil.rmtree(window.folder, ignore_errors=True)


def _sample(window: Window, way: PerfWay, load: Callable[[], ExtraWindow]) -> StackSamples:
    session = _attached(window, way)
    try:
        result = load()
        session.end()
        if result.problems:
            raise PerfError(f"the load: {result.problems[0].detail}", "see the trial's log")
        folded = session.read()
        counters = session.counters()
    finally:
        session.abandon()
    samples = StackSamples(
        stacks=dict(folded.stacks),
        frequency=float(way.frequency),
        seconds=result.seconds,
        transactions=result.transactions,
        call_graph=way.call_graph,
        kernel=way.kernel,
        truncated=folded.truncated,
        counters=counters,
    )
    if samples.samples < FEWEST_SAMPLES or samples.transactions <= 0:
        raise PerfError(f"only {samples.samples} samples", "make the window longer")
    return samples


def _attached(window: Window, way: PerfWay) -> PerfSession:
    """A session that samples all processes of the server."""
    for tries_left in reversed(range(TRIES)):
        session = PerfSession(way, _processes(window.source.postmaster), window.folder)
        try:
            session.begin()
        except BaseException as error:
            session.abandon()
            if not tries_left or not isinstance(error, PerfError):
                raise
        else:
            return session
    raise RuntimeError("unreachable: the last try returns or raises")


def _processes(postmaster: int) -> list[int]:
    try:
        children = psutil.Process(postmaster).children(recursive=True)
    except psutil.Error as error:
        raise PerfError(f"the server is gone: {error}", "see the server's log") from error
    return [postmaster, *(child.pid for child in children)]


def stack_cautions(samples: StackSamples, server: str) -> tuple[Caution, ...]:
    """Point out what of samples cannot be trusted."""
    cautions = []
    if not samples.kernel:
        cautions.append(Caution.note("profile-user-only"))
    unresolved = sum(count for stack, count in samples.stacks.items() if is_unresolved(stack))
    if unresolved > UNRESOLVED * samples.samples:
        cautions.append(Caution.warning("profile-stripped", server=server))
    if samples.truncated > TRUNCATED * samples.samples:
        cautions.append(Caution.note("profile-truncated", server=server))
    return tuple(cautions)
