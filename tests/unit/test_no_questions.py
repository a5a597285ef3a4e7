"""Where a trial's servers run, and what is done to them, is asked in the rooms that know, only."""

from __future__ import annotations

import re

import pytest

from teiten.kinds.registry import names
from tests.unit.test_layers import package_folder

QUESTIONS = {
    "of a kind": re.compile(
        rf"\bkinds\.({'|'.join(names())})\b|WorkloadKind|workload\.kind (==|!=|is|in)|\bQUERIES\b"
    ),
    "of an attached server": re.compile(
        r"installation\.attached|\battached (is|==|!=)|Attached(Server|Site|Keeper)"
    ),
    "of other hosts": re.compile(r"\.hosts\b|Remote(Site|Keeper|Cluster)|\bplacement\b"),
}
ANSWERED = ("execute/sites/", "execute/dry.py")
"""Where it is known; and the dry executor, which says what each site would do."""


@pytest.mark.parametrize("question", sorted(QUESTIONS))
def test_it_is_asked_where_it_is_known_only(question: str) -> None:
    root = package_folder()
    found = []
    for file in sorted((root / "execute").rglob("*.py")):
        name = file.relative_to(root).as_posix()
        if name.startswith(ANSWERED):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if QUESTIONS[question].search(line):
                found.append(f"{name}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
