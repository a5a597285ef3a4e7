"""From trials to throughput by nodes, the words for its ratios, and what servers used."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from teiten.analysis.model.explain import BLOCK
from teiten.analysis.model.observations import Observation
from teiten.analysis.model.verdict import Estimate
from teiten.analysis.verdict.pairs import by_start, observe, pair
from teiten.analysis.verdict.sequential import decide_by_design
from teiten.analysis.verdict.verdict import Rule, exp
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.pgbench.metrics import RETRIES, TPS
from teiten.kinds.pgbench.model import NODES, pgbench_of
from teiten.kinds.pgbench.results import (
    FLAT_WITHIN,
    LINEAR_WITHIN,
    ROWS,
    Cause,
    NodesPoint,
    Pays,
    RoleUse,
    ScaleOutResult,
    ServerRole,
    Shape,
)
from teiten.model.metrics import (
    MEASURED_SECONDS,
    NODE_COMMITS,
    NODE_PREPARED,
    PARTICIPANTS,
    TRANSACTIONS,
    of_node,
)
from teiten.model.plan import FIRST, Context, Level, Node, Plan
from teiten.model.trial import Attempt
from teiten.model.units import Share

PLAIN, ONE = 0, 1
Metrics = Mapping[str, float]
ByNodes = dict[int, dict[int, Observation]]
"""Nodes to block to what was measured."""


@dataclass(frozen=True)
class _Compared:
    """The ratios of throughputs at one context, each at the level of the verdict on these sides."""

    plan: Plan
    attempts: Sequence[Attempt]
    workload: str
    context: Context
    by_nodes: ByNodes

    def ratio(self, old: int, new: int) -> Estimate | None:
        """None where no block has both."""
        trials = [
            observation
            for nodes in (old, new)
            for observation in self.by_nodes.get(nodes, {}).values()
        ]
        rule = Rule(
            self.plan.study.measure.delta,
            comparison_alpha(self.plan, self.workload),
            TPS.better,
            worded=False,
        )
        pairs = pair(trials, context=self.context, metric=TPS.name, old=str(old), new=str(new))
        alone = list(by_start(self.plan, self.attempts, pairs.log_ratios).values())
        measure = self.plan.study.measure
        verdict = decide_by_design(measure, alone, rule, unusable=pairs.unusable)
        if verdict.effect is not None:
            effect = verdict.effect
            return Estimate(effect.ratio, effect.low, effect.high, verdict.pairs)
        changes = pairs.log_ratios.values()
        if not changes:
            return None
        return Estimate(exp(math.fsum(changes) / len(changes)), None, None, len(changes))


def scale_outs(
    plan: Plan, attempts: Iterable[Attempt], workloads: Collection[str]
) -> tuple[ScaleOutResult, ...]:
    """Evaluate every workload and context, in the plan's order; empty where nodes are not what is
    contrasted."""
    if plan.study.contrast != NODES:
        return ()
    by_context: dict[Level, ByNodes] = defaultdict(lambda: defaultdict(dict))
    known = tuple(attempts)
    for observation in observe(plan, known):
        if observation.workload in workloads:
            by_context[observation.workload, observation.context][int(observation.side)][
                observation.block
            ] = observation
    keys = sorted(by_context, key=lambda key: plan.study.place(*key))
    return tuple(_result(_Compared(plan, known, *key, by_context[key])) for key in keys)


def _result(sides: _Compared) -> ScaleOutResult:
    plan, workload, context = sides.plan, sides.workload, sides.context
    spread = {
        trial.distribution.nodes: trial.distribution
        for trial in plan.trials
        if trial.distribution is not None
        and trial.cell.workload == workload
        and trial.cell.context(NODES) == context
    }
    points = tuple(
        _point(nodes, sides, spread[nodes].holders if nodes in spread else (FIRST,))
        for nodes in sorted(sides.by_nodes)
    )
    most = points[-1].nodes
    single = next((point for point in points if point.nodes == ONE), None)
    grown = points[-1].to_one if most > ONE else None
    shape = shape_of(grown, most) if plan.study.conclusive else Shape.WITHHELD
    options = pgbench_of(plan.study.workload(workload))
    own_rows = ROWS.get(options.script.name) if options.script.builtin else None
    return ScaleOutResult(
        workload=workload,
        context=context,
        engine=next((distribution.engine for distribution in spread.values()), ""),
        confidence=Share(1 - comparison_alpha(plan, workload)),
        points=points,
        shape=shape,
        grown=grown,
        most=most,
        cost=None if single is None else single.to_plain,
        pays=pays(points),
        cause=cause_of(shape, single, points[-1]),
        rows=options.random_rows or own_rows,
    )


def _point(nodes: int, sides: _Compared, holders: Sequence[Node]) -> NodesPoint:
    """``holders``: the servers that hold rows."""
    trials = [observation.metrics for observation in sides.by_nodes[nodes].values()]
    return NodesPoint(
        nodes=nodes,
        tps=median([trial.get(TPS.name, math.nan) for trial in trials]),
        to_plain=None if nodes == PLAIN else sides.ratio(PLAIN, nodes),
        to_one=None if nodes in (PLAIN, ONE) else sides.ratio(ONE, nodes),
        participants=_median(trial.get(PARTICIPANTS.name) for trial in trials),
        retries=_median(map(_retries, trials)),
        uses=uses_of(nodes, holders, trials),
    )


def _median(numbers: Iterable[float | None]) -> float | None:
    known = [value for value in numbers if value is not None and math.isfinite(value)]
    return median(known) if known else None


def _retries(metrics: Metrics) -> float | None:
    retries, done = metrics.get(RETRIES.name), metrics.get(TRANSACTIONS.name)
    return None if retries is None or not done else retries / done


IN_MEMORY = 0.999
"""The least share of blocks found in memory, of those asked for, at which tables are in memory."""
MUCH_LESS = 0.5
"""Blocks that were not in memory, by one node's: a gain by the cache."""
ALIKE_WITHIN = 0.01
"""The greatest difference of alike shares in memory, as a share of the blocks asked for."""


