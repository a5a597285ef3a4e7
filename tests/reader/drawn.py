"""Campaigns with drawn numbers: what can come, and what seldom comes.

Each is drawn from a ``Random``, so that a test hands over one that Hypothesis shrinks, and
a long run one of a seed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from teiten.analysis.campaign import analyse
from teiten.analysis.model.claims import Claim
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.replication import REPLICATION, NoiseSource, Replication
from teiten.claims.catalogue import claims_of
from teiten.host.cautions.machine import cautions as cautions_of
from teiten.kinds.queries.model import QueryGroup
from teiten.model.attached import AttachedServer, ServerParameter
from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.noise import NOISE, NoiseFloor
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.relations import PLANNER, RELATIONS, Relation, relations_as_detail
from teiten.model.saturation import SATURATION
from teiten.model.study import ParameterSet
from teiten.model.text import Bilingual
from teiten.model.trial import Event, Outcome, Problem, Trial, pack
from teiten.model.units import GIB, Bytes, Seconds, Share
from teiten.plan.sites.attached import attached_cautions
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.invented_probes import Invented as InventedProbes
from tests.fixtures.invented_probes import Truth, invented_with_trials
from tests.fixtures.invented_queries import (
    MEMBERS,
    PAGES,
    PARAMETERS,
    PARTED,
    PLAIN,
    Invented,
    explain,
    gather,
    invented_plan,
    invented_queries,
    scan,
)
from tests.fixtures.invented_ssb import ssb_plan
from tests.fixtures.pairs import ab_plan, side
from tests.fixtures.synthetic import SERVER_FACTS, synthetic_trials
from tests.fixtures.synthetic_plan import HOST, make_plan
from tests.reader.campaign import Campaign
from tests.reader.plan_nodes import threefold
from tests.unit.test_pinning import cpus, host
from tests.unit.test_pinning import planned as planned_cores

START = 1_795_000_000.0
EFFECTS = (1.0, 1.0, 1.004, 0.985, 1.019, 0.981, 1.021, 1.05, 0.93, 1.6, 0.4, 12.0, 3000.0)
NOISES = (0.0, 1e-12, 0.0005, 0.005, 0.02, 0.3, 3.0)
GUC = "guc:max_parallel_workers_per_gather"


@dataclass(frozen=True)
class Drawn:
    """A campaign, and what a report is made of."""

    kind: str
    campaign: Campaign
    analysis: CampaignAnalysis


Draw = Callable[[Random], Drawn]


def analysed(
    kind: str,
    plan: Plan,
    trials: Sequence[Trial],
    *,
    facts: HostFacts = HOST,
    cautions: Sequence[Caution] = (),
    events: Sequence[Event] = (),
    claims: Sequence[Claim] = (),
    server_facts: Mapping[str, dict[str, Any]] | None = None,
) -> Drawn:
    """The same values for the reader and for the report."""
    analysis = analyse(
        name=f"drawn-{kind}",
        teiten_version="0.1.0",
        created_at=START,
        command=f"teiten run {plan.study.name} --seed {plan.seed}",
        plan=plan,
        facts=facts,
        cautions=cautions,
        server_facts=server_facts or {},
        trials=trials,
        events=events,
        points={},
        claims=claims,
    )
    campaign = Campaign(
        f"drawn-{kind}",
        plan,
        facts,
        list(trials),
        START,
        tuple(cautions),
        tuple(events),
        findings=tuple(claims),
    )
    return Drawn(kind, campaign, analysis)


# --- trials ----------------------------------------------------------------------------------

PROBLEMS = (
    (Outcome.FAILED, "server-error"),
    (Outcome.FAILED, "pgbench-failed"),
    (Outcome.FAILED, "wrong-answer"),
    (Outcome.DISTURBED, "steal"),
    (Outcome.DISTURBED, "other-load"),
)
BESIDE = (Outcome.DISTURBED, "partner")
"""A trial that is alone, because another of its comparison does not count."""


@dataclass(frozen=True)
class Luck:
    """What happens to trials."""

    chance: Random
    fails: float
    """Of attempts."""
    missing: float
    """Of trials that were never run."""
    lost: float
    """Of trials of which every attempt fails."""

    @classmethod
    def drawn(cls, chance: Random) -> Luck:
        return cls(
            chance,
            chance.choice((0.0, 0.0, 0.1)),
            chance.choice((0.0, 0.0, 0.0, 0.05, 0.6)),
            chance.choice((0.0, 0.0, 0.1, 0.5)),
        )

    def trials(
        self, plan: Plan, numbers: Callable[[PlannedTrial], tuple[dict[str, float], dict[str, Any]]]
    ) -> list[Trial]:
        """Each with its attempts, those that are run again at the end; what is compared is run again
        together."""
        found: list[Trial] = []
        again: list[Trial] = []
        drawn: dict[tuple[object, ...], int] = {}
        clock = START + 60
        cut = 1.0 - self.missing if self.chance.random() < 0.5 else None
        for at, planned in enumerate(plan.trials):
            if cut is not None and at >= cut * len(plan.trials):
                break
            if cut is None and self.chance.random() < self.missing:
                continue
            metrics, facts = numbers(planned)
            key = planned.block, planned.cell.workload, planned.cell.context(plan.study.contrast)
            first = key not in drawn
            fails = drawn.setdefault(key, self._fails())
            for attempt in range(1, fails + 1):
                outcome, code = self.chance.choice(PROBLEMS if first else (*PROBLEMS, BESIDE))
                problems: tuple[Problem, ...] = (Problem(code, "seen"),)
                if code != BESIDE[1] and self.chance.random() < 0.2:
                    problems += (Problem("other-load", "40 %"), Problem("other-load", "41 %"))
                trial = self._trial(planned, attempt, outcome, problems, clock, metrics, facts)
                (found if attempt == 1 else again).append(trial)
                clock += 7
            if fails < 3:
                counted = self._trial(
                    planned, fails + 1, Outcome.COUNTED, (), clock, metrics, facts
                )
                (found if not fails else again).append(counted)
                clock += 7
        return [*found, *again]

    def _fails(self) -> int:
        """Attempts in vain of a comparison."""
        drawn = self.chance.random()
        return 0 if drawn >= self.lost + self.fails else 1 if drawn < self.fails else 3

    @staticmethod
    def _trial(
        planned: PlannedTrial,
        attempt: int,
        outcome: Outcome,
        problems: tuple[Problem, ...],
        clock: float,
        metrics: dict[str, float],
        facts: dict[str, Any],
    ) -> Trial:
        return Trial(
            number=planned.number,
            attempt=attempt,
            outcome=outcome,
            problems=problems,
            started_at=clock,
            finished_at=clock + 5,
            metrics=metrics,
            facts=facts,
        )


def latencies(tps: float, clients: int) -> dict[str, float]:
    mean = clients / tps if tps else math.nan
    found = {"tps": tps, "failed_transactions": 0.0, "measured_seconds": 60.0}
    if tps:
        found |= {
            "latency_mean": mean,
            "latency_p50": mean * 0.9,
            "latency_p90": mean * 1.5,
            "latency_p95": mean * 1.8,
            "latency_p99": mean * 2.5,
            "latency_p99_9": mean * 4.0,
            "latency_max": mean * 9.0,
            "transactions": tps * 60,
        }
    return found


# --- kinds of campaigns ----------------------------------------------------------------------


def versions(chance: Random) -> Drawn:
    """Loads of pgbench on two to three servers."""
    servers = chance.choice((("17", "18"), ("17", "18"), ("13", "17", "18")))
    clients = chance.choice((("1",), ("4", "16"), ("1", "2", "4", "8", "16")))
    blocks = chance.choice((1, 2, 3, 6))
    profile = chance.choice(("standard", "standard", "quick"))
    cells = 2 * len(servers) * len(clients)
    plan = make_plan(
        blocks * cells, seed=chance.randrange(99), servers=servers, clients=clients, profile=profile
    )
    effects = {
        (one, level): chance.choice(EFFECTS) for one in ("read", "update") for level in servers
    }
    noise, zero = chance.choice(NOISES), chance.random() < 0.1
    bend = chance.choice((0.0, 0.12, 1.0))

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        level = planned.cell.level("server") or ""
        base = 900.0 * planned.load.connections / (1 + bend * planned.load.connections)
        tps = base * effects[planned.cell.workload, level] * math.exp(chance.gauss(0, noise))
        if zero and chance.random() < 0.05:
            tps = 0.0
        return latencies(tps, planned.load.connections), {}

    trials = Luck.drawn(chance).trials(plan, numbers)
    events = [Event(START, "campaign-started", None, None, {})]
    return analysed("versions", plan, trials, events=events, server_facts=SERVER_FACTS)


def index_only(chance: Random) -> Drawn:
    """Lookups by an index, of which visits to the table and WAL were counted."""
    plan = make_plan(chance.choice((8, 24)), clients=chance.choice((("1",), ("1", "4"))))
    noise, counted = chance.choice(NOISES[:-1]), chance.choice((0.0, 0.5, 1.0, 1.0))
    visits = {one: chance.choice((0.0, 0.02, 1.0, 4.5)) for one in ("17", "18")}
    wrote = {one: chance.choice((0.0, 14.4, 800.0, 91_000.0)) for one in ("17", "18")}
    visible = chance.choice((None, 0.0, 0.5, 1.0))

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        side, clients = planned.cell.level("server") or "", planned.load.connections
        metrics = latencies(500 * clients * math.exp(chance.gauss(0, noise)), clients)
        if planned.cell.workload == "read":
            metrics["heap_fetches_per_lookup"] = visits[side] * math.exp(chance.gauss(0, noise))
            if visible is not None:
                metrics["visible_pages_share"] = visible
            if chance.random() < counted:
                written = wrote[side] * math.exp(chance.gauss(0, noise))
                metrics["wal_bytes_per_transaction"] = written
        return metrics, {}

    return analysed("index-only", plan, Luck.drawn(chance).trials(plan, numbers))


MEMORIES = (None, Bytes(GIB), Bytes(3 * GIB // 2), Bytes(600 * 1024**2))


def machines(chance: Random) -> Drawn:
    """Odd machines, their cautions, and limits of memory, of all trials or of some."""
    facts = odd_machine(chance)
    plan = make_plan(chance.choice((8, 24)), clients=("1", "4"))
    limit, other = chance.choice(MEMORIES), chance.random() < 0.3
    plan = replace(
        plan,
        study=replace(plan.study, measure=replace(plan.study.measure, memory=limit)),
        trials=tuple(
            replace(trial, memory_limit=None if other and trial.number % 2 else limit)
            for trial in plan.trials
        ),
    )
    noise = chance.choice(NOISES[:-1])
    peaks = chance.random() < 0.7

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        tps = 500 * planned.load.connections * math.exp(chance.gauss(0, noise))
        used = planned.memory_limit if peaks else None
        seen = {"memory": {"peak": int(used * chance.uniform(0.1, 1.0))}} if used else {}
        return latencies(tps, planned.load.connections), seen

    checked = {"memory": limit, "cgroup": 2, "read": 2 * (limit or 0), "stayed": (limit or 0) - 9}
    events = [Event(START, "memory-limit", None, None, checked)] if limit and other else []
    return analysed(
        "machines",
        plan,
        Luck.drawn(chance).trials(plan, numbers),
        facts=facts,
        cautions=(*cautions_of(facts, clients=16), *further_cautions(chance)),
        events=events,
    )


def odd_machine(chance: Random) -> HostFacts:
    """With what is cautioned about, now and then."""
    cpu = replace(
        HOST.cpu,
        threads_per_core=chance.choice((1, 2)),
        numa_nodes=chance.choice((1, 2)),
        governor=chance.choice(("performance", "powersave", "schedutil")),
        turbo=chance.choice((True, False, None)),
        quota_cores=chance.choice((None, 1.5)),
    )
    memory = replace(
        HOST.memory,
        available=Bytes(chance.choice((6 * GIB, GIB // 3))),
        swap_used=Bytes(chance.choice((0, 50 * 1024**2))),
        transparent_huge_pages=chance.choice(("madvise", "always")),
    )
    kind, system = chance.choice(
        (
            ("ssd", "xfs"),
            ("hdd", "ext4"),
            ("ssd", "btrfs"),
            ("memory", "tmpfs"),
            ("network", "nfs4"),
            ("virtual", "overlay"),
        )
    )
    disk = replace(
        HOST.disk, kind=kind, file_system=system, free=Bytes(chance.choice((120, 3)) * GIB)
    )
    return replace(
        HOST,
        system=chance.choice(("Linux", "Linux", "Linux", "Darwin")),
        cpu=cpu,
        memory=memory,
        disk=disk,
        virtualisation=chance.choice((None, "kvm", "vmware")),
        container=chance.choice((None, "docker")),
        load_average=chance.choice((0.08, 1.25)),
        clock_source=chance.choice(("tsc", "hpet")),
        pressure_stall=chance.random() < 0.5,
    )


FURTHER = (
    Caution(
        "compilers-differ", Severity.WARNING, (("compilers", "17: gcc 12.2.0; 18: clang 16.0"),)
    ),
    Caution("page-cache-kept", Severity.WARNING),
    Caution(
        "telemetry-missing", Severity.NOTE, (("source", "diskstats"), ("reason", "no such file"))
    ),
    Caution("data-changed", Severity.WARNING, (("workload", "read"),)),
    Caution("cores-shared", Severity.WARNING, (("cores", "8"), ("here", "16"))),
    Caution("cores-hardware-threads", Severity.NOTE, (("cores", "8"),)),
    Caution("cores-pgbench-beside", Severity.NOTE),
    Caution("cores-nodes", Severity.NOTE, (("cores", "16"),)),
    Caution("parameter-needs-writes", Severity.NOTE, (("name", "wal_compression"),)),
    Caution("parameter-needs-reads", Severity.NOTE, (("name", "io_method"),)),
    Caution("huge-pages-try", Severity.WARNING),
    Caution("parameter-unsafe", Severity.WARNING, (("name", "fsync"),)),
)
"""Cautions of plans, of servers and of what happened."""


def further_cautions(chance: Random) -> tuple[Caution, ...]:
    return tuple(chance.sample(FURTHER, chance.choice((0, 3, len(FURTHER)))))


def synthetic(chance: Random) -> Drawn:
    """The fixture's own campaign, with series and histograms."""
    plan = make_plan(40, seed=chance.randrange(9), clients=("1", "8"))
    trials = list(synthetic_trials(plan, 5, chance.randrange(99)))
    cautions = (
        Caution("swap-present", Severity.NOTE, (("total", "104857600"),)),
        Caution("shared-cores", Severity.NOTE, (("clients", "4"), ("cores", "2"))),
    )
    return analysed("synthetic", plan, trials, cautions=cautions, server_facts=SERVER_FACTS)


