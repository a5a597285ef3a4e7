"""Where a trial's servers run, and what is done to them, is asked in the rooms that know, only."""

from __future__ import annotations

import re

import pytest

from tests.unit.test_layers import package_folder

QUESTIONS = {
    "of a kind": re.compile(
        r"WorkloadKind|kinds\.(?!registry|contract|metrics)\w+|\bkind (==|!=|is)"
        r"|isinstance\([^)]*(Load|Options)\b|\bQUERIES\b|\btimes_queries\b"
    ),
    "of an attached server": re.compile(
        r"\.attached\b(?! *import)|[Aa]ttached(Server|Site|Keeper)"
    ),
    "of other hosts": re.compile(r"\.hosts\b|[Rr]emote(Site|Keeper|Cluster)|\bplacement\b"),
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
