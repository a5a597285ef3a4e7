"""The report asks no workload for its kind, and no server where it is, outside of one room each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import teiten.report
from teiten.kinds.registry import names

REPORT = Path(teiten.report.__file__).parent
SITES = REPORT / "sites.py"


def lines() -> Iterator[tuple[Path, str]]:
    for file in REPORT.rglob("*"):
        if file.suffix in (".py", ".j2"):
            yield from ((file, line) for line in file.read_text(encoding="utf-8").splitlines())


def asking(pattern: str, *, but: Path | None = None) -> list[str]:
    found = re.compile(pattern)
    return [f"{file.name}: {line}" for file, line in lines() if file != but and found.search(line)]


def test_no_line_asks_for_a_kind() -> None:
    kinds = "|".join(names())
    assert not asking(rf"kinds\.({kinds})\b|\b({kinds})_of\(")
    assert not asking(rf"\.kind\b.*[\"']({kinds})[\"']")
    assert not asking(r"query_results|query_plans"), "those are a kind's own"
    assert not asking(r"DataKind"), "data sets have words of their own"


def test_one_room_asks_where_servers_are() -> None:
    asks = r"\.attached\b|\.hosts\b"
    assert asking(asks), "the room itself does"
    assert not asking(asks, but=SITES)