def queries(chance: Random) -> Drawn:
    """Queries on a layout against another."""
    names = list(MEMBERS)[: chance.choice((1, 2, 3, 5))]
    seconds: dict[tuple[str, str], float | None] = {}
    for name in names:
        base = chance.choice((0.0004, 0.03, 12.8))
        for level in ("plain", "monthly"):
            factor = 1.0 if level == "plain" else 1 / chance.choice(EFFECTS)
            over = chance.random() < 0.1
            seconds[name, level] = None if over else base * factor
    groups = (
        QueryGroup("first", Bilingual("the first", "最初"), tuple(names[:2])),
        QueryGroup("rest", Bilingual("the rest", "残り"), tuple(names[2:])),
    )
    like = Invented(
        seconds=seconds,
        blocks=chance.choice((2, 3, 6)),
        groups=groups[: chance.choice((0, 0, 1, 2))] if len(names) > 2 else (),
    )
    return _timed("queries", chance, like, like.plans or explain)


def sweeps(chance: Random) -> Drawn:
    """One or two queries over numbers of permitted workers, 0 among them."""
    levels = chance.choice(
        (
            ("0", "2", "8"),
            ("0", "1", "2", "4", "16"),
            ("4", "0", "2", "16"),
            ("2", "0"),
            ("0", "16"),
        )
    )
    names = ["count", "join"][: chance.choice((1, 2))]
    serial = chance.random() < 0.3
    seconds: dict[tuple[str, str], float | None] = {}
    for name in names:
        base, share = chance.choice((0.02, 4.0)), chance.choice((0.0, 0.9, 1.1))
        for level in levels:
            factor = chance.choice((1.0, 1.0, chance.choice(EFFECTS)))
            spared = share * (1 - 1 / (int(level) + 1))
            over = chance.random() < 0.05
            seconds[name, level] = None if over else base * max(0.05, 1 - spared) * factor
    like = Invented(
        contrast=GUC,
        way="statements" if len(levels) > 3 else "classic",
        levels=levels,
        seconds=seconds,
        blocks=chance.choice((2, 4)),
        groups=(),
    )

    def plans(query: str, level: str) -> dict[str, Any]:
        if serial:
            return _serial()
        return explain(query, level)

    return _timed("sweeps", chance, like, plans)