def shape_of(grown: Estimate | None, most: int) -> Shape:
    """How throughput goes from one node to ``most``, by the interval of their ratio."""
    if grown is None or grown.low is None or grown.high is None or most < 2:
        return Shape.UNDECIDED
    low, high = grown.low, grown.high
    shapes = {
        Shape.LINEAR: low >= (1 - LINEAR_WITHIN) * most and high <= (1 + LINEAR_WITHIN) * most,
        Shape.FLAT: low >= 1 - FLAT_WITHIN and high <= 1 + FLAT_WITHIN,
        Shape.SUPER_LINEAR: low > most,
        Shape.FALLING: high < 1,
        Shape.RISING: low > 1 and high < most,
    }
    return next((shape for shape, holds in shapes.items() if holds), Shape.UNDECIDED)


def cause_of(shape: Shape, point: NodesPoint | None, most: NodesPoint) -> Cause | None:
    """Find the cause of a shape by the blocks that one and the most nodes found in memory."""
    if point is None or point is most:
        return None
    first, last = point.figure("in_memory"), most.figure("in_memory")
    if first is None or last is None:
        return None
    if shape is Shape.SUPER_LINEAR:
        fell = (most.figure("disk_read") or 0.0) < (point.figure("disk_read") or 0.0)
        return Cause.CACHE if fell and 1 - last < MUCH_LESS * (1 - first) else None
    if shape in (Shape.RISING, Shape.FLAT, Shape.FALLING) and first >= IN_MEMORY:
        return Cause.ALREADY
    return Cause.ALIKE if shape is Shape.LINEAR and abs(last - first) <= ALIKE_WITHIN else None


def pays(points: Sequence[NodesPoint]) -> Pays | None:
    """The smallest measured number of nodes that does more than plain PostgreSQL."""
    ratios = [(point.nodes, point.to_plain) for point in points if point.to_plain is not None]
    if not ratios:
        return None
    surely = (pair for pair in ratios if pair[1].low is not None and pair[1].low > 1)
    nodes, ratio = next(surely, (None, None))
    possibly = (nodes for nodes, ratio in ratios if ratio.high is None or ratio.high > 1)
    return Pays(nodes, next(possibly, None), ratio, max(nodes for nodes, _ in ratios))


