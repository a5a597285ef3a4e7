"""The steps of one trial, of its site and of its load, and whether others disturbed it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import psycopg

from teiten.errors import ServerError, TeitenError, WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.distribution import distributed
from teiten.execute.executor import Facts
from teiten.execute.load import Load
from teiten.execute.postgres import states
from teiten.execute.sites.contract import Site
from teiten.execute.stacks import Window, sample, stack_cautions
from teiten.host.facts.stacks import read_profiling_facts
from teiten.model.facts import Caution
from teiten.model.metrics import TRANSACTIONS, VISIBLE_PAGES
from teiten.model.plan import PlannedTrial
from teiten.model.stacks import StackSamples
from teiten.model.trial import Gathered, Problem
from teiten.model.units import Share

Done = TypeVar("Done")
CHECK_FAILED = "check-failed"


class Steps:
    """Every process of the trial ends with ``stop`` or ``abandon``.

    Here, and nowhere else, an error of a connection becomes one of the server: a trial that fails,
    and a campaign that goes on.
    """

    def __init__(
        self, bench: Bench, trial: PlannedTrial, site: Site, load: Load, evidence: Path
    ) -> None:
        self._bench, self._trial = bench, trial
        self._site, self._load = site, load
        self.evidence = evidence
        self._stack_samples: StackSamples | None = None
        self._of_tables: dict[str, float] = {}
        self._tables = distributed(trial, site)

    def restore(self) -> Facts:
        shutil.rmtree(self.evidence, ignore_errors=True)
        self.evidence.mkdir(parents=True)
        return self._answered(self._site.restore)

    def caches(self) -> Facts:
        return self._answered(self._site.caches)

    def start(self) -> Facts:
        limited = self._answered(lambda: self._site.limit(self._trial.memory_limit))
        started = self._answered(self._site.start)
        if self._tables is not None and not self._site.warm:
            started = {**started, **self._answered(self._tables.distribute)}
        return {**limited, **started, **self._answered(self._visible)}

    def prewarm(self) -> Facts:
        return self._answered(self._site.prewarm)

    def settle(self) -> Facts:
        return self._answered(self._site.settle)

    def rehearse(self) -> None:
        """Try what the load will do. Raises WorkloadError, with a hint, where it is wrong."""
        self._answered(self._load.rehearse)

    def warm_up(self) -> Facts:
        return self._answered(self._load.warm_up)

    def measure(self, number: int) -> Facts:
        if self._tables is not None:
            self._answered(self._tables.begin)
        return self._answered(lambda: self._load.measure(number))

    def collect(self) -> Facts:
        collected = self._answered(self._load.collect)
        if self._tables is not None and self._site.is_running():
            self._answered(self._tables.end)
        return collected

    def check(self) -> tuple[Problem, ...]:
        try:
            with self._site.without_io_limits():
                problems = self._answered(lambda: self._load.check(self._site.problems()))
        except (ServerError, WorkloadError) as error:
            problems = (Problem(CHECK_FAILED, error.message),)
        share = self._bench.plan.study.measure.tolerated_share
        if self._tables is not None:
            problems = (*problems, *self._tables.problems())
        return (*problems, *disturbances(self._load.gathered.metrics, share))

    @property
    def samples_stacks(self) -> bool:
        return self._bench.plan.study.measure.flame_graph and self._site.stacks() is not None

    def sample_stacks(self) -> Facts:
        source = self._site.stacks()
        if source is None:
            return {"profiled": False}
        seconds = self._bench.plan.study.measure.flame_graph_window
        folder = self.evidence / "profile"
        busy = min(self._trial.load.connections, os.cpu_count() or 1)
        window = Window(seconds=seconds, busy=busy, source=source, folder=folder)
        samples = sample(
            window,
            read_profiling_facts(),
            lambda: self._answered(lambda: self._load.window(seconds, folder)),
        )
        if isinstance(samples, Caution):
            self._bench.record.record_caution(samples)
            return {"profiled": False, "reason": dict(samples.values).get("reason", "")}
        self._stack_samples = samples
        for caution in stack_cautions(samples, source.name):
            self._bench.record.record_caution(caution)
        return {"profiled": True, "samples": samples.samples, "call_graph": samples.call_graph}

    def stop(self, *, sound: bool) -> Facts:
        return self._answered(lambda: self._site.stop(sound=sound))

    def collected(self) -> Gathered:
        gathered = self._load.gathered
        counted = (
            self._tables.metrics(gathered.metrics.get(TRANSACTIONS.name)) if self._tables else {}
        )
        base = self.evidence.relative_to(self._bench.campaign)
        kept = (*self._site.evidence, *gathered.evidence)
        return replace(
            gathered,
            metrics={**gathered.metrics, **self._of_tables, **counted},
            facts={**self._site.facts, **gathered.facts},
            evidence=tuple((kind, str(base / name)) for kind, name in kept),
            stack_samples=self._stack_samples,
        )

    def abandon(self) -> None:
        with contextlib.suppress(TeitenError, OSError):  # the server must end in any case
            self._load.abandon()
        with contextlib.suppress(TeitenError, OSError):  # what is left, the next start sweeps
            self._site.abandon()

    def _visible(self) -> Facts:
        """Confirm that the tables are as their layout and state say: readers change pages."""
        data = self._trial.template.data
        if data.state is not None:
            with self._site.connect() as connection:
                self._of_tables = states.confirm(connection, data.state)
        if states.visible_of(data) is None:
            return dict(self._of_tables)
        with self._site.connect() as connection:
            visible = states.confirm_visible(connection, data, "the trial's server")
        self._of_tables[VISIBLE_PAGES.name] = visible
        return dict(self._of_tables)

    def _answered(self, step: Callable[[], Done]) -> Done:
        try:
            return step()
        except psycopg.Error as error:
            raise self._site.failure(error) from error


SHARE = re.compile(r"(client_|node_\d+_|)cpu_(?:other|steal)_share")
"""How the names of a machine's metrics begin: the server's, the load generator's of its own, and
those of nodes on hosts of their own."""
LEAST_WANTED = 0.1
"""The least share of CPU time that is judged: of less, a tick of 10 ms would be a share."""


def disturbances(metrics: Mapping[str, float], limit: Share) -> tuple[Problem, ...]:
    """Where others used more than this share: a rule on the machine's record, blind to the result.

    What the hypervisor stole is a share of what was wanted, and not of all CPU time: a side that
    wants more CPU loses more ticks to the same neighbour, would be found disturbed more often, and
    would keep the quieter trials (METHOD.md, A trial, 7).
    """
    return tuple(
        Problem(code, f"{share:.1%} > {limit:.1%}")
        for machine in _machines(metrics)
        for code, share in _shares(metrics, machine)
        if share > limit
    )


def _machines(metrics: Mapping[str, float]) -> list[str]:
    return sorted({match[1] for match in map(SHARE.fullmatch, metrics) if match is not None})


def _shares(metrics: Mapping[str, float], machine: str) -> Iterator[tuple[str, float]]:
    yield "steal", stolen(metrics, machine)
    yield "other-load", metrics.get(f"{machine}cpu_other_share", 0.0)


def stolen(metrics: Mapping[str, float], machine: str = "") -> float:
    """Find the share of wanted CPU time that the hypervisor took, 0 to 1; 0 where not known."""
    taken = metrics.get(f"{machine}cpu_steal_share", 0.0)
    used = (metrics.get(f"{machine}cpu_{way}_share", 0.0) for way in ("user", "system"))
    return taken / max(LEAST_WANTED, taken + sum(used)) if taken > 0 else 0.0