def _serial() -> dict[str, Any]:
    root = scan("lineorder", 507_712, workers=0, seconds=0.6)
    root = {**root, "Parallel Aware": False}
    return {"Plan": root, "Planning Time": 1.0, "Execution Time": root["Actual Total Time"] + 1}


def _timed(
    kind: str, chance: Random, like: Invented, plans: Callable[[str, str], dict[str, Any]]
) -> Drawn:
    plan = invented_plan(like)
    noise = chance.choice(NOISES[:-1])
    recorded = chance.random() < 0.8
    few = chance.random() < 0.2

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        query = planned.cell.level("query") or ""
        level = planned.cell.level(like.contrast) or ""
        seconds = like.seconds[query, level]
        over = seconds is None or (noise >= 0.3 and chance.random() < 0.03)
        metrics = {"measured_seconds": seconds or 0.0}
        if over:
            metrics["over_timeout"] = 600.0
        else:
            metrics["query_seconds"] = (seconds or 0.0) * math.exp(chance.gauss(0, noise))
        shown = _starved(plans(query, level)) if few else plans(query, level)
        if over:
            shown = _estimated(shown)
        parameters = dict(PARAMETERS)
        if like.contrast.endswith("per_gather"):
            parameters["max_parallel_workers_per_gather"] = level
        facts = {
            "plan": pack(json.dumps([shown])),
            "plan_executed": not over,
            PLANNER: parameters,
        }
        return metrics, facts

    trials = Luck.drawn(chance).trials(plan, numbers)
    events = [
        Event(
            START,
            RELATIONS,
            None,
            None,
            {
                "fingerprint": template.fingerprint,
                "relations": relations_as_detail(
                    PARTED if "monthly" in template.fingerprint else PLAIN
                ),
            },
        )
        for template in plan.templates
        if recorded
    ]
    return analysed(kind, plan, trials, events=events)


