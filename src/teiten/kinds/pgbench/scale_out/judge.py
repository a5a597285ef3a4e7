"""From ratios to words; pure."""

from __future__ import annotations

from collections.abc import Sequence

from teiten.kinds.pgbench.scale_out.results import (
    FLAT_WITHIN,
    LINEAR_WITHIN,
    NodesPoint,
    Pays,
    RatioOfNodes,
    Shape,
)


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


def pays(points: Sequence[NodesPoint]) -> Pays | None:
    """The smallest measured number of nodes that does more than plain PostgreSQL."""
    found = [(one.nodes, one.to_plain) for one in points if one.to_plain is not None]
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
