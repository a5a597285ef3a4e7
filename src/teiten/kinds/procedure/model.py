"""A procedure: its methods, and their steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from teiten.model.study import Script, Workload, WorkloadOptions
from teiten.model.text import Bilingual

NAME = "procedure"
METHOD = "method"
"""The factor whose levels are a workload's methods."""
MODULE = "module"
"""The place in a method's set-up where the path of its compiled C functions stands."""


class StepDo(StrEnum):
    EXECUTE = "sql"
    """A statement."""
    COPY = "copy"
    """COPY FROM STDIN of rows that a query gave before."""
    INSERT = "insert"
    """Prepared INSERTs of such rows, in one transaction."""
    PROGRAM = "program"
    """A program of the server's installation, beside the server."""
    PLAN = "plan"
    """EXPLAIN of a query: the time is the server's own of planning it."""
    CRASH = "crash"
    """A crash of the server: the time is that until it takes connections again."""


@dataclass(frozen=True)
class ProcedureStep:
    """A step, which is done by itself. ``{column}`` stands for a value of a row of ``each``."""

    name: str
    do: StepDo
    text: str
    """The statement; the query of the rows, which is not timed; the program's name; empty for a
    crash."""
    into: str = ""
    """The table that gets the rows."""
    batch: int = 1
    """Rows of one prepared INSERT."""
    each: str = ""
    """A query: the step is done once for each of its rows. Not timed."""
    times: int = 1
    """How often a statement is executed, or planned."""
    locks: bool = False
    """Each execution is a transaction of its own, whose locks are counted before it ends."""
    before: str = ""
    """A statement in the transaction of a COPY, before it, and timed with it."""
    options: str = ""
    """Options of a COPY, as they stand in its parentheses."""
    arguments: tuple[str, ...] = ()
    """Arguments of a program."""
    timed: bool = True
    """False for what a later step needs: its figures are not kept."""

    def lines(self) -> Iterator[str]:
        """For people and for comparisons."""
        times = f", {self.times} times" if self.times > 1 else ""
        yield f"-- {'timed' if self.timed else 'not timed'}: {self.name}{times}\n"
        if self.each:
            yield f"-- for each row of: {' '.join(self.each.split())}\n"
        if self._what:
            yield f"-- {self._what}\n"
        if self.locks:
            yield "-- its locks counted at the end of each transaction:\n"
        if self.text:
            yield f"{' '.join((self.text.strip(), *map(shlex.quote, self.arguments)))}\n"

    @property
    def _what(self) -> str:
        """The way of doing the text; empty for a statement."""
        before = f"after {self.before.strip()}, " if self.before else ""
        options = f" with {self.options}" if self.options else ""
        done = {
            StepDo.COPY: f"{before}COPY FROM STDIN into {self.into}{options}, rows of:",
            StepDo.INSERT: f"INSERT of {self.batch} rows a statement into {self.into}, rows of:",
            StepDo.PLAN: "the time of planning, by EXPLAIN (SUMMARY):",
            StepDo.PROGRAM: "a program of the server's installation, as its user:",
            StepDo.CRASH: "a crash of the server, until it takes connections again",
        }
        return done.get(self.do, "")


@dataclass(frozen=True)
class Method:
    """A way to do it; a level of the factor method."""

    name: str
    title: Bilingual
    steps: tuple[ProcedureStep, ...]
    setup: tuple[Script, ...] = ()
    """Before, not timed; each in one transaction."""
    cleanup: tuple[Script, ...] = ()
    """After, not timed."""
    needs: int | None = None
    """The oldest major version that can do it."""
    partitioned: bool = True
    """Its tables have the partitions that a layout tells of; growth is told of these alone."""
    against: str = ""
    """The method that it is compared with; empty for the workload's first one."""
    module: Script | None = None
    """C functions that are compiled for the server; their path takes the place ``{module}``."""
    own_server: bool = False
    """It needs what only a server has that Teiten starts."""

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of those that its steps run."""
        run = (step.text for step in self.steps if step.do is StepDo.PROGRAM)
        return tuple(dict.fromkeys(run))

    @property
    def crashes(self) -> bool:
        return any(step.do is StepDo.CRASH for step in self.steps)

    def text(self) -> str:
        """All of it, for people and for comparisons."""
        return "".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for script in self.setup:
            yield f"-- set-up: {script.name}\n{script.text.strip()}\n"
        for step in self.steps:
            yield from step.lines()
        for script in self.cleanup:
            yield f"-- clean-up: {script.name}\n{script.text.strip()}\n"


@dataclass(frozen=True)
class ProcedureOptions(WorkloadOptions):
    """The methods of a workload, and what is counted around each."""

    methods: tuple[Method, ...]
    counted: str = ""
    """A query of one number; the rows of a trial are its difference. Empty for none."""
    sized: str = ""
    """A query of the bytes that the tables take; a trial has their difference. Empty for none."""

    @property
    def source(self) -> str:
        return ", ".join(method.name for method in self.methods)

    @property
    def texts(self) -> tuple[Script, ...]:
        return tuple(Script(method.name, False, method.text()) for method in self.methods)

    @property
    def references(self) -> Mapping[str, str]:
        return {method.name: method.against for method in self.methods if method.against}

    def method(self, name: str) -> Method:
        return next(method for method in self.methods if method.name == name)


def procedure_of(workload: Workload) -> ProcedureOptions:
    """The options of a workload of this kind. Raises TypeError for another one's."""
    return workload.options_as(ProcedureOptions)