def _starved(shown: dict[str, Any]) -> dict[str, Any]:
    root = shown["Plan"]
    if root.get("Node Type") != "Gather" or not root["Workers Planned"]:
        return shown
    return {**shown, "Plan": {**root, "Workers Launched": root["Workers Planned"] - 1}}


def _estimated(shown: dict[str, Any]) -> dict[str, Any]:
    """The same plan as EXPLAIN without ANALYZE prints it."""

    def bare(node: dict[str, Any]) -> dict[str, Any]:
        seen = ("Actual", "Shared", "Workers Launched", "Subplans")
        kept = {
            key: one for key, one in node.items() if key != "Workers" and not key.startswith(seen)
        }
        if "Plans" in node:
            kept["Plans"] = [bare(one) for one in node["Plans"]]
        return {"Plan Rows": 1, "Total Cost": 1.0, **kept}

    return {"Plan": bare(shown["Plan"])}


def several_servers(chance: Random) -> Drawn:
    """A contrast that is measured on two servers: its answer is the mean over both."""
    levels = chance.choice((("0", "2"), ("0", "4", "16")))
    plan = ssb_plan(
        "pooled",
        GUC,
        {GUC: levels},
        blocks=chance.choice((2, 5)),
        workloads={"ssb": ("q1.1", "q4.1")},
        servers=("17", "18"),
    )
    speed = {level: chance.choice(EFFECTS) for level in levels}
    noise = chance.choice(NOISES)

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        factor = speed[planned.cell.level(GUC) or ""]
        return {"query_seconds": 4.0 / factor * math.exp(chance.gauss(0, noise))}, {}

    return analysed("several-servers", plan, Luck.drawn(chance).trials(plan, numbers))


