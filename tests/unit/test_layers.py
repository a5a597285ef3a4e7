"""One way through the house: each room imports only what stands before it (DESIGN.md)."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

FOUNDATION = {"model", "errors", "suggest", "causes", "given_paths", "addresses", "secrets"}
ALLOWED = {
    "errors": set[str](),
    "suggest": set[str](),
    "given_paths": set[str](),
    "secrets": set[str](),
    "addresses": {"secrets"},
    "causes": {"errors"},
    "model": {"model"},
    "host": FOUNDATION | {"host"},
    "study": FOUNDATION | {"study", "studies"},
    "plan": FOUNDATION | {"plan"},
    "execute": FOUNDATION | {"host", "execute"},
    "ledger": FOUNDATION | {"ledger"},
    "analysis": FOUNDATION | {"analysis"},
    "export": FOUNDATION | {"export", "ledger", "analysis.model"},
    "report": FOUNDATION | {"report", "analysis.model"},
}
"""Rooms by what they may import; ``analysis.model`` stands for the values of the analysis alone."""


def package_folder() -> Path:
    spec = importlib.util.find_spec("teiten")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def imported_modules(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a thing comes from"
            names = [node.module or ""]
        for name in names:
            program, _, room = name.partition(".")
            if program == "teiten" and room:
                yield room


def stands_in(module: str, rooms: set[str]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_a_room_imports_only_what_stands_before_it(room: str) -> None:
    root = package_folder()
    files = [root / f"{room}.py"] if (root / f"{room}.py").exists() else (root / room).rglob("*.py")
    seen = False
    for file in files:
        seen = True
        for module in imported_modules(file.read_text(encoding="utf-8")):
            assert stands_in(module, ALLOWED[room]), f"{file.relative_to(root)} imports {module}"
    assert seen


def test_only_the_command_line_uses_rich_and_prints() -> None:
    root = package_folder()
    for file in root.rglob("*.py"):
        if file.relative_to(root).parts[0] == "cli":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                assert not (module or "").startswith(("rich", "click")), file
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id != "print", file
