"""The dry executor: says what each step of a trial would do, and does nothing."""

from __future__ import annotations

from dataclasses import dataclass, field

from teiten.execute.executor import Facts
from teiten.kinds.queries.model import NAME as QUERIES
from teiten.kinds.queries.model import queries_of
from teiten.model.plan import Plan, PlannedTrial, TemplateSpec
from teiten.model.stacks import Profile
from teiten.model.starts import last_of_their_start, slice_seed, started_before
from teiten.model.study import CachePolicy, DataKind, DataSet
from teiten.model.trial import Problem, Series

CACHE_WORDS = {
    CachePolicy.KEEP: "leave the OS page cache as it is",
    CachePolicy.EVICT: "evict the cluster's files from the OS page cache",
    CachePolicy.DROP: "drop the OS page cache if that is allowed, else evict the cluster's files",
}

RUNNING = "nothing: the server runs since an earlier pair"


@dataclass(frozen=True)
class NothingCollected:
    """A dry trial measures nothing, and says so by having no metrics."""

    metrics: dict[str, float] = field(default_factory=dict)
    series: tuple[Series, ...] = ()
    histogram: str = ""
    facts: Facts = field(default_factory=dict)
    evidence: tuple[tuple[str, str], ...] = ()
    profile: Profile | None = None


class DryTrial:
    """Says the steps of one trial."""

    def __init__(self, plan: Plan, trial: PlannedTrial, actions: list[str]) -> None:
        self._plan = plan
        self._trial = trial
        self._actions = actions
        self._workload = plan.study.workload(trial.cell.workload)
        self._goes_on = trial.restart > 0 and trial.number in started_before(plan)
        """The server is up from the pair before."""
        self._attached = trial.template.installation.attached

    def restore(self) -> Facts:
        if self._goes_on:
            return self._say(RUNNING)
        if self._attached is not None:
            copied = "copy the filled database" if self._workload.changes_data else "use the filled"
            return self._say(f"{copied} on the attached server")
        template = f"template {self._trial.template.fingerprint[:12]}"
        if self._workload.changes_data:
            return self._say(f"clone {template} into a fresh cluster")
        return self._say(
            f"use the cluster cloned from {template}; this workload does not change it"
        )

    def caches(self) -> Facts:
        if self._goes_on:
            return self._say(RUNNING)
        if self._attached is not None:
            return self._say("leave the caches as they are: the server is attached")
        return self._say(CACHE_WORDS[self._plan.study.measure.caches])

    def start(self) -> Facts:
        if self._goes_on:
            return self._say(RUNNING)
        changed = ", ".join(f"{name}={value}" for name, value in self._trial.settings)
        version = self._trial.template.installation.version
        if self._attached is not None:
            sessions = changed or "the server's own settings"
            return self._say(f"connect to PostgreSQL {version}, sessions with {sessions}")
        return self._say(
            f"start PostgreSQL {version} on a private socket with {changed or 'defaults'}"
        )

    def prewarm(self) -> Facts:
        if self._goes_on:
            return self._say(RUNNING)
        if not self._plan.study.measure.prewarm or (
            self._attached is not None and not self._attached.can_prewarm
        ):
            return self._say("no prewarming")
        return self._say("pg_prewarm of all tables and indexes")

    def settle(self) -> Facts:
        if self._goes_on:
            return self._say(RUNNING)
        if self._attached is not None and not self._attached.can_checkpoint:
            return self._say(f"{self._plan.study.measure.settle:g} s of rest")
        return self._say(f"CHECKPOINT, then {self._plan.study.measure.settle:g} s of rest")

    def warm_up(self) -> Facts:
        if self._goes_on:
            return self._say(RUNNING)
        if self._workload.kind == QUERIES:
            return self._say("the query once, discarded")
        return self._say(f"{self._plan.study.measure.warmup or 0:g} s of load, discarded")

    def measure(self, number: int) -> Facts:
        if self._workload.kind == QUERIES:
            options = queries_of(self._workload)
            return self._say(
                f"query {self._trial.cell.level('query')}: timed {options.runs}×, at the"
                f" most {options.timeout:g} s; then EXPLAIN (ANALYZE), not timed"
            )
        measure = self._plan.study.measure
        part = f", slice {number} of {measure.slices}" if measure.slices > 1 else ""
        return self._say(
            f"pgbench: {self._trial.clients} clients, {self._trial.threads} threads,"
            f" {measure.slice_duration:g} s, {self._workload.options.source},"
            f" random seed {slice_seed(self._trial.seed, number)}{part}"
        )

    def collect(self) -> Facts:
        return self._say("collect results, series, latencies, settings and the server's log")

    def check(self) -> tuple[Problem, ...]:
        self._say("check the server's log, invariants, and what else used the CPU")
        return ()

    @property
    def profiles(self) -> bool:
        return self._plan.study.measure.flame_graph

    def profile(self) -> Facts:
        seconds = self._plan.study.measure.flame_graph_window
        return self._say(f"{seconds:g} s of load, not counted, while perf samples the server")

    def stop(self, *, sound: bool) -> Facts:
        last = self._trial.restart == 0 or self._trial.number in last_of_their_start(self._plan)
        if sound and not last:
            return self._say("leave the server running for the next pair")
        if self._attached is not None:
            return self._say("disconnect; drop what the trial changed")
        if self._workload.changes_data:
            return self._say("stop the server and give its cluster's disk back")
        return self._say("stop the server")

    def collected(self) -> NothingCollected:
        return NothingCollected()

    def abandon(self) -> None:
        return

    def _say(self, action: str) -> Facts:
        self._actions.append(action)
        return {"action": action}


def _made_by(data: DataSet) -> str:
    return f"pgbench -i: {data}" if data.kind is DataKind.PGBENCH else str(data)


class DryExecutor:
    """Collects in ``actions`` what would be done, one line for each step."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.actions: list[str] = []

    def prepare(self, template: TemplateSpec) -> Facts:
        if template.installation.attached is not None:
            action = f"create a database on {template.installation.name}, {_made_by(template.data)}"
            self.actions.append(action)
            return {"action": action}
        action = (
            f"initdb with PostgreSQL {template.installation.version}"
            f" (checksums {'on' if template.checksums else 'off'}),"
            f" {_made_by(template.data)}"
        )
        self.actions.append(action)
        return {"action": action}

    def rehearse(self, trial: PlannedTrial) -> None:
        self.actions.append(f"start a server for {trial.cell} once and try its script")

    def begin(self, trial: PlannedTrial, attempt: int) -> DryTrial:
        del attempt
        return DryTrial(self._plan, trial, self.actions)

    def finish(self) -> None:
        return