def sequential(chance: Random) -> Drawn:
    """Two sides until they are decided."""
    plan = ab_plan(
        side("a", "18"),
        side("b", "18", "jit=off") if chance.random() < 0.5 else side("b", "17"),
        duration="5s",
        clients=chance.choice(("2", "1,4")),
    )
    effect, noise = chance.choice(EFFECTS), chance.choice(NOISES)
    kept = chance.choice((0, 1, 5, 8, 20))
    plan_blocks = sorted({trial.block for trial in plan.trials})[:kept]
    old = plan.trials[0].cell.level("server")

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        factor = 1.0 if planned.cell.level("server") == old else effect
        tps = 1000.0 * factor * math.exp(chance.gauss(0, noise))
        return latencies(tps, planned.load.connections), {}

    luck = replace(Luck.drawn(chance), missing=0.0)
    trials = [
        one
        for one in luck.trials(plan, numbers)
        if plan.trials[one.number - 1].block in plan_blocks
    ]
    return analysed("sequential", plan, trials, events=known_before(chance, plan))


def known_before(chance: Random, plan: Plan) -> list[Event]:
    """Noise floors of null campaigns, and what the length of a trial was chosen by."""
    names = [workload.name for workload in plan.study.workloads]
    floors = [
        NoiseFloor(
            key=f"key-{at}",
            campaign=f"null-{at}",
            measured_at=START - 1000,
            workload=chance.choice(names),
            clients=chance.choice((1, 8, 64)),
            duration=Seconds(chance.choice((5.0, 30.0, 60.0))),
            version="18.0",
            pairs=chance.choice((8, 40)),
            deviation=chance.choice((0.0004, 0.0123, 0.3)),
            robust_deviation=0.01,
            lag_one=None,
            false_alarms=Share(0.01),
            alpha=Share(0.05),
        )
        for at in range(chance.choice((0, 1, 2)))
    ]
    events = [Event(START, NOISE, None, None, asdict(floor)) for floor in floors]
    source = chance.choice((None, *NoiseSource))
    if source is not None:
        chosen = Replication(
            source=source,
            between=chance.choice((0.0, 0.00123, 0.2)),
            within=chance.choice((0.0101, 0.5)),
            fixed=Seconds(chance.choice((0.8, 14.0, 200.0))),
            duration=Seconds(5.0),
            slices=5,
            restart_every=1,
            pairs=chance.choice((None, 12)),
            campaign="null-0" if source is NoiseSource.NULL else None,
            starts=0 if source is NoiseSource.NULL else 3,
            seen=0 if source is NoiseSource.NULL else 8,
            took=Seconds(0.0 if source is NoiseSource.NULL else chance.choice((48.0, 4000.0))),
        )
        events.append(Event(START, REPLICATION, None, None, asdict(chosen)))
    return events


