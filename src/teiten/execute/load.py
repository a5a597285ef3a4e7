"""The load on the servers of a trial, and its measurement: a kind's own part of the trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from teiten.errors import ServerError, WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.probes.sampler import Sampler, Sampling, stopped
from teiten.execute.sites.contract import Site
from teiten.execute.sites.nodes import joined
from teiten.model.metrics import MEASURED_SECONDS
from teiten.model.plan import PlannedTrial
from teiten.model.trial import Gathered, Problem, Series
from teiten.model.units import Seconds

Done = TypeVar("Done")


@dataclass(frozen=True)
class ExtraWindow:
    """The work done in a window that is not counted."""

    seconds: Seconds
    transactions: float
    problems: tuple[Problem, ...]


class Load(Protocol):
    """The load of one trial. Errors of connections are psycopg's: the trial asks its site what
    they mean."""

    @property
    def gathered(self) -> Gathered: ...

    def rehearse(self) -> None:
        """Find what is wrong with scripts or statements, before the first trial of a campaign.
        Raises WorkloadError."""

    def warm_up(self) -> Facts: ...
    def measure(self, turn: int) -> Facts:
        """``turn``: of the trial's slices, from 1 and rising."""

    def collect(self) -> Facts: ...
    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        """Find what is wrong with the trial: of ``seen``, the problems in the servers' logs, those
        that hold, and the load's own. Called whatever happened, also where nothing was measured."""

    def window(self, seconds: Seconds, folder: Path) -> ExtraWindow:
        """The load once more, not counted, so that something else can be looked at."""

    def abandon(self) -> None:
        """End every program of the load at once; may be called twice."""


Begin = Callable[[PlannedTrial, Site, Path], Load]
"""The load of a trial on its site; what it keeps goes into the folder. The file ``run`` of a kind
has a function ``loads(bench) -> Begin``: what its trials share in a campaign lives there."""


class PlainLoad:
    """A load of which only ``measure`` must be written."""

    def __init__(self, trial: PlannedTrial, site: Site, folder: Path) -> None:
        self.trial, self.site, self.folder = trial, site, folder
        self.gathered = Gathered()

    def rehearse(self) -> None:
        return

    def warm_up(self) -> Facts:
        return dict(self.measure(0)) if not self.site.warm else {}

    def measure(self, turn: int) -> Facts:
        raise NotImplementedError

    def collect(self) -> Facts:
        return {}

    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return seen

    def window(self, seconds: Seconds, folder: Path) -> ExtraWindow:
        del seconds, folder
        raise WorkloadError("this workload has no window of some seconds", "leave flame_graph out")

    def abandon(self) -> None:
        return


class SampledLoad(PlainLoad):
    """A load that is measured once, while every node is sampled, and may be wrong by itself."""

    def __init__(self, bench: Bench, trial: PlannedTrial, site: Site, folder: Path) -> None:
        super().__init__(trial, site, folder)
        self.bench = bench
        self.workload = bench.plan.study.workload(trial.cell.workload)
        self.wrong: Problem | None = None
        """Why the trial does not count."""
        self._sampling: Sampling | None = None
        self._seconds = 0.0

    def sample(self, work: Callable[[], object]) -> None:
        """Do the work, timed, while every node is sampled."""
        begun = time.monotonic()
        _, self._sampling = sampled(self.site, lambda _: work())
        self._seconds = time.monotonic() - begun

    def gather(
        self, metrics: Mapping[str, float], facts: Facts, further: tuple[Series, ...] = ()
    ) -> None:
        """Keep the load's metrics and facts, and what was sampled meanwhile. ``further``: series.

        Raises ServerError where nothing was measured.
        """
        if self._sampling is None:
            raise ServerError("nothing was measured", "see the trial's log")
        measured = {MEASURED_SECONDS.name: self._seconds}
        self.gathered.metrics = {**self._sampling.metrics, **measured, **metrics}
        self.gathered.series = (*self._sampling.series, *further)
        self.gathered.facts |= facts
        for caution in self._sampling.cautions:
            self.bench.record.record_caution(caution)

    def check(self, seen: tuple[Problem, ...]) -> tuple[Problem, ...]:
        return seen if self.wrong is None else (*seen, self.wrong)


def sampled(site: Site, work: Callable[[Sampler], Done]) -> tuple[Done, Sampling]:
    """Do the work while every node is sampled; its result, and the samplings of all nodes. The
    work is told the sampler of the first one."""
    samplers = [site.sampler(node) for node in site.nodes]
    with site.off_server_cpus():
        try:
            for sampler in samplers:
                sampler.start()
            done = work(samplers[0])
        finally:
            samplings = stopped(samplers)
    return done, joined(samplings)
