"""Where a workload stands in its study: for errors, and for the files that it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import TeitenError
from teiten.study.locate import KeyPath

Further = Sequence[tuple[KeyPath, str]]
"""Further problems of the same file: where, and what."""
Fail = Callable[[KeyPath, str, str, Further], TeitenError]
"""Makes the error of a key path, a message, a hint, and the problems beside it."""


@dataclass(frozen=True)
class Place:
    """A workload's table in a study file."""

    index: int
    """Among the tables ``[[workloads]]``, from 0."""
    folders: Sequence[Path]
    """Where files are looked for that it names."""
    fail: Fail

    def error(self, key: str | Sequence[str | int], message: str, hint: str) -> TeitenError:
        """The error of one of the workload's keys, or of a path of keys; empty for the table."""
        path = ([key] if key else []) if isinstance(key, str) else key
        return self.fail(("workloads", self.index, *path), message, hint, ())
