"""A study: what is asked, with which factors, workloads and settings.

Values that a profile leaves to the machine are ``None`` (or an empty tuple of levels) until
``plan.sizing`` has filled them from the facts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from teiten.model.build import BuildSpec
from teiten.model.distribution import AttachedCluster
from teiten.model.hosts import Hosts
from teiten.model.nodes import EmulatedNodes
from teiten.model.storage import StorageClass
from teiten.model.text import Bilingual
from teiten.model.units import Bytes, Seconds, Share

MOST_SECONDS = Seconds(32.0)
"""The longest start of paired transactions: a longer one risks too much in one start."""

SERVER = "server"
"""The factor that every study has: the servers that it runs on."""
GUC_PREFIX = "guc:"
"""A factor of this prefix varies a server parameter: ``guc:shared_buffers``."""
EXTENSION_PREFIX = "extension:"
"""A factor of this prefix varies an extension's version: ``extension:postgis``."""
Settings = tuple[tuple[str, str], ...]
"""Server parameters, each with its value."""


@dataclass(frozen=True)
class Factor:
    """A varied condition. ``name``: of a folder of ``factors``, ``extension:NAME`` or
    ``guc:NAME``."""

    name: str
    levels: tuple[str, ...]
    """Canonical texts, in the order of the study; the first one is the old side of a contrast."""


@dataclass(frozen=True)
class Setting:
    """A server parameter of the study, and why the study sets it."""

    name: str
    value: str | None
    """In the form of postgresql.conf, without quotes; None until sizing has derived it."""
    reason: Bilingual
    source: str
    """The report's section, the user's file, or ``command line``."""


class QueryMode(StrEnum):
    SIMPLE = "simple"
    EXTENDED = "extended"
    PREPARED = "prepared"


@dataclass(frozen=True)
class Script:
    """The statements of each transaction: one of pgbench's own scripts, or a text."""

    name: str
    """A name for people: ``range-read.sql``, ``tpcb-like``."""
    builtin: bool
    text: str
    """The script's text; empty for pgbench's own."""


AS_FILLED, LAID_OUT = Share(1.0), Share(1.5)
"""The size of tables in a layout that does not say, by their size before: without scripts, with."""


@dataclass(frozen=True)
class Layout:
    """How the same rows are laid out: what is done to the tables after they were filled."""

    name: str
    """A level of the factor layout."""
    scripts: tuple[Script, ...] = ()
    """SQL, in order, each in one transaction; none leaves the tables as they were filled."""
    size: Share = AS_FILLED
    """The size of tables and indexes afterwards, as a ratio to their size before."""
    needs: int | None = None
    """The oldest major version of PostgreSQL that can run the scripts."""
    all_visible: bool = True
    """Vacuumed after the scripts, until every page is known to be visible; otherwise before them,
    so that what they change stays as it is left, and the tables are analysed only."""
    visible: Share | None = None
    """The share of all pages that is then known to be visible: seen when the tables are made, and
    again before every trial; None where nobody looks. Such tables are vacuumed before the scripts
    in any case."""
    partitions: int | None = None
    """How many the largest of the tables then has; None where the study does not say."""
    indexes: int = 0
    """How many indexes each of these partitions has."""

    @property
    def relations(self) -> int:
        """How many relations a transaction locks that reads all partitions."""
        return (self.partitions or 0) * (1 + self.indexes)


@dataclass(frozen=True)
class TableState:
    """State of tables that were filled: a level of the factor that makes it
    (``factors/FACTOR/fill.py``)."""

    factor: str
    level: str
    recipe: str
    """A digest of what makes it; empty where nothing has to be done."""
    size: Share = AS_FILLED
    """The size of tables and indexes afterwards, as a ratio to their size before."""
    upgraded: bool = False
    """The cluster is that of the study's first server, upgraded by pg_upgrade."""


