"""A probe: steps that make a state, verify it, and time statements in it; data, not code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from teiten.model.study import Script, Workload, WorkloadOptions
from teiten.model.text import Bilingual
from teiten.model.units import Bytes, Seconds

NAME = "probes"
PROBE = "probe"
"""The factor whose levels are a workload's probes."""
BLOCK = Bytes(8192)
"""The size of a page: the server's usual one, and the only one that probes run on."""
PLACE = "{block}"
"""In a statement: the number of the page that it asks for."""


class Of(StrEnum):
    """The whole that an amount is a share of."""

    BUFFERS = "buffers"
    """The trial's shared_buffers."""
    MEMORY = "memory"
    """The memory that the tables were made for: the limit's, or the machine's."""
    TABLE = "table"
    """The step's table."""
    PAGES = "pages"
    """Nothing: a number of pages."""
    CORES = "cores"
    """The processors that the load generator has; of clients alone."""
    CLIENTS = "clients"
    """Nothing: a number of clients."""


@dataclass(frozen=True)
class Amount:
    """How much: ``90% of buffers``, ``500 pages``, ``200% of cores``."""

    value: float
    """A share (0.9), or a number where it is of nothing."""
    of: Of

    def __str__(self) -> str:
        if self.of in (Of.PAGES, Of.CLIENTS):
            return f"{self.value:g} {self.of}"
        return f"{100 * self.value:g}% of {self.of}"


class Do(StrEnum):
    """The action of a step."""

    LOAD = "load"
    """Read a part of a table, in the order of its pages, into buffers or the page cache alone."""
    TOUCH = "touch"
    """Read random pages of a part, not timed, as a working set is read: until caches hold what
    they will hold of it."""
    FORGET = "forget"
    """Let the files of a table leave the page cache."""
    SET = "set"
    """Set parameters of the server that need no restart; only where it is thrown away after the
    trial."""
    EXECUTE = "execute"
    """A statement once, such as the scan of a table; its time is kept."""
    REQUIRE = "require"
    """Verify the state: where the pages of a part are. A trial in another state does not count."""
    MEASURE = "measure"
    """Statements one by one, each for one page, each timed by EXPLAIN (ANALYZE, BUFFERS)."""
    CLIENTS = "clients"
    """Run one statement again and again by pgbench, at several numbers of clients."""
    CHECKPOINT = "checkpoint"
    """CHECKPOINT again and again, each after a few pages were changed; timed."""


MEASURING = (Do.MEASURE, Do.CLIENTS, Do.CHECKPOINT)


class Order(StrEnum):
    """In which order statements ask for pages of their part."""

    RANDOM = "random"
    """Each drawn anew, with the trial's seed."""
    ASCENDING = "ascending"
    """From the part's first page; evenly spread over it where it has more than are asked for."""
    NEXT = "next"
    """The part's first pages, one after the other."""


class Take(StrEnum):
    """How the number of a trial is made of what a step measured."""

    MEAN = "mean"
    """The mean execution time; of clients: pgbench's mean latency at the most clients."""
    MEDIAN = "median"
    """The median execution time, or that of a checkpoint (``measurement.median_of``)."""
    COMMIT = "commit"
    """The median time of COMMIT."""
    SWEEP = "sweep"
    """The cost of a clock sweep around all buffers: by how much longer statements take that sweep,
    for each time around."""


@dataclass(frozen=True)
class State:
    """Conditions that a part must meet; shares of its pages, None where nothing is demanded.

    The least share is of what can be there at all: where the buffers are fewer than the part's
    pages, of the buffers.
    """

    buffers_at_least: float | None = None
    buffers_at_most: float | None = None
    os_cache_at_least: float | None = None
    os_cache_at_most: float | None = None
    memory_at_least: float | None = None
    """In the buffers or in the page cache; where each page is matters not."""


