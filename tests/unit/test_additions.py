"""What docs/design/how-to-add.md promises: a kind, a way, a factor and a predicate are a folder or
file each, a verb is a file and a line; each is used in a copy of the source, up to its report."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest
from benchmarks.house.additions import ADDITIONS, FIXTURES, SOURCE, try_out

from tests.unit.test_rooms import faults

pytestmark = pytest.mark.same

BESIDES = {"verb": {"teiten/cli/main.py": 1}}
"""Files that name what is added, with the number of lines."""


@pytest.mark.slow
@pytest.mark.disk  # a copy in memory has no links to the source
@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_touches_its_own_place_alone(name: str, tmp_path: Path) -> None:
    place = PurePath("teiten", ADDITIONS[name].place)
    assert not (SOURCE / place).exists() and (FIXTURES / ADDITIONS[name].place).exists()
    tried = try_out(name, tmp_path)
    elsewhere = {
        file: n for file, n in tried.files.items() if not PurePath(file).is_relative_to(place)
    }
    assert elsewhere == BESIDES.get(name, {})
    assert [words for words in ADDITIONS[name].shown if words not in tried.output] == []


@pytest.mark.parametrize("name", ADDITIONS)
def test_an_addition_keeps_to_its_room(name: str) -> None:
    place = FIXTURES / ADDITIONS[name].place
    files = [file for file in (place, *place.rglob("*.py")) if file.suffix == ".py"]
    assert files
    for file in files:
        assert faults(file.relative_to(FIXTURES), file.read_text(encoding="utf-8")) == []