@dataclass(frozen=True)
class DataOptions:
    """Options of tables of one kind; each kind's own stand in ``datasets/KIND/model.py``."""

    @property
    def told(self) -> Mapping[str, Any]:
        """For the words of reports and for JSON: what there is besides the scale, by name."""
        return {}

    def described(self, scale: float | None) -> str:
        """In a few words: ``scale 20, fillfactor 100``."""
        raise NotImplementedError


OptionsOfData = TypeVar("OptionsOfData", bound=DataOptions)


@dataclass(frozen=True)
class DataSet:
    """The tables of a workload."""

    scale: int | float | None
    """The scale factor of pgbench or of the Star Schema Benchmark, whose fractions are float; 1 of
    a script's tables."""
    kind: str
    """A folder of ``teiten.datasets``: who makes the tables."""
    options: DataOptions
    """The options of its kind."""
    layout: Layout | None = None
    """Which of the workload's layouts a template has; None where the workload has none."""
    spread: bool = False
    """WAL, tables, indexes and temporary files stand in folders of their own beside the data
    directory (``initdb --waldir``, tablespaces), so that each can lie on another storage."""
    state: TableState | None = None
    """None where no factor says in which state they are."""
    extensions: tuple[tuple[str, str], ...] = ()
    """Extensions that are created before the tables, each at its version."""

    def options_as(self, form: type[OptionsOfData]) -> OptionsOfData:
        """The options, of a kind's own class. Raises TypeError where they are another kind's."""
        if not isinstance(self.options, form):
            raise TypeError(f"{self} is of the kind {self.kind}")
        return self.options

    def __str__(self) -> str:
        """``scale 20, fillfactor 100``, ``the tables of mine.sql, layout plain``."""
        laid_out = "" if self.layout is None else f", layout {self.layout.name}"
        spread = ", in tablespaces" if self.spread else ""
        state = "" if self.state is None else f", {self.state.factor} {self.state.level}"
        created = "".join(f", {name} {version}" for name, version in self.extensions)
        return f"{self.options.described(self.scale)}{laid_out}{spread}{state}{created}"


@dataclass(frozen=True)
class ParameterSet:
    """Server parameters that are varied together: a level of the factor parameters."""

    name: str
    settings: tuple[tuple[str, str], ...]
    """Name and value in the form of postgresql.conf."""


@dataclass(frozen=True)
class WorkloadOptions:
    """Options of workloads of one kind; each kind's own stand in ``kinds/KIND/model.py``."""

    @property
    def source(self) -> str:
        """A name for people of what is run: a script's, a folder's."""
        return ""

    @property
    def texts(self) -> tuple[Script, ...]:
        """The scripts or statements that are run, in order."""
        return ()

    @property
    def work(self) -> tuple[Script, ...]:
        """The texts as far as they say what is done: those that are equal do the same work."""
        return self.texts

    @property
    def drawn(self) -> str:
        """A comment that says from which list their variables are drawn; empty where none is."""
        return ""

    @property
    def references(self) -> Mapping[str, str]:
        """By a level of the contrasted factor: the level that it is compared with, where that is
        another than the workload's first."""
        return {}

    @property
    def statement_levels(self) -> tuple[str, ...]:
        """The levels of the factor statements that it has texts for."""
        return ()


OptionsOfKind = TypeVar("OptionsOfKind", bound=WorkloadOptions)


