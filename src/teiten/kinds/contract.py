"""The contract of a kind of workload before anything runs; each folder of ``kinds`` fulfils it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from teiten.factors.contract import Need
from teiten.kinds.registry import Stage, kind
from teiten.model.installation import Installation, ModuleTools
from teiten.model.metrics import Metric
from teiten.model.plan import PlannedLoad, PlannedTrial
from teiten.model.study import Measure, Study, Workload, WorkloadOptions
from teiten.model.text import Bilingual
from teiten.model.units import Bytes, Seconds
from teiten.study.locate import Place
from teiten.study.schema import WorkloadTable

OF_LASTING = ("slices", "restart_every", "flame_graph")
"""Keys of ``[measure]`` for trials that are measured for a time that the study chooses."""


@dataclass(frozen=True)
class ToldStep:
    """A step of a trial, described once for all who tell of it."""

    code: str
    """Under which reports have their words for it."""
    phrase: str
    """In English, for plans."""
    values: Mapping[str, float] = field(default_factory=dict)
    """For reports: times in seconds as float, counts as int."""


@dataclass(frozen=True)
class Instead:
    """The workloads that a study runs: its own, or others in their place because a flag says so."""

    workloads: list[dict[str, Any]]
    """All tables of the study."""
    selected: Sequence[str]
    """The names of those that run."""
    set_by_flag: tuple[str | int, ...] = ()
    """The path of the key, or of the table, that the flag set."""
    dropped: Sequence[str] = ()
    """Factors whose levels were of the study's own workloads."""


@dataclass(frozen=True)
class LevelLeftOut:
    """A level of a factor that a server cannot have, and that a study goes without."""

    factor: str
    level: str
    title: Bilingual
    """The level's, for people."""
    why: Bilingual
    hint: str = ""
    """A remedy; in English, as errors are."""


@dataclass(frozen=True)
class LevelNeeds:
    """A level of a factor with what it needs of the place where a server runs."""

    factor: str
    level: str
    title: Bilingual
    """The level's, for people."""
    needs: frozenset[Need]


