"""The drawing of flame graphs."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from teiten.report.flame_graph import (
    LESS,
    MORE,
    Frame,
    difference,
    flame_graph,
    greatest_difference,
    kind_of,
    placed,
    tree,
)
from tests.fixtures.invented_analysis import NASTY

SVG = "{http://www.w3.org/2000/svg}"
OLD = {"main;a": 2.0, "main;a;b": 1.0, "main;gone": 1.0}
NEW = {"main;a": 2.0, "main;a;b": 3.0, "main;come_[k]": 1.0}


def words(frame: Frame) -> tuple[str, str]:
    return frame.name or "all", f"hint {frame.name}"


def frames(drawing: str) -> dict[str, ET.Element]:
    root = ET.fromstring(drawing)
    return {
        one.get("data-name") or "": one
        for one in root.iter(f"{SVG}svg")
        if one.get("data-name") is not None
    }


def test_children_lie_within_their_callers_and_beside_one_another() -> None:
    found = {one.frame.name: one for one in placed(tree(OLD, NEW))}
    assert found[""].width == 1.0
    assert found["main"].width == pytest.approx(1.0)
    assert found["a"].width == pytest.approx(0.8)
    assert found["b"].depth == 3
    assert found["a"].left <= found["b"].left
    assert found["b"].left + found["b"].width <= found["a"].left + found["a"].width + 1e-12
    assert found["come_[k]"].left == pytest.approx(found["a"].left + found["a"].width)


def test_a_frame_of_one_side_alone_is_there() -> None:
    names = set(frames(difference(tree(OLD, NEW), "t", words)))
    assert {"gone", "come_[k]"} <= names


def test_more_and_less_have_their_colours_and_the_strongest_the_most() -> None:
    found = frames(difference(tree(OLD, NEW), "t", words))

    def colour(name: str) -> tuple[str | None, float]:
        box = found[name].find(f"{SVG}rect")
        assert box is not None
        return box.get("fill"), float(box.get("fill-opacity") or 0)

    assert colour("b")[0] == MORE
    assert colour("b")[1] == pytest.approx(0.85)
    assert colour("gone")[0] == LESS
    assert 0.1 < colour("gone")[1] < 0.85
    assert greatest_difference(tree(OLD, NEW)) == 2.0


def test_narrow_frames_are_left_out_with_what_they_call() -> None:
    stacks = {"main;a": 1000.0, "main;tiny;x": 0.5}
    names = set(frames(flame_graph(tree(stacks, {}), "t", words)))
    assert names == {"", "main", "a"}


def test_names_that_are_markup_are_text() -> None:
    drawing = str(flame_graph(tree({f'main;{NASTY};"x&y': 1.0}, {}), NASTY, words, alone=True))
    assert NASTY not in drawing
    assert NASTY in frames(drawing)


def test_nothing_is_drawn_as_nothing() -> None:
    assert frames(flame_graph(tree({}, {}), "t", words)) == {}
    assert greatest_difference(tree({}, {})) == 0.0


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a", "program"), ("a_[k]", "kernel"), ("[libc.so.6]", "unnamed"), ("[k]_[k]", "kernel")],
)
def test_kinds(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_alone_it_stands_on_white_with_a_size() -> None:
    alone = str(flame_graph(tree(OLD, {}), "t", words, alone=True))
    assert 'width="960"' in alone and 'fill="white"' in alone
    assert 'width="960"' not in str(flame_graph(tree(OLD, {}), "t", words))