@dataclass(frozen=True)
class Workload:
    """A load on one server. Workloads are not contrasted with one another."""

    name: str
    title: Bilingual
    description: Bilingual
    kind: str
    """A folder of ``teiten.kinds``: who does the work, and what is measured."""
    options: WorkloadOptions
    """The options of its kind."""
    data: DataSet
    changes_data: bool
    """The cluster is restored from its template before every trial."""
    layouts: tuple[Layout, ...] = ()
    """Those that its tables may have; empty where the factor layout says nothing of it."""
    preload: tuple[str, ...] = ()
    """Extensions whose libraries every session of this workload loads."""
    levels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Factors of which this workload has only some levels, with these."""

    def own_levels(self, factor: str) -> tuple[str, ...] | None:
        """The levels of a factor that this workload has; None for all of them."""
        return dict(self.levels).get(factor)

    def options_as(self, form: type[OptionsOfKind]) -> OptionsOfKind:
        """The options, of a kind's own class. Raises TypeError where they are another kind's."""
        if not isinstance(self.options, form):
            raise TypeError(f"the workload {self.name} is of the kind {self.kind}")
        return self.options

    def limited(self, factor: str, levels: tuple[str, ...]) -> Workload:
        """The workload with these levels of a factor alone; with all of them for none."""
        others = tuple(level for level in self.levels if level[0] != factor)
        return replace(self, levels=((factor, levels), *others) if levels else others)

    def layout(self, name: str) -> Layout:
        return next(layout for layout in self.layouts if layout.name == name)


FLAME_GRAPH_WINDOW = Seconds(10.0)
"""At 499 samples per second, 5,000 of one busy backend: a share of 5 % is known to 0.3 points."""


USUAL_DISTURBED_SHARE = Share(0.05)
"""``Measure.disturbed_share`` of one side at a time, where a study does not say otherwise; beyond
it a machine counts as busy."""


class CachePolicy(StrEnum):
    """The treatment of the OS page cache before the server starts."""

    KEEP = "keep"
    EVICT = "evict"
    """The cluster's own files leave the page cache."""
    DROP = "drop"
    """The whole page cache is dropped where the machine allows; else as EVICT."""


CLASSIC = "classic"
"""The way of a study that says nothing: one side after the other."""


@dataclass(frozen=True)
class Sequential:
    """Blocks until every verdict is decided, or the budget is spent (METHOD.md, When to stop)."""

    budget: Seconds | None
    """The time that the campaign may take, preparation included; None until sizing."""
    most_blocks: int | None = None
    """No more blocks than these, whatever the budget permits."""
    beyond_delta: bool = False
    """A verdict of slower or faster is decided only once its whole interval lies beyond δ: every
    side is then on one side of δ, as a search for a commit needs it."""
    controls: tuple[str, ...] = ()
    """Levels that are the same as the old one, and show how much equal sides differ: the campaign
    waits for no verdict on them."""


@dataclass(frozen=True)
class PreferredWay:
    """A way of loading the sides that a study takes where it can be had, and its own design."""

    name: str
    sequential: Sequential | None


