"""Vague names, and docstrings that need the line above, become fewer (CONTRIBUTING.md, Habits)."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from benchmarks.house.__main__ import ROOT, python_below
from benchmarks.house.style import NEEDS_THE_LINE_ABOVE, VAGUE, first_words, vague_names

pytestmark = pytest.mark.same

NAMES = {"one": 0, "other": 0, "found": 0, "told": 0, "those": 0, "said": 0, "each": 3}
"""How many variables and parameters below ``src`` may have each of these names: three fields, which
are keys of study files and ledgers."""
DOCSTRINGS = {"What": 0, "Of": 0, "The same": 0}
"""How many docstrings may begin with these words."""


def test_every_vague_name_has_a_bound() -> None:
    assert set(NAMES) == set(VAGUE)
    assert set(DOCSTRINGS) == set(NEEDS_THE_LINE_ABOVE)


def test_vague_names_and_docstrings_that_need_the_line_above_become_fewer() -> None:
    names: Counter[str] = Counter()
    beginnings: Counter[str] = Counter()
    for source in python_below(ROOT / "src" / "teiten").values():
        tree = ast.parse(source)
        names += vague_names(tree)
        beginnings += first_words(tree)
    more = {name: names[name] for name, bound in NAMES.items() if names[name] > bound}
    assert more == {}, "they do not say what they hold"
    more = {words: beginnings[words] for words, n in DOCSTRINGS.items() if beginnings[words] > n}
    assert more == {}, "docstrings begin so"


def test_a_vague_name_and_a_docstring_are_counted() -> None:
    tree = ast.parse('''
def many(found: int) -> int:
    """What it is."""
    return sum(one for one in range(found))

class A:
    field: int
    """Of the class."""
''')
    assert vague_names(tree) == {"found": 1, "one": 1}
    assert first_words(tree) == {"What": 1, "Of": 1}
