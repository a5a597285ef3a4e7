"""How the size of the tables goes with the number of nodes (2013 §5.4.1); pure."""

from __future__ import annotations

from dataclasses import replace

from teiten.factors.nodes import FACTOR as NODES
from teiten.factors.nodes import OfNodes, most_nodes
from teiten.model.setup import PlannedCell, Setup

THROUGHPUT = "throughput"
"""The size is fixed: the scale for each node, times the most nodes of the study."""
SIZE = "size"
"""The size grows with the nodes: the scale for each node, times the trial's."""


class ScenarioFactor(OfNodes):
    name = "scenario"
    says = "says how the tables grow with the nodes"
    rank = 63
    choices = (THROUGHPUT, SIZE)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        """The study's scale is that for each node."""
        study, scale = cell.study, setup.data.scale
        own = max(1, int(cell.level(NODES.name) or 1))
        times = most_nodes(study) if level == THROUGHPUT else own
        data = replace(setup.data, scale=None if scale is None else scale * times)
        return replace(setup, data=data)


FACTOR = ScenarioFactor()
