"""A name of a class is one thing's: whoever reads ``Step`` need not ask which."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.unit.test_layers import package_folder


def classes(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    yield from (node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def named_twice(sources: dict[Path, str]) -> dict[str, list[Path]]:
    places: dict[str, list[Path]] = defaultdict(list)
    for file, source in sources.items():
        for name in classes(source):
            places[name].append(file)
    return {name: found for name, found in places.items() if len(found) > 1}


def sources() -> dict[Path, str]:
    root = package_folder()
    files = sorted(root.rglob("*.py"))
    return {file.relative_to(root): file.read_text(encoding="utf-8") for file in files}


def test_no_name_of_a_class_is_given_twice() -> None:
    assert named_twice(sources()) == {}


def test_a_second_class_of_a_name_is_found() -> None:
    here = Path("report/planted.py")
    planted = {**sources(), here: "class Trial:\n    class Inside:\n        pass\n"}
    assert named_twice(planted) == {"Trial": [Path("model/trial.py"), here]}
