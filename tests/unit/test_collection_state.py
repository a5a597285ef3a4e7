"""The record of a collection, and the names that it may have."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.cli.collection.state import new_state, read_state, write_state
from teiten.errors import UsageError
from teiten.model.units import Seconds
from teiten.study.collection import read_collection


def test_a_collection_has_a_name_that_means_it_alone(tmp_path: Path) -> None:
    read = read_collection("pgecons")
    with pytest.raises(UsageError, match="means the newest"):
        new_state(tmp_path, "last", read, Seconds(60.0), "")
    write_state(tmp_path, new_state(tmp_path, "night", read, Seconds(60.0), ""))
    assert read_state(tmp_path, "last").name == read_state(tmp_path, "ni").name == "night"
    with pytest.raises(UsageError, match="there is a collection of this name"):
        new_state(tmp_path, "night", read, Seconds(60.0), "")
