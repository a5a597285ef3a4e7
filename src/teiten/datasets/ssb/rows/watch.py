"""Who is told how far the work is."""

from __future__ import annotations

from typing import Protocol

from teiten.model.ssb import SsbTable


class Watch(Protocol):
    """Told from any thread, several times a second at most for each stream."""

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        """So many more units and rows of a table were written."""

    def step(self, text: str) -> None:
        """Tell people what is done now."""

    def note(self, text: str) -> None:
        """Note what people should know when all is done."""


class Unwatched:
    """Nobody is told."""

    def progress(self, table: SsbTable, units: int, rows: int) -> None:
        """Nothing."""

    def step(self, text: str) -> None:
        """Nothing."""

    def note(self, text: str) -> None:
        """Nothing."""
