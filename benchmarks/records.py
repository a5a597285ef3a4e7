"""What was measured, as lines of JSON, so that a run that was cut off goes on."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from teiten.host.system.paths import default_workdir

Work = TypeVar("Work", bound=Hashable)


def record_parser(doc: str | None, minutes: float) -> argparse.ArgumentParser:
    """A parser for what every run that goes on is given."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--minutes", type=float, default=minutes, help="after which none begins")
    usual = os.environ.get("TEITEN_WORKDIR", default_workdir())
    parser.add_argument("--workdir", type=Path, default=usual)
    return parser


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


def in_turn(wanted: Mapping[Work, int], done: Iterable[Work]) -> Iterator[Work]:
    """What is still to do, each as often as wanted, by turns: a record cut short has all of it in
    like shares."""
    left = Counter(wanted)
    left.subtract(done)
    while any(left[work] > 0 for work in wanted):
        work = max(wanted, key=lambda work: left[work] / max(1, wanted[work]))
        left[work] -= 1
        yield work
