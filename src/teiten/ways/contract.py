"""The contract of a way of loading the sides of a contrast (METHOD.md, Paired transactions)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from teiten.model.plan import Cell, Plan
from teiten.model.study import USUAL_DISTURBED_SHARE, Measure, Study
from teiten.model.units import Share


class WayRule(ABC):
    """A way before anything runs; the folder ``ways/NAME`` holds one as ``WAY``.

    Its words are ``way.NAME.…`` of ``words.LANGUAGE.toml`` beside it: ``turns`` (in the drawing of
    the topology), ``note`` (below it), ``procedure`` (how servers start), ``apart`` (servers and
    load generator on two hosts), and ``scope``, where it claims less than the classic way.
    """

    name: ClassVar[str]
    """Its name in ledgers and, below ``way``, in study files."""
    recorded_as: ClassVar[str] = ""
    """Its name in fingerprints of conditions, where that is not ``name``."""
    in_file: ClassVar[bool] = True
    """``way = "NAME"`` asks for it; else other keys of ``[measure]`` do."""
    of_two_sides: ClassVar[str] = ""
    """Its description in the help of the verbs of two sides; empty where they do not offer it."""
    side_by_side: ClassVar[bool] = True
    """The servers of all sides run at the same time."""
    concurrent: ClassVar[bool] = False
    """All sides are under load in the same seconds, and the duration is that of all."""
    in_step: ClassVar[bool] = False
    """All clients are on the same side at any time."""
    disturbed_share: ClassVar[Share] = USUAL_DISTURBED_SHARE
    """More of the CPU used by others makes a trial disturbed, where the study does not say."""
    most_sides: ClassVar[int | None] = None
    """The most levels of a start; None for any number."""
    in_parts: ClassVar[bool] = False
    """A start may have the base and some of the other levels."""
    one_server: ClassVar[bool] = False
    """Levels that differ in parameters of sessions alone take turns on one server."""
    here: ClassVar[bool] = False
    """Servers and load generator are on this machine."""
    unit: ClassVar[str] = "pair"
    """The unit that counts as one number of the comparison, where Teiten starts the servers."""
    reused_unit: ClassVar[str] = "pair"
    """The unit that counts as one number of the comparison, where servers are not started anew for
    it."""

    @property
    def recorded(self) -> str:
        return self.recorded_as or self.name

    def is_of(self, measure: Measure) -> bool:
        """Whether a study is measured in this way."""
        return measure.way == self.name

    def obstacles(self, study: Study) -> Iterator[str]:
        """Why a study cannot be measured so."""
        yield from ()

    hint: ClassVar[str] = ""
    """Advice on what to do about an obstacle."""

    def keys_of_own_servers(self, measure: Measure) -> tuple[str, ...]:
        """The keys by which a study asks for it, where only servers that Teiten starts can be
        measured so."""
        return ()

    def of_clients(self, measure: Measure, clients: int) -> str:
        """The name of the way in which so many clients are loaded."""
        return self.name

    def sized(self, measure: Measure, processors: int) -> Measure:
        """The measure with what it needs of the servers' machine, and of the way."""
        if measure.disturbed_share is not None:
            return measure
        return replace(measure, disturbed_share=self.disturbed_share)

    def timed(self, measure: Measure, sides: int) -> Measure:
        """The measure with the duration of trials, where the way decides on an open one; ``sides``:
        how many the contrast has."""
        return measure

    def start_of(self, study: Study, cell: Cell) -> object:
        """Find what cells have in common that share a start within a block; None where no cells
        share one, and their order is free."""
        return None

    def parts(self, measure: Measure) -> int:
        """Into how many parts a trial's load is cut, which sides run in turn; 0: it is whole."""
        return 0

    def pairs_of_a_start(self, measure: Measure) -> int:
        """How many pairs share a start of servers that keep their data."""
        return 1

    @abstractmethod
    def described(self, plan: Plan, anew: str, copies: str) -> str:
        """How sides are loaded, for a plan in words; empty where there is nothing to say.

        ``anew``, ``copies``: what of the servers, and of the data, is new for each pair.
        """

    def listed(self, measure: Measure) -> tuple[tuple[str, str], ...]:
        """Rows in which a study in words tells of it: the key of a title, and a value."""
        return ()