def ssb_claims(chance: Random) -> Drawn:
    """The studies that replicate findings on queries."""
    study, contrast, factors = chance.choice(
        (
            ("parallel", GUC, {GUC: ("0", "2", "4", "8", "16")}),
            ("partition-olap", "layout", {"layout": ("plain", "monthly")}),
            ("index-scan", GUC, {GUC: ("0", "16")}),
        )
    )
    plan = ssb_plan(
        study,
        contrast,
        factors,
        blocks=chance.choice((1, 3)),
        servers=("13",),
        workloads={"ssb": ("q1.1", "q2.1", "q3.4", "q4.1")},
    )
    noise = chance.choice(NOISES[:-1])
    speed = {level: chance.choice(EFFECTS) for level in factors[contrast]}

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        factor = speed[planned.cell.level(contrast) or ""]
        return {"query_seconds": 4.0 / factor * math.exp(chance.gauss(0, noise))}, {}

    trials = Luck.drawn(chance).trials(plan, numbers)
    return analysed("claims", plan, trials, claims=of_any_script(study))


def of_any_script(study: str) -> tuple[Claim, ...]:
    """The findings that a study replicates, whatever text its invented queries have."""
    return tuple(replace(one, work=()) for one in claims_of(study))


SIZES = (500, 5_000, 507_712, PAGES)
"""Of lineorder in blocks: none, two, six or nine workers."""


def recorded_claims(chance: Random) -> Drawn:
    """Findings on numbers of workers, with plans, parallel and serial, of which sizes are known."""
    indexed = chance.random() < 0.5
    blocks = chance.choice((1, 3))
    plan = _indexed(blocks) if indexed else _swept(blocks)
    sizes = {
        "lineorder": chance.choice(SIZES),
        "supplier": chance.choice((600, 13_965)),
        "idx_lo_orderdate": chance.choice((50, 5_000, 507_712)),
    }
    serial = chance.choice((0.0, 0.0, 0.0, 0.0, 0.3, 1.0))
    odd = chance.choice((0.0, 0.0, 0.3, 1.0))
    drawn_for = chance.random()
    noise = chance.choice(NOISES[:-1])

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        level = planned.cell.level("parameters") or planned.cell.level(GUC) or "0"
        permitted = PERMITTED.get(level, level)
        name = "supplier" if planned.cell.level("layout") == "indexed" else "lineorder"
        if planned.cell.workload == "count":
            name = "idx_lo_orderdate"
        rule = threefold(sizes[name], 64 if name.startswith("idx") else 1024)
        workers = min(rule, int(permitted))
        of_cell = Random(f"{drawn_for} {planned.cell}")  # the same plan in all repetitions
        if workers > 1 and of_cell.random() < odd:
            workers -= 1
        if of_cell.random() < serial:
            workers = 0
        over = chance.random() < 0.01
        seconds = 4.0 / (workers + 1) * math.exp(chance.gauss(0, noise))
        shown = _begins(name, sizes[name], workers)
        facts = {
            "plan": pack(json.dumps([_estimated(shown) if over else shown])),
            "plan_executed": not over,
            PLANNER: {**PARAMETERS, "max_parallel_workers_per_gather": permitted},
        }
        return ({"over_timeout": 600.0} if over else {"query_seconds": seconds}), facts

    recorded = chance.random() < 0.8
    relations = tuple(
        Relation(name, "i", pages, 6e6, table="lineorder")
        if name.startswith("idx")
        else Relation(name, "r", pages, 6e6)
        for name, pages in sizes.items()
    )
    events = [
        Event(
            START,
            RELATIONS,
            None,
            None,
            {"fingerprint": template.fingerprint, "relations": relations_as_detail(relations)},
        )
        for template in plan.templates
        if recorded
    ]
    return analysed(
        "recorded-claims",
        plan,
        Luck.drawn(chance).trials(plan, numbers),
        events=events,
        claims=of_any_script(plan.study.name),
    )


