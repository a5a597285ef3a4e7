"""What long runs came to, a line of JSON for each, so that their counts add up over sessions."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from benchmarks.records import keep, kept

HERE = Path(__file__).parent


class Result(Protocol):
    """What a run came to."""

    findings: list[str]

    @property
    def count(self) -> int: ...
    def lines(self) -> Iterable[str]: ...


def counted(record: Path, name: str) -> int:
    """How much of a run's kind the record has."""
    return sum(line["count"] for line in kept(record) if line["name"] == name)


def add(record: Path, name: str, seed: int, result: Result) -> None:
    """Note a run, also one that was cut short."""
    summary, *_ = result.lines()
    keep(
        record,
        {
            "name": name,
            "day": datetime.now(UTC).date().isoformat(),
            "commit": _commit(),
            "seed": seed,
            "count": result.count,
            "findings": result.findings,
            "summary": summary,
        },
    )


def totals(record: Path) -> Iterator[str]:
    """A line for each kind of run, with the findings below it."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in kept(record):
        by_name[line["name"]].append(line)
    for name, lines in sorted(by_name.items()):
        count, days = sum(line["count"] for line in lines), {line["day"] for line in lines}
        findings = [finding for line in lines for finding in line["findings"]]
        yield (
            f"{name}: {count:,} in {len(lines)} runs ({', '.join(sorted(days))});"
            f" {len(findings)} findings"
        )
        yield from (f"    {finding}" for finding in findings)


def _commit() -> str:
    """The commit that ran, with a mark where the tree had changes."""
    words = ["git", "-C", str(HERE), "describe", "--always", "--dirty", "--exclude", "*"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip()
