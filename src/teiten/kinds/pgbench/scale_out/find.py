"""From trials to throughput by nodes.

From ratios to words; pure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from teiten.analysis.model.observations import Context, Observation
from teiten.analysis.verdict.contrasts import compared
from teiten.analysis.verdict.pairs import observe
from teiten.analysis.verdict.verdict import Rule, exp
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.pgbench.metrics import RETRIES, TPS
from teiten.kinds.pgbench.model import pgbench_of
from teiten.kinds.pgbench.scale_out.results import (
    FLAT_WITHIN,
    LINEAR_WITHIN,
    ROWS,
    Cause,
    NodesPoint,
    Pays,
    RatioOfNodes,
    ScaleOutResult,
    Shape,
)
from teiten.kinds.pgbench.scale_out.use import PLAIN, per_second, uses_of
from teiten.model.distribution import Distribution
from teiten.model.metrics import PARTICIPANTS, TRANSACTIONS
from teiten.model.plan import FIRST, Node, Plan
from teiten.model.study import Workload
from teiten.model.trial import Attempt
from teiten.model.units import Share

NODES = "nodes"
ONE = 1
ByNodes = dict[int, dict[int, Observation]]
"""Nodes to block to what was measured."""


@dataclass(frozen=True)
class _Compared:
    """The ratios of throughputs at one context, each at the level that the campaign's verdict on
    the same two sides has there."""

    plan: Plan
    attempts: Sequence[Attempt]
    workload: str
    context: Context
    by_nodes: ByNodes

    def ratio(self, old: int, new: int) -> RatioOfNodes | None:
        """None where no block has both."""
        trials = [one for nodes in (old, new) for one in self.by_nodes.get(nodes, {}).values()]
        rule = Rule(
            self.plan.study.measure.delta,
            comparison_alpha(self.plan, self.workload),
            TPS.better,
            worded=False,
        )
        pairs, verdict = compared(
            self.plan,
            self.attempts,
            trials,
            context=self.context,
            metric=TPS.name,
            sides=(str(old), str(new)),
            rule=rule,
        )
        if verdict.effect is not None:
            effect = verdict.effect
            return RatioOfNodes(effect.ratio, effect.low, effect.high)
        changes = pairs.log_ratios.values()
        return RatioOfNodes(exp(math.fsum(changes) / len(changes)), None, None) if changes else None


def scale_outs(
    plan: Plan, attempts: Iterable[Attempt], workloads: Collection[str]
) -> tuple[ScaleOutResult, ...]:
    """Evaluate every workload and context, in the plan's order; empty where the study's contrast is
    another than the number of nodes."""
    if plan.study.contrast != NODES:
        return ()
    found: dict[tuple[str, Context], ByNodes] = defaultdict(lambda: defaultdict(dict))
    known = tuple(attempts)
    for one in observe(plan, known):
        if one.workload in workloads:
            found[one.workload, one.context][int(one.side)][one.block] = one
    keys = sorted(found, key=lambda key: plan.study.place(*key))
    return tuple(_result(_Compared(plan, known, *key, found[key])) for key in keys)


def _result(sides: _Compared) -> ScaleOutResult:
    plan, workload, context = sides.plan, sides.workload, sides.context
    spread = _spread(plan, workload, context)
    points = tuple(
        _point(nodes, sides, spread[nodes].holders if nodes in spread else (FIRST,))
        for nodes in sorted(sides.by_nodes)
    )
    most = points[-1].nodes
    one = next((point for point in points if point.nodes == ONE), None)
    grown = points[-1].to_one if most > ONE else None
    shape = shape_of(grown, most) if plan.study.conclusive else Shape.WITHHELD
    return ScaleOutResult(
        workload=workload,
        context=context,
        engine=next((one.engine for one in spread.values()), ""),
        confidence=Share(1 - comparison_alpha(plan, workload)),
        points=points,
        shape=shape,
        grown=grown,
        most=most,
        cost=None if one is None else one.to_plain,
        pays=pays(points),
        cause=cause_of(shape, one, points[-1]),
        rows=_rows(plan.study.workload(workload)),
    )


def _spread(plan: Plan, workload: str, context: Context) -> dict[int, Distribution]:
    """How the tables lie, by the number of nodes."""
    return {
        trial.distribution.nodes: trial.distribution
        for trial in plan.trials
        if trial.distribution is not None
        and trial.cell.workload == workload
        and trial.cell.context(NODES) == context
    }


def _rows(workload: Workload) -> int | None:
    options = pgbench_of(workload)
    own = ROWS.get(options.script.name) if options.script.builtin else None
    return options.random_rows or own


def _point(nodes: int, sides: _Compared, holders: Sequence[Node]) -> NodesPoint:
    """``holders``: the servers that hold rows."""
    trials = [one.metrics for one in sides.by_nodes[nodes].values()]
    uses = uses_of(nodes, holders, trials)
    return NodesPoint(
        nodes=nodes,
        tps=median([trial.get(TPS.name, math.nan) for trial in trials]),
        to_plain=None if nodes == PLAIN else sides.ratio(PLAIN, nodes),
        to_one=None if nodes in (PLAIN, ONE) else sides.ratio(ONE, nodes),
        reads_per_node=_median(trials, lambda one: per_second(one, holders, "blocks_read")),
        wal_per_node=_median(trials, lambda one: per_second(one, holders, "wal_bytes")),
        participants=_median(trials, lambda one: one.get(PARTICIPANTS.name)),
        retries=_median(trials, _retries),
        uses=uses,
    )


def _median(
    trials: Sequence[Mapping[str, float]], number: Callable[[Mapping[str, float]], float | None]
) -> float | None:
    known = [one for one in map(number, trials) if one is not None and math.isfinite(one)]
    return median(known) if known else None


def _retries(metrics: Mapping[str, float]) -> float | None:
    retries, done = metrics.get(RETRIES.name), metrics.get(TRANSACTIONS.name)
    return None if retries is None or not done else retries / done


IN_MEMORY = 0.999
"""The least share of blocks found in memory, of those asked for, at which tables are in memory."""
MUCH_LESS = 0.5
"""Blocks that were not in memory, by one node's: a gain by the cache."""
ALIKE_WITHIN = 0.01
"""The greatest difference of alike shares in memory, as a share of the blocks asked for."""