@dataclass(frozen=True)
class Measure:
    """How a trial is measured and judged."""

    duration: Seconds | None
    """The measured seconds of a trial; None until sizing."""
    warmup: Seconds | None
    """Load before the measured seconds, discarded."""
    settle: Seconds
    """Rest after the CHECKPOINT, before the warm-up."""
    blocks: int
    """The number of a fixed design; of a sequential one, once sized, the most in its budget."""
    caches: CachePolicy
    prewarm: bool
    delta: Share
    """The smallest difference that matters (METHOD.md, Verdicts)."""
    alpha: Share
    disturbed_share: Share | None
    """A trial in which others used, or the hypervisor stole, more of the CPU is disturbed. None
    until sizing, where the way says it."""
    repeats: int = 2
    """How often a failed or disturbed trial is run again, at most."""
    sequential: Sequential | None = None
    """None for a fixed design, whose number of blocks is declared before the run."""
    slices: int = 1
    """Into how many parts the duration is cut, which the sides of a pair run in turn."""
    restart_every: int = 1
    """After how many pairs servers are restarted that did not change their data."""
    flame_graph: bool = False
    """Sample the server's call stacks in an extra window after the measured one of each trial."""
    flame_graph_window: Seconds = FLAME_GRAPH_WINDOW
    """The length of that window."""
    memory: Bytes | None = None
    """The memory of server, load generator and page cache of their files together; None for
    all that the machine has."""
    way: str = CLASSIC
    """How the sides of a pair are loaded: one of ``ways``."""
    processors: int | None = None
    """Processors of the servers' machine when the study was sized (1 where nobody knows it): more
    clients than these are loaded in step. None before that, and of campaigns that were planned when
    paired transactions were mixed whatever the number of clients."""
    preferred: PreferredWay | None = None
    """The way that is tried first; ``way`` and ``sequential`` are what remains where it cannot be
    had."""
    lengthens: bool = False
    """The duration is that of the first starts of paired transactions; that of later ones follows
    from what they have shown (``model.starts``)."""

    rounds: bool = False
    """Every pair begins with new copies of the data, whose bytes are written anew, so that the
    place of the files is in the scatter of the pairs (METHOD.md, Rounds)."""
    sides: int | None = None
    """The most levels of a start that cannot have all: the base and some of the others, drawn anew
    (METHOD.md, Paired transactions). None where a start has all."""
    by_session: tuple[str, ...] = ()
    """Parameters that the contrasted levels set for their sessions, on one server of all; empty
    where each level has a server of its own."""

    def of_server(self, settings: Settings) -> Settings:
        """Those of a trial's parameters that its server starts with."""
        return tuple(setting for setting in settings if setting[0] not in self.by_session)

    def of_session(self, settings: Settings) -> Settings:
        """Those of a trial's parameters that its sessions set."""
        return tuple(setting for setting in settings if setting[0] in self.by_session)

    @property
    def longest_load(self) -> Seconds:
        """Warm-up and measuring, of the longest trial; what is open counts nothing."""
        measured = MOST_SECONDS if self.lengthens else self.duration or 0.0
        return Seconds((self.warmup or 0.0) + measured)

    @property
    def slice_duration(self) -> Seconds:
        """The measured seconds of a slice; the duration must be known."""
        return Seconds((self.duration or 0.0) / self.slices)

    @property
    def tolerated_share(self) -> Share:
        """The share of the CPU that others may use; all of it of a study that is not sized."""
        return Share(1.0) if self.disturbed_share is None else self.disturbed_share


