"""From trials to throughput by nodes."""

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
from teiten.kinds.pgbench.scale_out.commit_model import ROWS
from teiten.kinds.pgbench.scale_out.judge import cause_of, pays, shape_of
from teiten.kinds.pgbench.scale_out.results import NodesPoint, RatioOfNodes, ScaleOutResult, Shape
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
    order = {name: at for at, name in enumerate(workload.name for workload in plan.study.workloads)}
    ranks = {
        (factor.name, level): at
        for factor in plan.study.factors
        for at, level in enumerate(factor.levels)
    }
    keys = sorted(found, key=lambda key: (order[key[0]], [ranks.get(one, 0) for one in key[1]]))
    return tuple(_result(_Compared(plan, known, *key, found[key])) for key in keys)


def _result(sides: _Compared) -> ScaleOutResult:
    plan, workload, context = sides.plan, sides.workload, sides.context
    spread = _spread(plan, workload, context)
    points = tuple(
        _point(nodes, sides, spread[nodes].holders if nodes in spread else (FIRST,))
        for nodes in sorted(sides.by_nodes)
    )
    most = points[-1].nodes
    one = next((each for each in points if each.nodes == ONE), None)
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
