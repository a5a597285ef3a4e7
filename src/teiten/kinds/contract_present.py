"""A kind's part in the report; ``kinds/KIND/present.py`` holds a ``KindPresent`` as ``PRESENT``.

``teiten.report.view.usual.UsualPresent`` says what suits most kinds; its words, and those of the
kind's own keys, stand in ``kinds/KIND/words.en.toml`` and ``words.ja.toml``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from teiten.kinds.registry import Stage, kind

if TYPE_CHECKING:
    from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult
    from teiten.model.study import Workload
    from teiten.report.blocks import Block, Box, Section
    from teiten.report.charts.base import Chart
    from teiten.report.charts.lines import SeriesColumn
    from teiten.report.names import Names
    from teiten.report.tables import Table
    from teiten.report.texts import Texts
    from teiten.report.view.kit import Kit


@dataclass(frozen=True)
class TrialColumn:
    """A metric that the table of all trials shows."""

    metric: str
    factor: float = 1.0
    """From the stored unit to the shown one."""
    digits: int = 4
    """Significant ones."""
    decimals: int | None = None
    """In place of significant digits."""


@dataclass(frozen=True)
class OwnAnswer:
    """The answer on the first page for a kind whose question no single contrast answers."""

    blocks: tuple[Block, ...]
    undecided: tuple[str, ...]
    """Names of what could not be decided; empty where all was."""


class KindPresent(ABC):
    """A kind in the report. Texts are those of the kit's language; nothing here is HTML."""

    columns: ClassVar[tuple[TrialColumn, ...]] = ()
    by_level: ClassVar[tuple[str, ...]] = ()
    """Metrics besides what is judged of which a comparison of campaigns has a chart by level."""
    series: ClassVar[tuple[SeriesColumn, ...]] = ()
    """Columns that show a trial's seconds, besides the machine's; with texts ``series.NAME``."""

    @abstractmethod
    def duration(self, kit: Kit, workload: Workload) -> str:
        """How long a trial is, for the design."""

    @abstractmethod
    def procedure(self, kit: Kit, workload: Workload) -> str:
        """The step of a trial in which it is measured."""

    @abstractmethod
    def load(self, kit: Kit) -> Box:
        """Who loads the servers, for the drawing of the topology."""

    @abstractmethod
    def answered(self, kit: Kit, contrasts: Sequence[ContrastResult]) -> Sequence[ContrastResult]:
        """Those contrasts of the kind's workloads that the first page answers."""

    def own_answer(self, kit: Kit) -> OwnAnswer | None:
        """Build what the first page has in place of a sentence per contrast; None for these."""
        return None

    def further(
        self, t: Texts, names: Names, analysis: CampaignAnalysis, contrast: ContrastResult
    ) -> str:
        """Write what follows the sentence of a contrast that is judged, and belongs to it."""
        return ""

    @abstractmethod
    def beside(
        self, kit: Kit, name: str, contrast: ContrastResult
    ) -> tuple[Chart | None, tuple[str, ...]]:
        """The chart beside the answer's sentence, and what is said below it."""

    @abstractmethod
    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        """The results of a workload; ``prefix`` makes ids unique in the page."""

    def limits(self, kit: Kit, workload: str) -> Iterable[Block]:
        """Show the limits with which a workload's results are consistent."""
        return ()

    def discussed(self, kit: Kit, workload: str) -> Iterable[tuple[str, ...]]:
        """Discuss a workload before its sides are compared: paragraphs of sentences."""
        return ()

    def discussed_after(self, kit: Kit, workload: str) -> Iterable[tuple[str, ...]]:
        """Discuss a workload after its sides were compared: paragraphs of sentences. The body has
        the first one, which is empty where none matters."""
        return ()

    def sections(self, kit: Kit) -> Iterable[Section]:
        """Sections of its own, between those on causes and on published findings."""
        return ()

    def published(self, kit: Kit) -> tuple[Sequence[Chart], Sequence[Table]]:
        """Charts and tables that set printed and measured beside one another."""
        return (), ()


def present_of(name: str) -> KindPresent:
    """Find a kind's part in the report. Raises KeyError for an unknown kind."""
    kind_present = kind(name, Stage.PRESENT).PRESENT
    assert isinstance(kind_present, KindPresent), f"kinds/{name}/present.py holds no KindPresent"
    return kind_present


def presents_in(kit: Kit) -> dict[str, KindPresent]:
    """The kinds of a study's workloads in its report, by their names."""
    return {name: present_of(name) for name in sorted({w.kind for w in kit.study.workloads})}


def present_in(kit: Kit, workload: str) -> KindPresent:
    """The kind of a workload in the report of its study."""
    return present_of(kit.study.workload(workload).kind)
