"""The contract of a factor: levels, where it applies, its part of a trial, its needs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from teiten.errors import TeitenError
from teiten.model.facts import HostFacts
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import Factor, Study, Workload
from teiten.study.locate import KeyPath
from teiten.study.tables import MeasureTable
from teiten.study.values import name as valid_name
from teiten.study.values import one_of


class Need(StrEnum):
    """Needs of a factor's, or a workload's, levels that the place of a server may not meet."""

    INITDB = "initdb"
    """The cluster is made by Teiten."""
    START = "start"
    """The server is started by Teiten."""
    HERE = "here"
    """The server runs on this machine."""
    TOGETHER = "together"
    """The load comes from the machine where the server runs."""
    MEMORY = "memory"
    """The memory of server, load and page cache together is known, or limited."""
    CACHES = "caches"
    """The page cache holds nothing of the server's files at first."""
    CONFIGURATION = "configuration"
    """Parameters of the whole server can be set."""
    CHECKPOINT = "checkpoint"
    """CHECKPOINT can be asked for."""
    PREWARM = "prewarm"
    """Pages can be put into the buffers: pg_prewarm."""
    BUFFERS = "buffers"
    """The contents of the buffers can be seen: pg_buffercache."""


@dataclass(frozen=True)
class WrittenStudy:
    """The parts of a study file, with its profile and flags, that may contradict a factor."""

    error: Callable[[KeyPath, str, str], TeitenError]
    """Makes the error of a key path, a message and a hint."""
    contrast: str
    factors: Mapping[str, tuple[str, ...]]
    """The levels of each factor that is written; empty for ``auto``."""
    parameters: Mapping[str, Mapping[str, str]]
    """The sets of parameters, by name."""
    fixed_settings: Mapping[str, Any]
    """The parameters that flags fix, with their values."""
    measure: MeasureTable
    workloads: Sequence[Workload]

    def contradiction(self, path: KeyPath, message: str) -> TeitenError:
        """The error of a key that says what another one says too."""
        return self.error(path, message, "leave out one of the two")


class FactorRule(ABC):
    """A factor before anything runs; the folder ``factors/NAME`` holds one as ``FACTOR``."""

    name: ClassVar[str]
    """Its name as studies write it; of a family such as ``guc:NAME`` the part that all share."""
    rank: ClassVar[int] = 50
    """Where it stands in lists; levels of a higher rank are applied later."""
    other_names: ClassVar[tuple[str, ...]] = ()
    """Further names in study files."""
    automatic: ClassVar[bool] = False
    """Its levels may be ``auto``: derived from the machine, by ``sized``."""
    automatic_contrast: ClassVar[bool] = False
    """Derived levels are two or more, so that they can be contrasted."""
    of_server: ClassVar[bool] = True
    """A level may belong to the alias of a server: sides that differ in several things."""
    of_data: ClassVar[bool] = False
    """Its levels have other data."""
    of_workloads: ClassVar[bool] = False
    """Its levels are named by workloads, each of which must have those that are asked of it."""
    flag: ClassVar[str] = "--set {factor}=A,B"
    """With which levels are given on the command line."""
    missing: ClassVar[tuple[str, str]] = ("", "")
    """Message and hint for a study that needs the factor and has no levels of it."""
    needs: ClassVar[frozenset[Need]] = frozenset()
    not_with: ClassVar[tuple[str, ...]] = ()
    """Factors that cannot be varied in the same study."""
    choices: ClassVar[tuple[str, ...]] = ()
    """Its levels, where they are words; else they are names, unless ``level`` says otherwise."""

    def needs_in(self, study: Study) -> frozenset[Need]:
        """The needs of its levels in a study."""
        return self.needs

    @property
    def form(self) -> str:
        """The name in lists of what there is: ``clients``, ``guc:NAME``."""
        return self.name

    def full_name(self, written: str) -> str | None:
        """The factor's full name; None where another factor is written. Raises ValueError."""
        return self.name if written in (self.name, *self.other_names) else None

    def includes(self, factor: str) -> bool:
        """Whether this is the factor of a full name."""
        return factor == self.name

    def level(self, value: Any) -> str:
        """A level in its canonical form. Raises ValueError with a sentence that completes
        "KEY: …"."""
        return one_of(str(value).strip(), self.choices) if self.choices else valid_name(value)

    def compared(self, level: str) -> object:
        """By what two levels are the same."""
        return level

    def parameters(self, factor: str) -> tuple[str, ...]:
        """The server parameters that the factor alone varies."""
        return ()

    def set_parameters(self, study: Study, factor: str) -> Iterable[str]:
        """All server parameters that its levels set."""
        return self.parameters(factor)

    def check_study(self, written: WrittenStudy, factor: Factor) -> None:
        """Raise what ``written.error`` makes where the study contradicts the factor."""
        for excluded in filter(written.factors.__contains__, self.not_with):
            raise written.contradiction(
                ("factors", factor.name), f"cannot be varied together with {excluded}"
            )

    def sized(self, study: Study, facts: HostFacts) -> Study:
        """The study with the levels that it leaves to the machine. Raises MachineError."""
        return study

    def applies(self, workload: Workload) -> bool:
        """Whether it says anything of a workload whose kind knows it."""
        return True

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        """The setup with the part that a level sets: a parameter, a pinning, a folder."""
        return setup

    def check_trial(self, trial: PlannedTrial) -> None:
        """Raise UsageError where a server cannot have the level of a trial."""

    def check_plan(self, plan: Plan, facts: HostFacts) -> None:
        """Raise UsageError or MachineError where the machine cannot give what a plan asks for."""


class NamedByKind(FactorRule):
    """A factor whose levels a kind of workload names, one by one: its queries, its methods."""

    rank = 20
    of_server = False
    what: ClassVar[str]
    """The thing that a level names, in an error."""

    def level(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            raise ValueError(f"{value!r} does not name {self.what}")
        return str(value).strip()


class FactorFamily(FactorRule):
    """A factor for each name behind a prefix, as ``guc:NAME``; ``name`` is the prefix."""

    @property
    def form(self) -> str:
        return f"{self.name}NAME"

    def full_name(self, written: str) -> str | None:
        if not self.includes(written):
            return None
        return self.name + self.member(self.member_of(written))

    def includes(self, factor: str) -> bool:
        return factor.startswith(self.name)

    def member_of(self, factor: str) -> str:
        """Find the name behind the prefix of a full name."""
        return factor.removeprefix(self.name)

    @abstractmethod
    def member(self, written: str) -> str:
        """The name behind the prefix in its canonical form. Raises ValueError."""
