"""The nodes of one trial: what is told of each, put together for the trial."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import psycopg

from teiten.execute.bench import Bench
from teiten.execute.executor import Facts
from teiten.execute.probes.sampler import Sampling
from teiten.execute.sites.prewarming import prewarm
from teiten.model.metrics import of_node
from teiten.model.plan import FIRST, Node, PlannedTrial
from teiten.model.trial import Problem


class TrialNode(ABC):
    """A server of a trial, or a database on one."""

    def __init__(self, bench: Bench, trial: PlannedTrial, number: Node) -> None:
        self._trial = trial
        self.number = number
        self.template = dict(trial.nodes)[number]
        study = bench.plan.study
        self._restores = study.restores(study.workload(trial.cell.workload))
        """The trial changes the data, so that no other one can have them."""
        self.reported: dict[str, Any] = {}
        """Facts that the server told of itself when it was started."""
        self.evidence: list[tuple[str, str]] = []
        """Kinds and names of the files that were kept in the trial's folder."""
        self._own_facts: Facts = {}

    @property
    def facts(self) -> Facts:
        return self._own_facts

    @abstractmethod
    def connect(self) -> psycopg.Connection[Any]: ...

    def prewarm(self) -> Facts:
        return prewarm(self.connect)

    def checkpoint(self) -> Facts:
        with self.connect() as connection:
            connection.execute("CHECKPOINT")
        return {}


NodeT_co = TypeVar("NodeT_co", bound=TrialNode, covariant=True)


class Nodes(Generic[NodeT_co]):
    """A trial's nodes in order, and which of them was asked last."""

    def __init__(self, nodes: Iterable[NodeT_co]) -> None:
        self._all = tuple(nodes)
        self.first = self.asked = self._all[0]

    def __iter__(self) -> Iterator[NodeT_co]:
        return iter(self._all)

    @property
    def numbers(self) -> tuple[Node, ...]:
        return tuple(node.number for node in self._all)

    @property
    def facts(self) -> Facts:
        return together([node.facts for node in self._all])

    def node(self, number: Node) -> NodeT_co:
        """Raises ValueError where the trial has no such node."""
        for node in self._all:
            if node.number == number:
                return node
        raise ValueError(f"the trial has no node {number}: it has {len(self._all)}")

    def of_each(self, step: Callable[[NodeT_co], Facts]) -> Facts:
        """Take a step on one node after the other."""
        done = []
        for node in self._all:
            self.asked = node
            done.append(step(node))
        return together(done)

    def connect(self, number: Node) -> psycopg.Connection[Any]:
        self.asked = self.node(number)
        return self.asked.connect()

    def problems(self, of_node: Callable[[NodeT_co], Iterable[Problem]]) -> tuple[Problem, ...]:
        """Where there are several, each says on which of them it is."""
        if len(self._all) == 1:
            return tuple(of_node(self.first))
        return tuple(
            replace(problem, detail=f"node {node.number}: {problem.detail}")
            for node in self._all
            for problem in of_node(node)
        )

    def named(self, node: TrialNode, name: str) -> str:
        """For messages."""
        return name if len(self._all) == 1 else f"{name}, node {node.number}"


def cluster_name(trial: PlannedTrial, node: Node, *, kept: bool) -> str:
    """The name of a node's cluster among those of a campaign. ``kept``: for trials to come too."""
    fingerprint, copy, number = trial.cluster_of(node)
    parts = [fingerprint[:12]]
    parts += [str(copy)] if copy > 1 else []
    parts += [f"node-{number}"] if number > 1 else []
    return "-".join((*parts, "kept" if kept else "once"))


def together(each_node: Sequence[Facts]) -> Facts:
    """The facts of all nodes in order: the first node's as those of a trial on one server; where
    there are several, those of each by its number besides."""
    if len(each_node) == 1:
        return each_node[0]
    numbered = {str(node): dict(facts) for node, facts in enumerate(each_node, start=FIRST)}
    return {**each_node[0], "nodes": numbered}


def file_of(node: Node, name: str) -> str:
    """A node's file in the folder of the trial."""
    return name if node == FIRST else f"node-{node}-{name}"


def joined(samplings: Sequence[Sampling]) -> Sampling:
    """The telemetry of all nodes in order: the first node's under the usual names, that of others
    under names that begin with their node."""
    first, *others = samplings
    if not others:
        return first
    metrics, series, cautions = dict(first.metrics), [*first.series], [*first.cautions]
    for node, sampling in enumerate(others, start=FIRST + 1):
        metrics |= {of_node(node, name): value for name, value in sampling.metrics.items()}
        series += [replace(own, source=f"node-{node}:{own.source}") for own in sampling.series]
        cautions += sampling.cautions
    return Sampling(tuple(series), metrics, tuple(dict.fromkeys(cautions)))
