"""Every table of docs/concepts/trust.md that a command makes has its place there, and its form."""

from __future__ import annotations

import pytest
from benchmarks.method.campaigns import SINGLE, SWEEP
from benchmarks.method.noise import KINDS
from benchmarks.trust import (
    LIVE,
    MACHINES,
    PAGE,
    SIMULATED,
    SINGLE_TOLD,
    SWEEP_TOLD,
    placed,
    table,
)


@pytest.mark.parametrize("name", [*LIVE, *SIMULATED])
def test_each_table_has_one_place(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    changed = placed(page, name, "| new |\n| --- |")
    assert changed.count(f"<!-- table {name} -->\n\n| new |\n| --- |\n\n<!-- end {name} -->") == 1
    before, after = changed.split("| new |\n| --- |")
    assert page.startswith(before) and page.endswith(after), "nothing else is touched"


@pytest.mark.parametrize("name", SIMULATED)
def test_what_stands_there_has_the_form_of_what_is_printed(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    head = next(iter(table(name, [], 300.0, quick=True)))
    assert f"<!-- table {name} -->\n\n{head}\n" in page


@pytest.mark.parametrize(("undecided", "median"), [(0, "35"), (4, "55"), (6, "–")])
def test_the_median_is_of_all_comparisons_the_undecided_being_longer(
    undecided: int, median: str
) -> None:
    lines = [
        {
            "comparison": number,
            "script": "wait",
            "effect": 0.0,
            "seconds": 10.0 * number / 6,
            "fixed": 0.0,
            "load": 1.0,
            **dict.fromkeys(("throughput", "typical"), log_ratio * (-1) ** at),
            **{key: [0.0, 0.1] for key in ("parts_throughput", "parts_typical")},
        }
        for number in range(1, 7 + undecided)
        for log_ratio in [0.001 if number <= 6 else 0.1]
        for at in range(6)
    ]
    row = [line for line in table("comparisons", lines, 0.0, quick=True) if "throughput" in line]
    assert row[0].split(" | ")[3:6] == [str(6 + undecided), "6", median]


def test_a_page_without_the_place_is_refused() -> None:
    with pytest.raises(ValueError, match="has no place for single"):
        placed("# a page\n", "single", "| new |")


def test_all_rules_and_machines_have_words() -> None:
    assert set(MACHINES) == set(KINDS)
    assert (set(SINGLE_TOLD), set(SWEEP_TOLD)) == (set(SINGLE), set(SWEEP))
