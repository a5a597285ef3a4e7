"""Contract of sites, the places where servers run: what they say before anything runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import UsageError
from teiten.factors.contract import Need
from teiten.kinds.contract import LevelNeeds, plan_of
from teiten.model.facts import HostFacts
from teiten.model.installation import Installation
from teiten.model.plan import Plan, PlannedTrial, TemplateSpec
from teiten.model.study import CachePolicy, Measure, Settings, Study, Workload
from teiten.model.text import Bilingual
from teiten.ways.registry import servers_of_a_start, way_of


@dataclass(frozen=True)
class ActionContext:
    """A plan, and what a sentence about it needs besides."""

    plan: Plan
    facts: HostFacts
    folder: Path
    """Teiten's working folder."""
    user: str
    """The user as whom servers run on this machine."""
    ready: Collection[str] = ()
    """Fingerprints of templates that exist."""

    @property
    def at_most(self) -> str:
        """Before a number that is a limit."""
        return "" if self.plan.study.measure.sequential is None else "at most "

    @property
    def restored(self) -> list[str]:
        """The workloads before each of whose trials data are restored."""
        placed = {trial.cell.workload for trial in self.plan.trials if trial.placement is not None}
        study = self.plan.study
        return [
            workload.name
            for workload in study.workloads
            if study.restores(workload) or workload.name in placed
        ]

    def loading(self, where: str) -> Iterator[str]:
        """Say what is done to the servers, from ``where``."""
        if way_of(self.plan.study.measure).concurrent:
            sides = servers_of_a_start(self.plan.study)
            servers = "both servers" if sides == 2 else f"all {sides} servers"
            yield f"load {servers} at once with Teiten's generator of pairs from {where}"
            return
        for kind in sorted({workload.kind for workload in self.plan.study.workloads}):
            phrase = plan_of(kind).loading
            yield phrase.format(version=self.plan.pgbench.version, where=where)

    def page_cache(self) -> str:
        limited = any(trial.memory_limits for trial in self.plan.trials)
        match self.plan.study.measure.caches:
            case CachePolicy.DROP if self.facts.can_drop_page_cache:
                return "drop the whole page cache of the system before each start of a server"
            case CachePolicy.DROP | CachePolicy.EVICT:
                return "take the cluster's own files out of the page cache before each start"
            case _ if limited:
                return (
                    "take the cluster's own files out of the page cache before each start, so that"
                    " what is read anew counts to the limit of memory"
                )
            case _:
                return "leave the page cache alone"


@dataclass(frozen=True)
class Lack:
    """Reason why a site does not offer something, and what would help."""

    why: Bilingual
    """After a name and a colon."""
    hint: Bilingual


class SitePlan(ABC):
    """A kind of site."""

    starts: bool
    """Teiten starts its servers, on clusters from its own templates: they take disk and memory."""

    # What can be had there

    def check_server(self, study: Study, level: str, installation: Installation) -> None:
        """Raise UsageError where a study asks of a server what it cannot have there."""

    def check_trial(self, trial: PlannedTrial) -> None:
        """Raise UsageError where a trial asks for what cannot be had there."""

    def lacks(self, level: str, installation: Installation) -> Mapping[Need, Lack]:
        """Find the needs that a server does not meet there, each with its reason. ``level``: its
        name."""
        return {}

    def checksums(self, installation: Installation, wanted: bool) -> bool:
        """Whether a cluster has data checksums."""
        return wanted

    def settings(self, installation: Installation, settings: Settings) -> Settings:
        """Those of a trial's parameters that it can have."""
        return settings

    @abstractmethod
    def connections(self, trial: PlannedTrial) -> tuple[int, int]:
        """How many a trial needs of a server, and how many it can have."""

    @abstractmethod
    def too_few_connections(self, trial: PlannedTrial) -> UsageError: ...

    # What there is to tell of its servers

    @abstractmethod
    def server_text(self, installation: Installation) -> str:
        """Behind a server's version: where it is or comes from."""

    @abstractmethod
    def server_object(self, installation: Installation) -> dict[str, str]:
        """Say where a server is or comes from, for JSON."""

    # What is done there, one sentence each

    @abstractmethod
    def actions(self, context: ActionContext) -> Iterator[str]:
        """Say what running the plan does to the machines and servers there."""

    def closing(self, context: ActionContext) -> Iterator[str]:
        """Say what is done last, whatever sites the plan has besides."""
        measure = context.plan.study.measure
        yield from context.loading("this machine")
        if measure.flame_graph:
            yield (
                f"sample the server's call stacks with perf for"
                f" {measure.flame_graph_window:g} s after each counted trial"
            )
        yield f"write the ledger, logs and the report to {context.folder / 'campaigns'}"
        yield "nothing else: no package is installed, no setting of the system is changed"

    # The steps of a trial, in a few words

    @abstractmethod
    def prepare(self, template: TemplateSpec) -> str: ...

    @abstractmethod
    def restore(self, trial: PlannedTrial, *, restores: bool) -> str:
        """``restores``: the trial begins with a copy of its own."""
        ...

    @abstractmethod
    def caches(self, measure: Measure) -> str: ...

    @abstractmethod
    def start(self, trial: PlannedTrial) -> str: ...

    def prewarm(self, trial: PlannedTrial, measure: Measure) -> str:
        if not measure.prewarm:
            return "no prewarming"
        if trial.template.installation.surely_lacks("pg_prewarm"):
            return "reading all tables and indexes (there is no pg_prewarm)"
        return "pg_prewarm of all tables and indexes"

    def settle(self, trial: PlannedTrial, measure: Measure) -> str:
        return f"CHECKPOINT, then {measure.settle:g} s of rest"

    @abstractmethod
    def stop(self, *, restores: bool) -> str: ...


def together(lacks: Sequence[Lack]) -> Lack:
    """Several reasons as one."""
    whys = [lack.why for lack in lacks]
    hints = dict.fromkeys(lack.hint for lack in lacks)
    return Lack(
        Bilingual("; ".join(why.en for why in whys), "。".join(why.ja for why in whys)),
        Bilingual(" ".join(hint.en for hint in hints), "".join(hint.ja for hint in hints)),
    )


def not_offered(
    workload: Workload, lacks: Mapping[Need, Lack]
) -> Iterator[tuple[LevelNeeds, tuple[Lack, ...]]]:
    """The levels of a workload that need what a server's place does not offer, and what that is."""
    for level in plan_of(workload.kind).level_needs(workload):
        missing = tuple(lack for need, lack in lacks.items() if need in level.needs)
        if missing:
            yield level, missing
