"""Rows of one source, to be made into a series: a column that a row lacks is NaN there."""

from __future__ import annotations

import numpy as np

from teiten.model.trial import Series


class SeriesTable:
    """Collects the samples of one source."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._seconds: list[float] = []
        self._rows: list[dict[str, float]] = []

    def add(self, seconds: float, row: dict[str, float]) -> None:
        """``seconds`` since the start of the window: the end of the sample's interval."""
        self._seconds.append(seconds)
        self._rows.append(row)

    def series(self) -> Series:
        names = dict.fromkeys(name for row in self._rows for name in row)
        return Series(
            source=self._source,
            seconds=np.array(self._seconds, dtype=np.float64),
            columns={
                name: np.array([row.get(name, np.nan) for row in self._rows], dtype=np.float64)
                for name in names
            },
        )
