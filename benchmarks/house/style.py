"""Names that do not say what they hold, and docstrings that are not understood by themselves."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

VAGUE = ("one", "other", "found", "told", "those", "said", "each")
"""Names of variables, parameters and attributes that fit anything."""
FIRST_WORDS = ("What", "Of", "The same", "As", "That", "How", "Whether", "Where", "Which")
"""Beginnings of docstrings; the first three need the line above."""
NEEDS_THE_LINE_ABOVE = FIRST_WORDS[:3]


def vague_names(tree: ast.Module) -> Counter[str]:
    """How often each vague name is given: by assignment, loop, parameter or field."""
    return Counter(name for name in _given(tree) if name in VAGUE)


def _given(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def functions_with(tree: ast.Module, name: str) -> int:
    """How many functions use a name at all."""
    functions = (
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return sum(
        any(
            (isinstance(node, ast.Name) and node.id == name)
            or (isinstance(node, ast.arg) and node.arg == name)
            for node in ast.walk(function)
        )
        for function in functions
    )


def docstrings(tree: ast.Module) -> Iterator[str]:
    """The docstrings of modules, classes, functions, and those below fields and constants."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                yield text


def first_words(tree: ast.Module) -> Counter[str]:
    """How many docstrings begin with each of the listed words."""
    return Counter(
        words
        for text in docstrings(tree)
        for words in FIRST_WORDS
        if text.strip().startswith((f"{words} ", f"{words},"))
    )
