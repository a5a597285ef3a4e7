"""A bounded part of ``python -m benchmarks.plans fuzz``: real plans, changed at random."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from benchmarks.plans.checks import check
from benchmarks.plans.fuzz import outcome_of
from benchmarks.plans.size import SHAPES, text_of

from teiten.analysis.explain.read import read_plan


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_no_plan_raises_and_the_parts_add_up(first: int) -> None:
    found = Counter(outcome_of(seed) for seed in range(first, first + 100))
    assert not [text for text in found if text.startswith("failed")]
    assert found["compared"] > 30


@pytest.mark.parametrize("seed", [85540])
def test_what_the_long_runs_found_holds_now(seed: int) -> None:
    """85540: a bitmap scan below another, over partitions, was in two groups."""
    assert outcome_of(seed) == "compared"


@pytest.mark.parametrize("shape", SHAPES)
def test_the_benchmark_s_plans_hold_too(shape: str) -> None:
    text = text_of(SHAPES[shape], 700)
    assert len(json.loads(text)) == 1
    check(read_plan(text), read_plan(text), "en")
