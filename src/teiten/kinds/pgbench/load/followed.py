"""pgbench's standard error, followed while pgbench writes it."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import numpy as np

from teiten.kinds.pgbench.load.output import ProgressLine, parse_progress
from teiten.model.trial import Series

CHUNK_BYTES = 1 << 16
KEPT_LINES = 200
"""Lines other than progress that are kept at the beginning, and again at the end: a script can
raise a warning per transaction. The file keeps them all."""
LINE_LIMIT = 2000


class FollowedErrors:
    """The progress lines as numbers, and the other lines, in bounded memory."""

    def __init__(self, path: Path) -> None:
        self.progress: list[ProgressLine] = []
        self._path = path
        self._position = 0
        self._partial = b""
        self._first: list[str] = []
        self._last: deque[str] = deque(maxlen=KEPT_LINES)
        self._dropped = 0

    @property
    def latest(self) -> ProgressLine | None:
        return self.progress[-1] if self.progress else None

    def follow(self) -> None:
        """Take the lines that were completed since the last time."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._position)
            while chunk := file.read(CHUNK_BYTES):
                self._position += len(chunk)
                *complete, rest = (self._partial + chunk).split(b"\n")
                self._partial = rest[:LINE_LIMIT]
                for line in complete:
                    self._take(line)

    def finish(self) -> None:
        """Take the rest, with a last line that may be cut off."""
        self.follow()
        if self._partial:
            self._take(self._partial)
            self._partial = b""

    def lines(self) -> list[str]:
        """All lines but those of progress, cut in the middle where they are too many."""
        dropped = [f"[{self._dropped} lines left out]"] if self._dropped else []
        return [*self._first, *dropped, *self._last]

    def series(self) -> Series:
        """The progress as the series ``pgbench``: latencies in seconds, NaN where missing."""
        rows = self.progress
        return Series(
            source="pgbench",
            seconds=np.array([row.seconds for row in rows], dtype=np.float64),
            columns={
                "tps": np.array([row.tps for row in rows], dtype=np.float64),
                "latency_mean": np.array([row.latency for row in rows], dtype=np.float64),
                "latency_stddev": np.array([row.latency_stddev for row in rows], dtype=np.float64),
                "failed": np.array([row.failed for row in rows], dtype=np.float64),
            },
        )

    def _take(self, raw: bytes) -> None:
        line = raw[:LINE_LIMIT].decode("utf-8", errors="replace").rstrip("\r")
        progress = parse_progress(line)
        if progress is not None:
            self.progress.append(progress)
        elif len(self._first) < KEPT_LINES:
            self._first.append(line)
        else:
            self._dropped += len(self._last) == KEPT_LINES
            self._last.append(line)