@dataclass(frozen=True)
class ProbeStep:
    """A step; which fields it needs, its ``do`` says (``read.py`` refuses others)."""

    do: Do
    name: str = ""
    """The name of what is measured, in the ledger; unique in a probe."""
    table: str = ""
    part: Amount | None = None
    """The first pages of the table; None for all. In a probe with ``parts``: of these each one in
    turn, where ``each`` is set."""
    each: bool = False
    """The part is the one of ``Probe.parts`` whose turn it is."""
    os_cache_only: bool = False
    """LOAD: not into buffers."""
    times: float = 1.0
    """LOAD: how often, so that a usage count becomes as high; TOUCH: pages read, by the part's."""
    new_pages: bool = False
    """LOAD: only those that it did not load for a part before; parts are then in rising order."""
    leaving: int = 0
    """LOAD: as many pages as leave this number of buffers unused; in place of a part."""
    statement: str = ""
    """MEASURE, CLIENTS: with the place ``{block}``; EXECUTE: as it is; CHECKPOINT: what changes a
    page."""
    statements: int = 0
    """MEASURE: how many; CHECKPOINT: how many checkpoints."""
    changes: int = 0
    """CHECKPOINT: the pages that are changed before each."""
    order: Order = Order.RANDOM
    commit: bool = False
    """MEASURE: each in a transaction of its own, whose COMMIT is timed apart."""
    watch: bool = False
    """MEASURE: the histogram of usage counts before and after every statement."""
    parameters: tuple[tuple[str, str], ...] = ()
    """SET."""
    clients: tuple[Amount, ...] = ()
    seconds: Seconds | None = None
    """CLIENTS: for each number of clients."""
    state: State = State()
    """REQUIRE."""


@dataclass(frozen=True)
class Probe:
    """One file: what is asked of which part of the server."""

    name: str
    """A level of the factor probe."""
    title: Bilingual
    description: Bilingual
    steps: tuple[ProbeStep, ...]
    number_of: str
    """The name of the step whose measurement gives the trial's number."""
    take: Take
    parts: tuple[Amount, ...] = ()
    """Steps with ``each`` are done for each of these in turn; all others once, before them."""
    source: str = ""
    """In the published report: ``2021 WG3 #7``."""
    text: str = ""
    """The file as it is written."""


AMOUNTS = re.compile(r"^(?:statements|seconds)\s*=.*\n?", re.MULTILINE)
"""Lines of a probe's file that say how often or how long a step measures."""


@dataclass(frozen=True)
class ProbesOptions(WorkloadOptions):
    """Which probes are run, and how many statements each times."""

    probes: tuple[Probe, ...]
    share: float = 1.0
    """The share that is run of each probe's statements, and of its clients' time: less for a quick
    look."""
    require_state: bool = True
    """A trial whose state was not reached does not count."""
    working_set: Bytes | None = None
    """Bytes that the user's workload reads again and again; for the report alone, as the next
    two."""
    connections: int | None = None
    """The number of connections that there may be at the same time."""
    work_mem: Bytes | None = None
    """work_mem of each connection; None: the server's own setting."""

    @property
    def source(self) -> str:
        return ", ".join(probe.name for probe in self.probes)

    @property
    def texts(self) -> tuple[Script, ...]:
        return tuple(Script(probe.name, False, probe.text) for probe in self.probes)

    @property
    def work(self) -> tuple[Script, ...]:
        """Probes without how often and how long, which is precision (see ``share``)."""
        return tuple(Script(text.name, False, AMOUNTS.sub("", text.text)) for text in self.texts)

    def probe(self, name: str) -> Probe:
        return next(probe for probe in self.probes if probe.name == name)


def run_of(workload: Workload) -> tuple[Probe, ...]:
    """The probes that a workload runs: without those that its servers cannot carry."""
    left = workload.own_levels(PROBE)
    return tuple(
        probe for probe in probes_of(workload).probes if left is None or probe.name in left
    )


def probes_of(workload: Workload) -> ProbesOptions:
    """The options of a workload of this kind. Raises TypeError for another one's."""
    return workload.options_as(ProbesOptions)