@dataclass(frozen=True)
class Study:
    """A question in the form in which it is planned."""

    name: str
    title: Bilingual
    question: Bilingual
    purpose: Bilingual
    sources: tuple[str, ...]
    """The published verifications that this study replicates."""
    profile: str
    conclusive: bool
    """False for a profile whose results support no conclusion."""
    contrast: str
    """The name of the factor whose levels are compared: the first is old, each other is new."""
    factors: tuple[Factor, ...]
    """All factors, the contrast's among them; workloads are not a factor."""
    workloads: tuple[Workload, ...]
    settings: tuple[Setting, ...]
    measure: Measure
    server_aliases: tuple[tuple[str, str], ...] = ()
    """Alias and the server that it stands for."""
    server_levels: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    """Alias, and the levels of other factors (checksums, query_mode, ``guc:NAME``) that belong to
    it: sides of a contrast that differ in several things."""
    parameters: tuple[ParameterSet, ...] = ()
    """The levels of the factor parameters, by what they set."""
    builds: tuple[tuple[str, BuildSpec], ...] = ()
    """Servers that are built from source where they are not there yet, by the study's names."""
    target_seconds: Seconds | None = None
    """The time that the whole campaign should take, where the duration is left to sizing."""
    differences: tuple[Bilingual, ...] = ()
    """How this profile differs from the published study."""
    file: Path | None = None
    """The user's study file; None for one of the catalogue."""
    source_text: str = ""
    """The TOML from which it was read, for the ledger and the report."""
    hosts: Hosts | None = None
    """Where servers and pgbench run; None for this machine."""
    storage: tuple[StorageClass, ...] = ()
    """The storage classes that levels of the factor placement name, in the study's order."""
    clusters: tuple[tuple[str, AttachedCluster], ...] = ()
    """Levels of the factor server that are the entry to several servers that run already."""
    keep_texts: bool = True
    """Whether ledger and reports hold statements; else their fingerprints (``ledger.texts``)."""
    nodes: EmulatedNodes | None = None
    """Machines that the nodes of trials are emulated as; None for plain servers."""
    machine_memory: Bytes | None = None
    """The memory of the servers' machine when the study was sized; None before that."""
    read_anew: bool = False
    """Each trial begins with a copy of its own although its workload changes nothing: readers
    change the state that the tables are in."""
    replicates: bool = True
    """False for a profile whose verdicts hold, and whose data are too small to be held against
    published findings."""
    overrides: tuple[str, ...] = field(default=())
    """The changes of the command line, as ``KEY=VALUE``."""
    on_command_line: tuple[str, ...] = ()
    """Addresses of servers and names of hosts that the command line names."""

    @property
    def withholds_findings(self) -> str:
        """Why published findings are not held against what is measured, as the code of a reason of
        claims; empty where they are."""
        return "profile" if not self.conclusive else "" if self.replicates else "quick-look"

    def restores(self, workload: Workload) -> bool:
        """Whether each trial of a workload begins with a copy of its own."""
        return workload.changes_data or self.measure.rounds or self.read_anew

    @property
    def writes(self) -> bool:
        """Whether a workload changes data."""
        return any(workload.changes_data for workload in self.workloads)

    @property
    def fixed_settings(self) -> dict[str, str | None]:
        """The values of its server parameters, by name."""
        return {setting.name: setting.value for setting in self.settings}

    def factor(self, name: str) -> Factor | None:
        return next((factor for factor in self.factors if factor.name == name), None)

    def levels(self, name: str) -> tuple[str, ...]:
        """The levels of a factor; empty where they are derived, or where it is not varied."""
        factor = self.factor(name)
        return () if factor is None else factor.levels

    @property
    def sides_of_a_start(self) -> int:
        """How many contrasted levels a start of servers that run side by side has, at most."""
        levels = len(self.contrasted_levels)
        return levels if self.measure.sides is None else min(levels, self.measure.sides)

    @property
    def starts_of_all(self) -> int:
        """How many starts have all levels between them: the base each, the others one."""
        others = len(self.contrasted_levels) - 1
        return 1 if self.measure.sides is None else math.ceil(others / (self.measure.sides - 1))

    @property
    def contrasted_levels(self) -> tuple[str, ...]:
        """The levels that are compared, the base first; empty where nothing is contrasted."""
        return self.levels(self.contrast)

    def place(self, workload: str, levels: Iterable[tuple[str, str]]) -> tuple[int, list[int]]:
        """Where a cell stands in the study's order, by its workload and then by its levels."""
        names = [workload.name for workload in self.workloads]
        return names.index(workload), self.ranks(levels)

    def ranks(self, levels: Iterable[tuple[str, str]]) -> list[int]:
        """The place of each level among those of its factor; 0 for one that the study lacks."""
        orders = {factor.name: factor.levels for factor in self.factors}
        known = ((level, orders.get(factor, ())) for factor, level in levels)
        return [order.index(level) if level in order else 0 for level, order in known]

    def with_levels(self, factor: str, levels: tuple[str, ...]) -> Study:
        """The study with other levels of one of its factors."""
        changed = {factor: Factor(factor, levels)}
        return replace(self, factors=tuple(changed.get(own.name, own) for own in self.factors))

    def storage_class(self, name: str) -> StorageClass:
        return next(storage_class for storage_class in self.storage if storage_class.name == name)

    def cluster(self, server: str) -> AttachedCluster | None:
        """Find the cluster that a level of the factor server is the entry to; None without one."""
        return dict(self.clusters).get(server)

    def workload(self, name: str) -> Workload:
        return next(workload for workload in self.workloads if workload.name == name)

    def parameter_set(self, name: str) -> ParameterSet:
        return next(parameter for parameter in self.parameters if parameter.name == name)


@dataclass(frozen=True)
class StudySummary:
    """A line of ``teiten studies``."""

    name: str
    title: Bilingual
    question: Bilingual
    sources: tuple[str, ...]
    profiles: tuple[str, ...]
