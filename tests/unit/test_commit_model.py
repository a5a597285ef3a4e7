"""The commits that nodes share: the model of 2013 §5.6.2, and the report's slip."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from teiten.kinds.pgbench.results import (
    PRINTED,
    best_scaling,
    commits_per_node,
    participants,
)


def test_table_5_7_recomputed() -> None:
    expected = [Fraction(1), Fraction(7, 4), Fraction(19, 9), Fraction(37, 16)]
    assert [participants(nodes, 3) for nodes in (1, 2, 3, 4)] == expected
    assert [commits_per_node(nodes, 3) for nodes in (2, 3, 4)] == [
        Fraction(7, 8),
        Fraction(19, 27),
        Fraction(37, 64),
    ]
    assert [best_scaling(nodes, 3) for nodes in (2, 3, 4)] == [
        Fraction(8, 7),
        Fraction(27, 19),
        Fraction(64, 37),
    ]


def test_what_is_printed_differs_for_three_and_four_nodes_alone() -> None:
    assert [nodes for nodes in PRINTED if PRINTED[nodes] != participants(nodes, 3)] == [3, 4]


def test_one_row_scales_with_the_nodes() -> None:
    assert [best_scaling(nodes, 1) for nodes in (1, 2, 7)] == [1, 2, 7]


@pytest.mark.parametrize(("nodes", "rows"), [(2, 3), (5, 2), (3, 6)])
def test_the_model_is_the_mean_of_draws(nodes: int, rows: int) -> None:
    draw = random.Random(7)
    seen = [len({draw.randrange(nodes) for _ in range(rows)}) for _ in range(20_000)]
    assert sum(seen) / len(seen) == pytest.approx(float(participants(nodes, rows)), abs=0.03)


@pytest.mark.parametrize(("nodes", "rows"), [(0, 3), (2, 0)])
def test_nothing_is_said_of_no_nodes_and_no_rows(nodes: int, rows: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        participants(nodes, rows)