class KindPlan(ABC):
    """A kind in the stages before anything runs; ``kinds/KIND/plan.py`` holds one as ``PLAN``."""

    does: ClassVar[str]
    """The phrase by which messages tell what such a workload does: ``times queries one by one``."""
    loading: ClassVar[str]
    """The phrase by which plans tell what is done to a server, with the places ``{version}``, of
    pgbench, and ``{where}``, the client's."""

    metrics: ClassVar[tuple[Metric, ...]]
    """Metrics of which a trial of the kind has one number each; the first one is judged."""
    contrasted: ClassVar[tuple[str, ...]]
    """The names of those that sides are compared by, the judged one first; also the machine's."""

    measures: ClassVar[tuple[str, ...]] = ()
    """Numbers of trials' records that claims may be about, as ``MEASURE:OF``, besides metrics."""

    rate: ClassVar[Metric | None] = None
    """The metric that rises with the clients until saturation; None where there are none."""
    turnaround: ClassVar[Metric | None] = None
    """How long a client waits for its next turn; None where there are no clients."""
    rate_series: ClassVar[tuple[str, str] | None] = None
    """The series, and its column, that have the rate of every second of a trial."""

    paired_within: ClassVar[str] = ""
    """The metric of the variance of a second in paired transactions; empty of a kind without."""
    averaged: ClassVar[tuple[str, ...]] = ()
    """The factors without an order whose levels are one piece of work, of which a mean tells."""
    takes_turns: ClassVar[bool] = False
    """Its trials are single statements, which can take turns between servers that are all up."""
    carry_over: ClassVar[tuple[str, ...]] = ()
    """The metrics of such starts that tell by which ratio carry-over makes the new side better."""

    # In the study file

    options: ClassVar[type[WorkloadOptions]] = WorkloadOptions
    """The class of a workload's options."""
    load: ClassVar[type[PlannedLoad]] = PlannedLoad
    """The class of what a trial does."""
    table: ClassVar[type[WorkloadTable]]
    """The keys that may stand in ``[[workloads]]``."""
    told_by: ClassVar[str | None] = None
    """The key that tells the kind of a workload that names none."""
    changeable: ClassVar[tuple[str, ...]] = ()
    """Which of the kind's own keys profiles and ``--set`` may change, of all workloads or one."""
    changeable_of_one: ClassVar[tuple[str, ...]] = ()
    """Those that are changed of one workload alone: ``--set workloads.NAME.KEY=…``."""
    level_keys: ClassVar[tuple[str, ...]] = ()
    """Those that hold the workload's own levels of the factor of the same name."""

    # Factors and measuring

    brings: ClassVar[tuple[str, ...]] = ()
    """Factors that vary a workload of a kind that brings them, and no other."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Those of them without whose levels it cannot run."""
    lasts: ClassVar[bool] = False
    """A trial is measured for ``measure.duration``, after a warm-up of ``measure.warmup``; else its
    workload cannot have ``OF_LASTING``."""
    site_needs: ClassVar[frozenset[Need]] = frozenset()
    """Needs of such a workload that the place where servers run must meet."""
    any_data: ClassVar[bool] = False
    """It runs on whatever tables a flag names, where other workloads keep theirs."""

    @abstractmethod
    def options_of(self, place: Place, table: WorkloadTable) -> WorkloadOptions:
        """A workload's options from its table. Raises what ``place.error`` makes: the keys
        contradict, or a file is not there."""

    def check(self, place: Place, workload: Workload) -> None:
        """Raise what ``place.error`` makes where a workload's parts do not fit together."""

    def from_flag(self, key: str, value: Any) -> Any:
        """Convert a flag's value to the study file's: files are named from the current folder."""
        return value

    def instead(self, running: Instead, value: str, *, by_flag: bool) -> Instead:
        """Apply a flag that is named like ``told_by``, where that is a key, to what runs."""
        raise NotImplementedError

    def tells(self, factor: str) -> bool:
        """Whether workloads tell the levels of a factor themselves, by ``own_levels``."""
        return factor == self.own_factor

    def own_levels(self, options: WorkloadOptions, factor: str) -> tuple[str, ...] | None:
        """The levels of a factor that a workload tells: its texts' names, of the own factor; None
        where the study names them."""
        return tuple(text.name for text in options.texts) if self.tells(factor) else None

    def titles(self, options: WorkloadOptions) -> Mapping[str, Bilingual]:
        """Name the levels of the kind's own factor for people, where that is not the level."""
        return {}

    axis: ClassVar[str | None] = None
    """The factor whose levels stand on the axis of a report's chart, where it is varied."""
    own_factor: ClassVar[str | None] = None
    """A factor that every trial of the kind has, and no trial of another kind. Reports name its
    levels without the factor, and beside it only what varies in the workload."""

    # In a plan

    def unpaired(self, workload: Workload) -> str | None:
        """Why a workload cannot be loaded in paired transactions; None where it can."""
        return None if self.paired_within else f"the workload {workload.name} {self.does}"

    def told_texts(self, workload: Workload) -> str | None:
        """Why a ledger has parts of statements besides those in options; None where it has none."""
        return f"the workload {workload.name} {self.does}, and what it finds quotes its statements"

    def gives_up(self, workload: Workload) -> bool:
        """Whether its clients let a transaction go that ended in a serialization failure."""
        return False

    def first_load(self, options: WorkloadOptions) -> PlannedLoad:
        """A trial's load before any factor sets its part."""
        return self.load()

    def set(self, load: PlannedLoad, factor: str, level: str) -> PlannedLoad:
        """Apply a level of a factor that the kind brings to a trial's load."""
        return load

    def measured_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        """Compute how long a trial measures, as if it ran alone; nothing of an open duration."""
        return Seconds(measure.duration or 0.0)

    def load_seconds(self, measure: Measure, workload: Workload) -> Seconds:
        """Compute the time of a trial's load, warm-up included; an open duration counts nothing."""
        warmup = (measure.warmup or 0.0) if self.lasts else 0.0
        return Seconds(warmup + self.measured_seconds(measure, workload))

    def processes(self, trial: PlannedTrial) -> int:
        """The server's processes that work for the load at the same time, for its memory."""
        return trial.load.connections

    # In words

    def wants_modules(self, workload: Workload) -> bool:
        """Whether some level of a workload needs C functions to be compiled for the server."""
        return False

    def left_out(
        self, workload: Workload, server: Installation, tools: ModuleTools | None
    ) -> Iterable[LevelLeftOut]:
        """The levels of a workload that a server cannot have, and that the study goes without.
        ``tools``: what compiles for it; None where nobody looked."""
        return ()

    def level_needs(self, workload: Workload) -> Iterable[LevelNeeds]:
        """List what levels need of a server's place; those that it does not meet are left out."""
        return ()

    fits: ClassVar[bool] = False
    """Its workloads fit themselves to the buffers that servers have which nobody starts anew."""

    def fitted(self, workload: Workload, buffers: Bytes) -> Workload:
        """A workload with as much data as servers with such buffers need; only where ``fits``."""
        return workload

    def facts(self, workload: Workload) -> Iterable[str]:
        """List what a plan tells of a workload besides its source and its data."""
        return ()

    def rehearsal(self) -> ToldStep:
        """The trial of a workload's scripts before the first trial of a campaign."""
        return ToldStep("rehearsal", "try its script")

    @abstractmethod
    def warm_up(self, study: Study, workload: Workload) -> ToldStep: ...

    @abstractmethod
    def measuring(self, study: Study, workload: Workload) -> ToldStep:
        """How trials of a workload are measured."""

    def turn(self, study: Study, trial: PlannedTrial, number: int) -> str:
        """Describe what one trial does in its slice of a number, from 1 on."""
        return self.measuring(study, study.workload(trial.cell.workload)).phrase


def plan_of(name: str) -> KindPlan:
    """Find a kind's part in the stages before anything runs. Raises KeyError for an unknown one."""
    kind_plan = kind(name, Stage.PLAN).PLAN
    assert isinstance(kind_plan, KindPlan), f"kinds/{name}/plan.py holds no KindPlan"
    return kind_plan


def all_last(study: Study) -> bool:
    """Whether every trial of a study is measured for a time that the study chooses."""
    return all(plan_of(workload.kind).lasts for workload in study.workloads)


def titles_of(workloads: Iterable[Workload]) -> dict[tuple[str, str], Bilingual]:
    """Find what workloads call the levels of their kind's own factor, where they agree on it."""
    titles_by_level: dict[tuple[str, str], set[Bilingual]] = {}
    for workload in workloads:
        of_kind = plan_of(workload.kind)
        for level, title in of_kind.titles(workload.options).items():
            titles_by_level.setdefault((of_kind.own_factor or "", level), set()).add(title)
    return {level: titles.pop() for level, titles in titles_by_level.items() if len(titles) == 1}
