"""What was measured, as lines of JSON, so that a run that was cut off goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

Work = TypeVar("Work")


def kept(record: Path) -> list[dict[str, Any]]:
    """The lines of earlier runs; none where there is no record yet."""
    if not record.exists():
        return []
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def keep(record: Path, line: dict[str, Any]) -> None:
    with record.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def within(minutes: float, works: Iterable[Work]) -> Iterator[Work]:
    """What is still to do, none of it begun after so many minutes."""
    deadline = time.monotonic() + 60 * minutes
    for work in works:
        if time.monotonic() > deadline:
            return
        yield work
