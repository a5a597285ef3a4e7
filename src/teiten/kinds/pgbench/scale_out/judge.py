"""From ratios to words; pure."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.kinds.pgbench.scale_out.results import (
    FLAT_WITHIN,
    LINEAR_WITHIN,
    Cause,
    NodesPoint,
    Pays,
    RatioOfNodes,
    Shape,
)

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
