"""One wrong number in a report of any kind, of a sentence or of a table, is seen.

The long run, with counts by kind: ``python -m benchmarks.robustness planted --count 1000``.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from benchmarks.robustness.planted import wrong_cell

from teiten.model.text import Language
from tests.fixtures.drawn import Drawn, machines, versions
from tests.fixtures.drawn_across import ACROSS, Across, collections, comparisons, histories, sites
from tests.fixtures.drawn_kinds import BY_NUMBERS, placements, procedures, scale_outs, two_sides
from tests.reader.whole import read_whole, trials_objections

LANGUAGES: tuple[Language, ...] = ("en", "ja")
SEEDS = {"histories": 1, "probes": 1}
"""Others are drawn from 2; probes of several servers from 1."""
SHORT = (collections, sites)
CARRIED_OVER = 5053
"""A seed of two sides of which only the base has what others left behind."""


Kind = Callable[[random.Random], Drawn | Across]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", [*ACROSS, *BY_NUMBERS], ids=lambda kind: kind.__name__)
def test_a_report_of_a_further_kind_is_true(kind: Kind, language: Language) -> None:
    drawn = kind(random.Random(SEEDS.get(kind.__name__, 2)))
    reader = read_whole(drawn.document(language), drawn, language)
    assert not reader.objections
    assert reader.read > (5 if kind in SHORT else 30)


SMALL_BELOW_DELTA = 40_098
"""A seed whose answers name δ before a small difference."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_small_difference_that_is_told_behind_delta_is_read(language: Language) -> None:
    drawn = placements(random.Random(SMALL_BELOW_DELTA))
    assert not read_whole(drawn.document(language), drawn, language).objections


def test_carry_over_is_of_the_new_side() -> None:
    assert not trials_objections(two_sides(random.Random(CARRIED_OVER)))


SCATTERED = 1070
"""A seed of two blocks whose intervals exclude nothing."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_ends_of_comparisons_are_within_reach_as_everywhere(language: Language) -> None:
    """They were once told as 0.00 and > 100."""
    drawn = comparisons(random.Random(SCATTERED))
    document = drawn.document(language)
    assert any("> 1,000" in cell for table in document.tables for row in table.rows for cell in row)
    assert not read_whole(document, drawn, language).objections


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "kind",
    [comparisons, histories, placements, procedures, scale_outs, two_sides, versions, machines],
    ids=lambda kind: kind.__name__,
)
def test_most_wrong_cells_are_seen(kind: Kind, language: Language) -> None:
    """Small counts may become another count of the same report."""
    chance = random.Random(SEEDS.get(kind.__name__, 2))
    drawn = kind(chance)
    document = drawn.document(language)
    right = set(read_whole(document, drawn, language).objections)
    seen = 0
    for _ in range(12):
        wrong = wrong_cell(document, chance)
        assert wrong is not None
        again = read_whole(wrong[0], drawn, language).objections
        seen += bool(set(again) - right)
    assert seen >= 9
