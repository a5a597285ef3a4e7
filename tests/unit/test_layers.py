"""One way through the house: each room imports only what stands before it (architecture.md)."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

FOUNDATION = {
    "model",
    "errors",
    "suggest",
    "host.system.causes",
    "given_paths",
    "addresses",
    "secrets",
}
OF_KINDS = {
    f"kinds.{kind}.{file}"
    for kind in ("pgbench", "queries")
    for file in ("metrics", "model", "results")
}
"""What rooms still name until their parts of the kinds have moved there."""
KINDS = {"kinds.registry", "kinds.contract", "kinds.metrics"} | OF_KINDS
"""How a stage reaches the kinds of workloads, without naming one."""
FILLERS = {"datasets.contract", "datasets.registry", "datasets.sql"}
"""How data sets are filled, without naming one."""
LOAD = FOUNDATION | KINDS | {"host", "execute"}
"""What the load of a kind may import besides the kind's own files."""
PLANS_OF_KINDS = {"kinds.registry", "kinds.contract"}
FACTORS = {"factors.registry", "factors.contract"}
"""How study and plan reach the factors, without naming one."""
DATA = {"datasets.registry", "datasets.plan"}
"""How study, plan and ledger reach the kinds of data sets."""
ALLOWED = {
    "errors": set[str](),
    "suggest": set[str](),
    "given_paths": set[str](),
    "secrets": set[str](),
    "addresses": {"secrets"},
    "kinds": FOUNDATION | {"kinds", "study", "claims", "analysis"},
    "model": {"model"},
    "host": FOUNDATION | KINDS | {"host"},
    "study": FOUNDATION | PLANS_OF_KINDS | FACTORS | DATA | {"study", "studies"},
    "plan": FOUNDATION | PLANS_OF_KINDS | FACTORS | DATA | {"plan"},
    "factors": FOUNDATION | {"factors", "study", "plan"},
    "datasets": FOUNDATION | {"host", "datasets"},
    "execute": FOUNDATION | FILLERS | {"kinds.registry", "host", "execute"},
    "ledger": FOUNDATION | (KINDS - OF_KINDS) | DATA | {"ledger"},
    "analysis": FOUNDATION | (KINDS - OF_KINDS) | {"analysis"},
    "export": FOUNDATION | (KINDS - OF_KINDS) | {"export", "ledger", "analysis.model"},
    "claims": FOUNDATION | (KINDS - OF_KINDS) | FACTORS | {"claims", "study", "analysis"},
    "report": FOUNDATION
    | (KINDS - OF_KINDS)
    | {"report", "analysis.model", "kinds.contract_present", "datasets.registry"},
}
"""Rooms by what they may import; ``analysis.model`` stands for the values of the analysis alone."""
OF_STAGES = {
    "plan": DATA | {"factors.contract", "plan", "study"},
    "contract": {"factors.contract", "plan.setup"},
    "present": FOUNDATION | {"kinds", "analysis.model", "report"},
}
"""The same of the files of kinds and data sets for a stage, which may be folders, and of the
contract for it."""


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


def is_load(file: Path) -> bool:
    """``kinds/KIND/run.py``, and all in ``kinds/KIND/load``."""
    room, _, *rest = (*file.parts, "")
    return room == "kinds" and rest[0] in ("run.py", "load")


def stands_in(module: str, rooms: set[str]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def allowed_in(file: Path, room: str) -> set[str]:
    stages = {part.removesuffix(".py").removeprefix("contract_") for part in file.parts}
    of_stage = OF_STAGES.keys() & stages if room in ("kinds", "datasets") else ()
    return ALLOWED[room].union(*(OF_STAGES[stage] for stage in of_stage))


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_a_room_imports_only_what_stands_before_it(room: str) -> None:
    root = package_folder()
    files = [root / f"{room}.py"] if (root / f"{room}.py").exists() else (root / room).rglob("*.py")
    seen = False
    for file in files:
        seen = True
        if is_load(file.relative_to(root)):
            continue
        for module in imported_modules(file.read_text(encoding="utf-8")):
            allowed = allowed_in(file.relative_to(root), room)
            assert stands_in(module, allowed), f"{file.relative_to(root)} imports {module}"
    assert seen


def test_the_load_of_a_kind_imports_execute_and_no_other_kind() -> None:
    root = package_folder()
    files = [file for file in (root / "kinds").rglob("*.py") if is_load(file.relative_to(root))]
    assert files
    for file in files:
        kind = file.relative_to(root).parts[1]
        for module in imported_modules(file.read_text(encoding="utf-8")):
            others = stands_in(module, OF_KINDS) and not module.startswith(f"kinds.{kind}.")
            allowed = stands_in(module, LOAD | {f"kinds.{kind}"}) and not others
            assert allowed, f"{file.relative_to(root)} imports {module}"


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


QUESTIONS = re.compile(
    r"""(?<!model)\.attached\b|\b(?:plan|study)\.hosts\b|on_db_host"""
    r"""|(?:==|!=|\bis|\bis\ not|\bin)\s*\(?["'](?:pgbench|queries|ssb|script)["']""",
    re.VERBOSE,
)
"""Is it attached, elsewhere, of this kind? A room that asks pays for the next answer."""


@pytest.mark.parametrize(
    "room", ["study", "plan", "factors", "datasets", "ledger", "analysis", "claims", "export"]
)
def test_no_room_asks_of_which_kind_something_is_or_where_it_runs(room: str) -> None:
    root = package_folder()
    for file in (root / room).rglob("*.py"):
        inside = file.relative_to(root)
        if inside.parts[:2] == ("plan", "sites") or inside == Path("ledger/options.py"):
            continue  # the room that is there to be asked; the forms of older ledgers
        code = ast.unparse(ast.parse(file.read_text(encoding="utf-8")))
        found = QUESTIONS.search(code)
        assert found is None, f"{inside} asks {found}"
