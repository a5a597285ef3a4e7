"""Imports between the files below ``src/teiten``: those that go up, and those that form a circle.

Imports for type checkers count as all others do.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from scipy.sparse.csgraph import connected_components

Sources = Mapping[str, str]
"""The text of each module, by its name without ``teiten.``."""
Imports = Mapping[str, frozenset[str]]
"""The modules of Teiten that each module imports."""

FLOORS: tuple[tuple[str, ...], ...] = (
    ("secrets", "addresses", "connections", "errors", "suggest", "given_paths"),
    ("model",),
    ("ways", "ways.contract", "ways.registry"),
    ("host",),
    ("engines",),
    ("kinds", "datasets", "factors", "kinds.registry", "datasets.registry", "studies"),
    ("study.values", "study.locate", "study.tables"),
    ("datasets.plan", "datasets.contract", "datasets.sql", "factors.contract"),
    ("factors.registry", "study.schema"),
    ("kinds.contract", "kinds.metrics"),
    ("factors.*", "ways.*"),
    ("study",),
    ("plan",),
    ("datasets.*",),
    ("ledger",),
    ("execute", "factors.*.run"),
    ("analysis.model",),
    ("kinds.contract_analyse",),
    ("analysis",),
    ("claims",),
    ("kinds.contract_present", "report"),
    ("kinds.*",),
    ("export",),
    ("cli",),
    ("start", "__main__"),
)
"""The house from the ground up. A room stands on the floor that names it, or the room around it; a
module imports from its own floor and from those below."""


@dataclass(frozen=True)
class Arrow:
    """An import of one module by another."""

    importer: str
    imported: str

    def __str__(self) -> str:
        return f"{self.importer} -> {self.imported}"


def imports_of(sources: Sources) -> dict[str, frozenset[str]]:
    """Who imports whom; importing a name from a package is importing its module of that name."""
    return {
        module: frozenset(_imported(ast.parse(text), sources)) - {module}
        for module, text in sources.items()
    }


def _imported(tree: ast.Module, sources: Sources) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            program, _, module = name.partition(".")
            if program == "teiten":
                package = module.rpartition(".")[0]
                yield from [known for known in (module, package) if known in sources][:1]


def floor_of(module: str) -> int:
    """The floor on which a module stands, from 0. Raises KeyError for a module of no room."""
    ranked = [
        (len(room), floor)
        for floor, rooms in enumerate(FLOORS)
        for room in rooms
        if fnmatchcase(module, room) or fnmatchcase(module, f"{room}.*")
    ]
    if not ranked:
        raise KeyError(module)
    return max(ranked)[1]


def upward(imports: Imports) -> list[Arrow]:
    """Imports of a module that stands on a higher floor than its importer."""
    return sorted(
        (
            Arrow(module, imported)
            for module, below in imports.items()
            if module
            for imported in below
            if imported and floor_of(imported) > floor_of(module)
        ),
        key=str,
    )


def circles(imports: Imports) -> list[tuple[str, ...]]:
    """Groups of modules that import one another, directly or through others, the largest first."""
    names = sorted(imports)
    arrows = np.array([[name in imports[importer] for name in names] for importer in names])
    count, of_module = connected_components(arrows, connection="strong")
    groups: list[list[str]] = [[] for _ in range(count)]
    for name, number in zip(names, of_module, strict=True):
        groups[number].append(name)
    return sorted((tuple(group) for group in groups if len(group) > 1), key=lambda g: (-len(g), g))


def beyond_a_package(circle: Sequence[str]) -> bool:
    """Whether a circle has members in several folders."""
    return len({module.rpartition(".")[0] for module in circle}) > 1