def uses_of(nodes: int, holders: Sequence[Node], trials: Sequence[Metrics]) -> tuple[RoleUse, ...]:
    """Compute what each role used in trials on so many nodes, of which ``holders`` hold the rows; 0
    is PostgreSQL by itself. A coordinator that holds rows is one of the nodes."""
    if nodes == PLAIN:
        return (_use(ServerRole.PLAIN, (FIRST,), trials),)
    of_nodes = _use(ServerRole.NODE, holders, trials)
    if FIRST in holders:
        return (of_nodes,)
    return _use(ServerRole.COORDINATOR, (FIRST,), trials), of_nodes


def _use(role: ServerRole, servers: Sequence[Node], trials: Sequence[Metrics]) -> RoleUse:
    used = [_Used(trial, servers) for trial in trials]
    return RoleUse(role, {name: _median(map(of, used)) for name, of in FIGURES.items()})


@dataclass(frozen=True)
class _Used:
    """The metrics of a trial, of some of its servers; None where one of these lacks them."""

    metrics: Metrics
    servers: Sequence[Node]

    def total(self, name: str) -> float | None:
        names = [name if node == FIRST else of_node(node, name) for node in self.servers]
        known = [self.metrics[name] for name in names if name in self.metrics]
        return math.fsum(known) if len(known) == len(names) else None

    def mean(self, name: str) -> float | None:
        total = self.total(name)
        return None if total is None else total / len(self.servers)

    def per_second(self, name: str) -> float | None:
        """The mean rate of one server."""
        mean, seconds = self.mean(name), self.metrics.get(MEASURED_SECONDS.name, 0.0)
        return None if mean is None or seconds <= 0 else mean / seconds

    @property
    def buffer_hits(self) -> float | None:
        hit, asked = self.total("blocks_hit"), self._asked
        return None if hit is None or not asked else hit / asked

    @property
    def cache_hits(self) -> float | None:
        return self._in_memory(self.total("blocks_read"))

    @property
    def in_memory(self) -> float | None:
        return self._in_memory(self._asked)

    @property
    def _asked(self) -> float | None:
        """Blocks that were asked for."""
        hit, missed = self.total("blocks_hit"), self.total("blocks_read")
        return None if hit is None or missed is None else hit + missed

    def _in_memory(self, blocks: float | None) -> float | None:
        """The share of blocks that did not come from storage, whose bytes reading ahead adds to."""
        read = self.total("own_disk_read_bytes")
        return None if read is None or not blocks else max(0.0, 1 - read / (blocks * BLOCK))


def _mean(name: str) -> Callable[[_Used], float | None]:
    return lambda used: used.mean(name)


def _rate(name: str) -> Callable[[_Used], float | None]:
    return lambda used: used.per_second(name)


FIGURES: Mapping[str, Callable[[_Used], float | None]] = {
    "cpu_share": _mean("own_cpu_share"),
    "memory": _mean("own_memory_bytes"),
    "buffer_hits": lambda used: used.buffer_hits,
    "cache_hits": lambda used: used.cache_hits,
    "in_memory": lambda used: used.in_memory,
    "disk_read": _rate("own_disk_read_bytes"),
    "disk_written": _rate("own_disk_written_bytes"),
    "syncs": _rate("wal_syncs"),
    "received": _rate("own_received_bytes"),
    "sent": _rate("own_sent_bytes"),
    "commits": _rate(NODE_COMMITS),
    "prepared": _mean(NODE_PREPARED),
    "reads": _rate("blocks_read"),
    "wal": _rate("wal_bytes"),
}
"""Figures of the use by servers: CPU time as a share of all processors of the machine; memory, page
cache among it; blocks found in shared buffers or in memory by all that were asked for, and in the
page cache by those that were not in shared buffers; bytes, WAL made durable, and commits of
transactions that changed something, each per second; transactions that were left prepared; blocks
that were not in shared buffers, and bytes of WAL, per second. What is of memory and disks is known
where each server has a page cache and a disk's figures of its own."""
