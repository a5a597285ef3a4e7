"""The nodes of one trial: what is told of each, put together for the trial."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from teiten.execute.executor import Facts
from teiten.execute.probes.sampler import Sampling
from teiten.model.metrics import of_node
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.trial import Problem

Told = TypeVar("Told")


class Numbered(Protocol):
    @property
    def number(self) -> Node: ...


OneNode = TypeVar("OneNode", bound=Numbered)


def cluster_name(trial: PlannedTrial, node: Node, *, kept: bool) -> str:
    """Of a node's cluster, among those of a campaign. ``kept``: for the trials to come too."""
    fingerprint, copy, number = trial.cluster_of(node)
    parts = [fingerprint[:12]]
    parts += [str(copy)] if copy > 1 else []
    parts += [f"node-{number}"] if number > 1 else []
    return "-".join((*parts, "kept" if kept else "once"))


def node_of(nodes: Sequence[OneNode], number: Node) -> OneNode:
    """Raises ValueError where the trial has no such node."""
    for one in nodes:
        if one.number == number:
            return one
    raise ValueError(f"the trial has no node {number}: it has {len(nodes)}")


def together(found: Sequence[Facts]) -> Facts:
    """The facts of all nodes in order: the first node's as those of a trial on one server; where
    there are several, those of each by its number besides."""
    if len(found) == 1:
        return found[0]
    each = {str(node): dict(one) for node, one in enumerate(found, start=FIRST)}
    return {**found[0], "nodes": each}


def file_of(node: Node, name: str) -> str:
    """A node's file in the folder of the trial."""
    return name if node == FIRST else f"node-{node}-{name}"


def name_of(node: Node, count: int, name: str) -> str:
    """For messages."""
    return name if count == 1 else f"{name}, node {node}"


def problems_of(node: Node, count: int, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems that say on which of a trial's nodes they are."""
    if count == 1:
        return tuple(problems)
    return tuple(replace(one, detail=f"node {node}: {one.detail}") for one in problems)


def joined(samplings: Sequence[Sampling]) -> Sampling:
    """The telemetry of all nodes in order: the first node's under the usual names, that of others
    under names that begin with their node."""
    first, *others = samplings
    if not others:
        return first
    metrics, series, cautions = dict(first.metrics), [*first.series], [*first.cautions]
    for node, one in enumerate(others, start=FIRST + 1):
        metrics |= {of_node(node, name): value for name, value in one.metrics.items()}
        series += [replace(each, source=f"node-{node}:{each.source}") for each in one.series]
        cautions += one.cautions
    return Sampling(tuple(series), metrics, tuple(dict.fromkeys(cautions)))
