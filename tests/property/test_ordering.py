"""The order of trials: complete blocks, adjacent contrasts, no pattern, the same for a seed."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.plan.ordering import LARGEST_SEED, in_blocks

GROUPS = st.integers(1, 12).flatmap(
    lambda groups: st.integers(1, 4).map(
        lambda sides: [[(group, side) for side in range(sides)] for group in range(groups)]
    )
)
SEEDS = st.integers(0, LARGEST_SEED)


@given(GROUPS, st.integers(1, 8), SEEDS)
def test_every_block_holds_every_cell_once(
    groups: list[list[tuple[int, int]]], blocks: int, seed: int
) -> None:
    placed = list(in_blocks(groups, blocks=blocks, seed=seed))
    cells = sorted(cell for group in groups for cell in group)
    for block in range(1, blocks + 1):
        assert sorted(each.item for each in placed if each.block == block) == cells
    assert [each.block for each in placed] == sorted(each.block for each in placed)


@given(GROUPS, st.integers(1, 8), SEEDS)
def test_contrasted_cells_stand_next_to_each_other_and_share_a_seed(
    groups: list[list[tuple[int, int]]], blocks: int, seed: int
) -> None:
    placed = list(in_blocks(groups, blocks=blocks, seed=seed))
    runs = [
        list(run) for _, run in itertools.groupby(placed, lambda each: (each.seed, each.item[0]))
    ]
    assert len(runs) == blocks * len(groups)
    assert all(len(run) == len(groups[0]) for run in runs)
    seeds = [run[0].seed for run in runs]
    assert len(set(seeds)) == len(seeds)
    assert all(1 <= each <= LARGEST_SEED for each in seeds)


@given(GROUPS, st.integers(1, 5), SEEDS)
def test_a_seed_gives_the_same_order_again(
    groups: list[list[tuple[int, int]]], blocks: int, seed: int
) -> None:
    first = list(in_blocks(groups, blocks=blocks, seed=seed))
    assert first == list(in_blocks(groups, blocks=blocks, seed=seed))


@given(SEEDS)
@settings(max_examples=20)
def test_the_order_follows_no_fixed_pattern(seed: int) -> None:
    groups = [[(group, side) for side in range(2)] for group in range(6)]
    placed = list(in_blocks(groups, blocks=40, seed=seed))
    first = [placed[index].item[1] for index in range(0, len(placed), 2)]
    orders = {tuple(each.item for each in placed if each.block == block) for block in range(1, 41)}
    # Of 46,080 orders: four that come twice in 40 blocks have a probability below one in a million.
    assert len(orders) > 36
    # 240 draws: a share beyond 0.34 … 0.66 has a probability below one in a million.
    assert 0.34 < sum(first) / len(first) < 0.66
    # Neither ABAB nor ABBA: what goes first says nothing about what goes first next.
    repeated = sum(one == other for one, other in itertools.pairwise(first))
    assert 0.34 < repeated / (len(first) - 1) < 0.66


@given(SEEDS)
@settings(max_examples=20)
def test_every_place_in_a_block_is_given_to_every_group(seed: int) -> None:
    groups = [[(group, side) for side in range(2)] for group in range(4)]
    placed = list(in_blocks(groups, blocks=120, seed=seed))
    at_first_place = Counter(
        placed[index].item[0] for index in range(0, len(placed), len(groups) * 2)
    )
    # 120 draws of 4: expected 30 each; 8 has a probability below one in a million.
    assert all(at_first_place[group] > 8 for group in range(4))


def test_the_order_of_a_seed_never_changes() -> None:
    """A report's seed must give its order in every later Teiten and Python."""
    groups = [["a-old", "a-new"], ["b-old", "b-new"], ["c-old", "c-new"]]
    assert [(each.block, each.item, each.seed) for each in in_blocks(groups, blocks=2, seed=7)] == [
        (1, "b-new", 1397871137),
        (1, "b-old", 1397871137),
        (1, "c-new", 1150797841),
        (1, "c-old", 1150797841),
        (1, "a-old", 124551743),
        (1, "a-new", 124551743),
        (2, "b-new", 150013380),
        (2, "b-old", 150013380),
        (2, "c-old", 911648017),
        (2, "c-new", 911648017),
        (2, "a-new", 265862688),
        (2, "a-old", 265862688),
    ]
