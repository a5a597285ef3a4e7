"""Over how many nodes the tables are spread; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from teiten.datasets.plan import plan_of as plan_of_data
from teiten.engines.registry import DEFAULT, engine_of
from teiten.errors import UsageError
from teiten.factors.contract import FactorRule, Need, WrittenStudy
from teiten.model.distribution import AttachedCluster, CoordinatorRows, Distribution, SpreadBy
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Factor, Study, Workload

PLAIN = 0
"""One server without any engine, which the nodes are compared with."""
MOST = 64
PRELOAD = "shared_preload_libraries"


class OfOwnServers(FactorRule):
    """A factor that needs nothing of a place where all engines' servers run already."""

    of_server = False
    of_data = True

    def needs_in(self, study: Study) -> frozenset[Need]:
        return frozenset() if runs_already(study) else self.needs


class NodesFactor(OfOwnServers):
    name = "nodes"
    rank = 65
    flag = "--set {factor}=0,1,2"
    needs: ClassVar[frozenset[Need]] = frozenset({Need.INITDB, Need.START, Need.TOGETHER})

    def level(self, value: Any) -> str:
        text = str(value).strip()
        if text == "plain":
            return str(PLAIN)
        if not text.isdecimal() or int(text) > MOST:
            raise ValueError(
                f"must be a number of nodes up to {MOST}, or 0 (or plain) for PostgreSQL by itself,"
                f" not {text!r}"
            )
        return str(int(text))

    def applies(self, workload: Workload) -> bool:
        return plan_of_data(workload.data.kind).spreads

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Tables are spread as they are filled."""
        for workload in written.workloads:
            if workload.layouts:
                raise written.contradiction(
                    ("factors", self.name),
                    f"the tables of {workload.name} have layouts, and tables that are spread have"
                    " none",
                )
            if not self.applies(workload):
                raise written.error(
                    ("factors", self.name),
                    f"the tables of {workload.name} are of the kind {workload.data.kind}, which"
                    " cannot be spread over nodes",
                    "pgbench's own tables can: leave data out",
                )

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        nodes = int(level)
        if nodes == PLAIN:
            return setup
        engine = engine_of(cell.level("engine") or DEFAULT)
        server = cell.cell.server
        cluster = None if engine.starts else cluster_of(cell.study, server, nodes)
        planned = Distribution(
            engine.name,
            nodes,
            SpreadBy(cell.level("distribution") or SpreadBy.OWN_KEY),
            int(cell.level("shards") or engine.shards(nodes)) if engine.shards(nodes) else 0,
            scale=int(setup.data.scale or 1),
            fillfactor=int(setup.data.options.told.get("fillfactor", 100)),
            coordinator=CoordinatorRows(cell.level("coordinator") or CoordinatorRows.APART),
            statements=None if cluster is None else cluster.statements,
        )
        data = plan_of_data(setup.data.kind)
        parts = tuple(data.part_of(setup.data, part) for part in engine.parts(planned))
        spread = replace(setup, parts=parts, distribution=planned)
        return spread.with_settings(_together(engine.settings(setup.load.connections), setup))


def cluster_of(study: Study, server: str, nodes: int) -> AttachedCluster:
    """The cluster behind a server, as the study names it. Raises UsageError where that
    is nothing, or has fewer nodes."""
    cluster = study.cluster(server)
    if cluster is None:
        raise UsageError(
            f"the study names no nodes behind the server {server}, and its engine is one that runs"
            " already",
            "--servers NAME=postgresql://…, and in the study file a table [clusters.NAME] with its"
            " nodes (docs/guides/scale-out.md); or an engine whose servers Teiten starts: --set"
            f" engine={DEFAULT}",
        )
    if nodes > len(cluster.nodes):
        raise UsageError(
            f"nodes={nodes}: [clusters.{server}] names {len(cluster.nodes)} nodes",
            f"name {nodes - len(cluster.nodes)} more, or fewer nodes: --set"
            f" nodes=0,…,{len(cluster.nodes)}",
        )
    return cluster


def runs_already(study: Study) -> bool:
    """Whether all engines of a study have servers that Teiten does not start."""
    return not any(engine_of(level).starts for level in study.levels("engine") or (DEFAULT,))


def _together(wanted: Mapping[str, str], setup: Setup) -> dict[str, str]:
    """An engine's parameters, and the study's before them, but that both load their libraries:
    the engine's first, as some demand."""
    given = dict(setup.settings)
    libraries = [settings[PRELOAD] for settings in (wanted, given) if settings.get(PRELOAD)]
    loaded = {PRELOAD: ",".join(dict.fromkeys(libraries))} if libraries else {}
    return {**wanted, **given, **loaded}


class OfNodes(OfOwnServers):
    """A factor that says nothing of trials without nodes."""

    says: ClassVar[str]
    """The purpose of the factor, in an error."""

    def applies(self, workload: Workload) -> bool:
        return FACTOR.applies(workload)

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        if FACTOR.name not in written.factors:
            raise written.error(
                ("factors", self.name),
                f"{self.says}, and the study has no factor nodes",
                f"add levels: {FACTOR.flag.format(factor=FACTOR.name)}",
            )


def most_nodes(study: Study) -> int:
    """The largest number of nodes of any trial; 1 where there is none."""
    return max([1, *map(int, study.levels(NodesFactor.name))])


FACTOR = NodesFactor()