PERMITTED = {"serial": "0", "parallel": "16"}
"""Workers, by set of parameters."""


def _indexed(blocks: int) -> Plan:
    plan = ssb_plan(
        "index-scan",
        "layout",
        {"layout": ("plain", "indexed"), "parameters": tuple(PERMITTED)},
        blocks=blocks,
        workloads={"ssb": ("q3.1", "q4.1", "q4.2")},
    )
    sets = tuple(
        ParameterSet(name, (("max_parallel_workers_per_gather", value),))
        for name, value in PERMITTED.items()
    )
    return replace(plan, study=replace(plan.study, parameters=sets))


def _swept(blocks: int) -> Plan:
    return ssb_plan(
        "parallel",
        GUC,
        {GUC: ("0", "2", "16")},
        blocks=blocks,
        workloads={"ssb": ("q1.1", "q4.3"), "count": ("count",)},
    )


def _begins(name: str, pages: int, workers: int) -> dict[str, Any]:
    """A plan that begins with a table, or with an index of lineorder."""
    root = scan(name, pages, workers=workers, seconds=4.0 / (workers + 1))
    if name.startswith("idx"):
        root |= {"Node Type": "Index Only Scan", "Index Name": name, "Relation Name": "lineorder"}
    if workers:
        root = gather(workers, root)
    else:
        root["Parallel Aware"] = False
    return {"Plan": root, "Planning Time": 1.0, "Execution Time": root["Actual Total Time"] + 1}


def cores(chance: Random) -> Drawn:
    """A server on more and more of the processors."""
    facts = host(cpus(1, 8))
    plan = planned_cores(facts, f"blocks={chance.choice((2, 3, 4))}", "conclusive=yes")
    efficiency, noise = chance.choice((0.6, 0.95, 1.0, 1.02)), chance.choice(NOISES[:-1])

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        count = int(planned.cell.level("cores") or 0)
        tps = 400 * count * efficiency ** math.log2(count) * math.exp(chance.gauss(0, noise))
        pinned = {"server": list(planned.server_cpus), "pgbench": list(planned.client_cpus)}
        return {"tps": tps, "measured_seconds": 30.0}, {"pinned": pinned}

    trials = Luck.drawn(chance).trials(plan, numbers)
    return analysed("cores", plan, trials, facts=facts, claims=claims_of("cores"))


def attached(chance: Random) -> Drawn:
    """Servers that ran before, whose clients a provisional run chose."""
    plan = make_plan(chance.choice((8, 24)), clients=("1", "4"))
    every = chance.random() < 0.5
    servers = tuple(
        (level, replace(one, attached=stranger(checksums=chance.random() < 0.5)))
        if every or level == "18"
        else (level, one)
        for level, one in plan.servers
    )
    by_level = dict(servers)
    trials = tuple(
        replace(
            trial,
            templates=(replace(trial.template, installation=by_level[trial.cell.levels[0][1]]),),
        )
        for trial in plan.trials
    )
    plan = replace(plan, servers=servers, trials=trials)
    effect, noise = chance.choice(EFFECTS), chance.choice(NOISES[:-1])

    def numbers(planned: PlannedTrial) -> tuple[dict[str, float], dict[str, Any]]:
        factor = effect if planned.cell.level("server") == "18" else 1.0
        tps = 500 * planned.load.connections * factor * math.exp(chance.gauss(0, noise))
        return latencies(tps, planned.load.connections), {}

    probes = [{"clients": 1, "tps": 512.25}, {"clients": 2, "tps": chance.choice((None, 1000.5))}]
    found = {
        "workload": "read",
        "probes": probes,
        "clients": chance.choice((1, 2)),
        "reached": chance.random() < 0.5,
        "levels": [1, 4],
        "delta": 0.02,
        "provisional": "provisional-1",
    }
    return analysed(
        "attached",
        plan,
        Luck.drawn(chance).trials(plan, numbers),
        cautions=attached_cautions(plan),
        events=[Event(START, SATURATION, None, None, found)],
    )