def shape_of(grown: RatioOfNodes | None, most: int) -> Shape:
    """How throughput goes from one node to ``most``, by the interval of their ratio."""
    if grown is None or grown.low is None or grown.high is None or most < 2:
        return Shape.UNDECIDED
    low, high = grown.low, grown.high
    told = {
        Shape.LINEAR: low >= (1 - LINEAR_WITHIN) * most and high <= (1 + LINEAR_WITHIN) * most,
        Shape.FLAT: low >= 1 - FLAT_WITHIN and high <= 1 + FLAT_WITHIN,
        Shape.SUPER_LINEAR: low > most,
        Shape.FALLING: high < 1,
        Shape.RISING: low > 1 and high < most,
    }
    return next((shape for shape, holds in told.items() if holds), Shape.UNDECIDED)


def cause_of(shape: Shape, one: NodesPoint | None, most: NodesPoint) -> Cause | None:
    """Find the cause that the servers' figures suggest for a shape, by the blocks that one node and
    that the most nodes found in memory."""
    if one is None or one is most or one.in_memory is None or most.in_memory is None:
        return None
    if shape is Shape.SUPER_LINEAR:
        fell = (most.disk_reads_per_node or 0.0) < (one.disk_reads_per_node or 0.0)
        return Cause.CACHE if fell and _missed(most) < MUCH_LESS * _missed(one) else None
    if shape in (Shape.RISING, Shape.FLAT, Shape.FALLING) and one.in_memory >= IN_MEMORY:
        return Cause.ALREADY
    if shape is Shape.LINEAR and abs(most.in_memory - one.in_memory) <= ALIKE_WITHIN:
        return Cause.ALIKE
    return None


def _missed(point: NodesPoint) -> float:
    return 1 - (point.in_memory or 0.0)


def pays(points: Sequence[NodesPoint]) -> Pays | None:
    """The smallest measured number of nodes that does more than plain PostgreSQL."""
    found = [(point.nodes, point.to_plain) for point in points if point.to_plain is not None]
    if not found:
        return None
    surely = next(((nodes, ratio) for nodes, ratio in found if ratio.above_one), None)
    possibly = next((nodes for nodes, ratio in found if ratio.may_be_above_one), None)
    return Pays(
        nodes=None if surely is None else surely[0],
        possibly=possibly,
        ratio=None if surely is None else surely[1],
        most=max(nodes for nodes, _ in found),
    )
