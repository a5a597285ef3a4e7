"""What is asked about a kind of workload or about a place stands with that kind or place."""

from __future__ import annotations

import re

import pytest

from teiten.kinds.registry import names
from tests.unit.test_layers import package_folder

ROOMS = ("analysis", "claims", "execute", "export", "ledger")
SITES = "execute/sites"
"""The room that knows where trials run, and is there to be asked."""
QUESTIONS = re.compile(
    r"teiten\.kinds\.(?!registry|contract|metrics)[a-z]\w+"  # a kind by its name
    rf"|\.kind (?:==|!=|is|in) ['\"](?:{'|'.join(names())})['\"]"
    r"|\b(?:times_queries|PgbenchOptions|QueriesOptions|pgbench_of|queries_of)\b"
    r"|\.attached\b|\.hosts\b|\.together\b"
)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_asks_nothing_about_a_kind_or_a_place(room: str) -> None:
    root = package_folder()
    asked = [
        f"{file.relative_to(root)}:{number}: {line.strip()}"
        for file in sorted((root / room).rglob("*.py"))
        if root / SITES not in file.parents
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if QUESTIONS.search(line)
    ]
    assert asked == []


@pytest.mark.parametrize(
    "line",
    [
        "from teiten.kinds.queries.model import NAME",
        'if one.kind == "queries":',
        "if server.attached is not None:",
        "if plan.hosts is None or plan.hosts.together:",
    ],
)
def test_such_a_question_is_found(line: str) -> None:
    assert QUESTIONS.search(line)
