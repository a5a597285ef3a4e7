"""The record of a collection, and the names that it may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.cli.collection.state import new_state, read_file, read_state, write_state
from teiten.errors import LedgerError, StudyError, UsageError
from teiten.model.units import Seconds
from teiten.study.collection import parsed, read_collection


def test_a_collection_has_a_name_that_means_it_alone(tmp_path: Path) -> None:
    read = read_collection("pgecons")
    with pytest.raises(UsageError, match="means the newest"):
        new_state(tmp_path, "last", read, Seconds(60.0), "")
    write_state(tmp_path, new_state(tmp_path, "night", read, Seconds(60.0), ""))
    assert read_state(tmp_path, "last").name == read_state(tmp_path, "ni").name == "night"
    with pytest.raises(UsageError, match="there is a collection of this name"):
        new_state(tmp_path, "night", read, Seconds(60.0), "")


@pytest.mark.parametrize("name", ["x/../../c", "..", "last", "-x"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """A campaign's folder is that of its name, a collection's too."""
    text = f'''
name = "night"
title = "A night"
budget = "1h"
target = "5m"
[[campaigns]]
study = "observe"
name = "{name}"
'''
    if name != "last":  # night-last is a name
        with pytest.raises(StudyError, match="cannot name a campaign"):
            parsed(tmp_path / "night.toml", text)
    read = read_collection("pgecons")
    write_state(tmp_path, new_state(tmp_path, "night", read, Seconds(60.0), ""))
    file = tmp_path / "night" / "collection.json"
    file.write_text(file.read_text().replace('"night"', f'"{name}"', 1))
    with pytest.raises(LedgerError, match="nothing can be named"):
        read_file(file)
