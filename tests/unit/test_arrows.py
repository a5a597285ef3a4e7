"""Imports go down (benchmarks.house.arrows): no module imports from a floor above its own, and no
circle of imports leaves its folder."""

from __future__ import annotations

from functools import cache

import pytest
from benchmarks.house.__main__ import ROOT, modules, python_below
from benchmarks.house.additions import ADDITIONS, FIXTURES
from benchmarks.house.arrows import (
    beyond_a_package,
    circles,
    floor_of,
    imports_of,
    upward,
)

pytestmark = pytest.mark.same


@cache
def sources() -> dict[str, str]:
    return modules(python_below(ROOT / "src" / "teiten"))


@cache
def imports() -> dict[str, frozenset[str]]:
    return imports_of(sources())


def test_every_module_stands_on_a_floor() -> None:
    assert all(floor_of(module) >= 0 for module in sources() if module)


def test_no_module_imports_from_a_floor_above_its_own() -> None:
    assert [str(arrow) for arrow in upward(imports())] == []


def test_what_how_to_add_adds_keeps_to_the_floors() -> None:
    places = tuple(addition.place for addition in ADDITIONS.values())
    files = python_below(FIXTURES)
    added = modules({path: text for path, text in files.items() if path.startswith(places)})
    assert len(added) >= len(ADDITIONS)
    arrows = upward(imports_of(dict.fromkeys(sources(), "") | added))
    assert [str(arrow) for arrow in arrows] == []


def test_no_circle_of_imports_leaves_its_folder() -> None:
    assert [circle for circle in circles(imports()) if beyond_a_package(circle)] == []


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("factors.contract", "from teiten.plan.cells import setup_of"),
        ("factors.cores", "from teiten.plan import cells"),
        ("study.values", "from teiten.factors.registry import rule"),
        ("kinds.contract", "import teiten.analysis.model.findings"),
        ("model.plan", "from teiten.study.tables import TomlTable"),
        ("report.names", "from teiten.kinds.pgbench.metrics import TPS"),
    ],
)
def test_an_import_upward_is_found(module: str, line: str) -> None:
    changed = {module: f"{sources()[module]}\nif TYPE_CHECKING:\n    {line}\n"}
    found = upward(imports_of(changed | {name: "" for name in sources() if name != module}))
    assert [arrow.importer for arrow in found] == [module]


def test_a_circle_through_two_folders_is_found() -> None:
    texts = {
        "plan.a": "from teiten.plan.b import B",
        "plan.b": "from teiten.model import c",
        "model.c": "from teiten.plan.a import A",
        "model.d": "from teiten.plan.a import A",
        "plan": "",
        "model": "",
    }
    (circle,) = circles(imports_of(texts))
    assert circle == ("model.c", "plan.a", "plan.b")
    assert beyond_a_package(circle)


def test_a_circle_inside_a_folder_is_no_circle_beyond_it() -> None:
    texts = {"plan.a": "from teiten.plan import b", "plan.b": "from teiten.plan import a"}
    (circle,) = circles(imports_of(texts))
    assert circle == ("plan.a", "plan.b")
    assert not beyond_a_package(circle)