def stranger(*, checksums: bool) -> AttachedServer:
    return AttachedServer(
        address="postgresql://bob@db.example/x",
        role="bob",
        superuser=False,
        can_checkpoint=False,
        can_prewarm=False,
        data_checksums=checksums,
        free_connections=90,
        other_sessions=3,
        encrypted=checksums,
        local=False,
        loopback=False,
        parameters=(
            ServerParameter("shared_buffers", "16384", "8kB", "integer", by_session=False),
            ServerParameter("work_mem", "4096", "kB", "integer", by_session=True),
        ),
    )


def probes(chance: Random) -> Drawn:
    """Sizes of the buffers, probe by probe, on one server or two that read otherwise."""
    old = Truth(
        from_buffers=chance.choice((7e-6, 9e-6)),
        scan=chance.choice((1.5, 2.5)),
        wobble=chance.choice((0.001, 0.02, 0.3)),
        kept=chance.choice((1.0, 0.5)),
        evicted=chance.random() < 0.7,
        told={"huge_pages": "try"},
    )
    new = replace(
        old,
        from_buffers=7e-6,
        from_disk=chance.choice((400e-6, 900e-6)),
        ring=chance.choice((32, 288)),
        read_size=chance.choice((8192, 131_072)),
        by_workers=chance.choice((0.0, 0.99)),
        told={"huge_pages": "try", "io_method": "worker"},
    )
    several = chance.random() < 0.6
    wanted = {
        "working_set": chance.choice((None, Bytes(GIB), Bytes(8 * GIB))),
        "connections": chance.choice((None, 10, 400)),
        "work_mem": chance.choice((None, Bytes(GIB // 64))),
    }
    like = InventedProbes(
        truth=new,
        of_server={"15": old, "18": new} if several else {},
        servers=("15", "18") if several else ("18",),
        profile=chance.choice(("standard", "standard", "quick")),
        statements=0.05,
        blocks=chance.choice((2, 2, 4)),
        only=chance.choice(((), (), ("25%", "75%"), ("50%",))),
        wanted=wanted,
    )
    analysis, trials = invented_with_trials(like, claims_of("buffers"))
    return Drawn(
        "probes",
        Campaign(
            analysis.name,
            analysis.plan,
            analysis.facts,
            trials,
            analysis.created_at,
            analysis.cautions,
            tuple(analysis.events),
            findings=claims_of("buffers"),
        ),
        analysis,
    )


KINDS: tuple[Draw, ...] = (
    versions,
    machines,
    index_only,
    synthetic,
    queries,
    sweeps,
    several_servers,
    sequential,
    ssb_claims,
    recorded_claims,
    cores,
    attached,
)


# --- invented by hand ------------------------------------------------------------------------


def by_hand() -> tuple[Drawn, ...]:
    """The campaigns of the golden reports."""
    invented = invented_analysis(seconds=3)
    over = {**Invented().seconds, ("q2.1", "monthly"): None}
    timed = invented_queries(Invented(seconds=over))
    return tuple(
        Drawn(kind, _told_by_hand(analysis, verdicts=verdicts), analysis)
        for kind, analysis, verdicts in (
            ("golden", invented, True),
            ("golden-queries", timed, False),
        )
    )


def _told_by_hand(analysis: CampaignAnalysis, *, verdicts: bool) -> Campaign:
    """``verdicts``: they follow from no trials."""
    return Campaign(
        analysis.name,
        analysis.plan,
        analysis.facts,
        analysis.trials,
        analysis.created_at,
        analysis.cautions,
        analysis.events,
        by_hand=verdicts,
        findings=tuple(claim.claim for claim in analysis.claims),
    )
