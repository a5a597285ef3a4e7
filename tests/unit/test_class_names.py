"""A name of a class is one thing's: whoever reads ``Step`` need not ask which."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import PurePath

import pytest

from tests.unit.test_rooms import sources

pytestmark = pytest.mark.same

CLASS = re.compile(r"^ *class (\w+)[(:]", re.MULTILINE)


def named_twice(files: Mapping[PurePath, str]) -> dict[str, list[PurePath]]:
    places: dict[str, list[PurePath]] = defaultdict(list)
    for file, source in files.items():
        for name in CLASS.findall(source):
            places[name].append(file)
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_name_of_a_class_is_given_twice() -> None:
    assert named_twice(sources()) == {}


def test_a_second_class_of_a_name_is_found() -> None:
    here = PurePath("report/planted.py")
    planted = {**sources(), here: "class Trial:\n    class Inside:\n        pass\n"}
    assert named_twice(planted) == {"Trial": [PurePath("model/trial.py"), here]}
