"""On which line a key stands."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.study.document import CATALOGUE
from teiten.study.locate import KeyPath, dotted, key_lines, line_of, syntax_error_line

TEXT = """\
# a comment = 1
[study]
name = "mine"
title = '''
[factors]
name = "inside a text"
'''
[factors]
"guc:work_mem" = [
    "4MB",
]
[[workloads]]
name = "a"
[[workloads]]
name = "b"
script = \"\"\"one line\"\"\"
[workloads.deep]
x.y = 1
[profiles.quick.workloads.update]
clients = [1]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("study",), 2),
        (("study", "title"), 4),
        (("factors", "guc:work_mem"), 9),
        (("workloads", 0, "name"), 13),
        (("workloads", 1), 14),
        (("workloads", 1, "script"), 16),
        (("workloads", 1, "deep", "x", "y"), 18),
        (("profiles", "quick", "workloads", "update", "clients"), 20),
        (("study", "question"), 2),
        (("nowhere",), 1),
    ],
)
def test_a_key_is_found_or_the_table_around_it(path: KeyPath, line: int) -> None:
    tomllib.loads(TEXT)
    assert line_of(key_lines(TEXT), path) == line


def test_every_key_of_the_catalogue_is_found() -> None:
    for file in CATALOGUE.glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        lines = key_lines(text)
        data = tomllib.loads(text)
        for table, content in data.items():
            assert (table,) in lines or (table, 0) in lines, table
            if isinstance(content, dict):
                for key in content:
                    line = text.splitlines()[lines[table, key] - 1]
                    assert key in line


@given(st.lists(st.sampled_from(["a = 1", "[t]", "[[u]]", "b = '''", "'''", "", "# x"])))
def test_any_order_of_lines_is_read(parts: list[str]) -> None:
    text = "\n".join(parts)
    assert all(1 <= line <= len(parts) for line in key_lines(text).values())


def test_paths_are_written_for_people() -> None:
    assert dotted(("workloads", 1, "scale")) == "workloads.2.scale"


def test_the_line_of_a_syntax_error_is_read_from_its_message() -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as caught:
        tomllib.loads("a = 1\nb = \n")
    assert syntax_error_line(caught.value) == 2
