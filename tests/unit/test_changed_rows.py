"""A workload that was declared to read, and writes, is found by the server's own counts."""

from __future__ import annotations

import numpy as np
import pytest

from teiten.host.cautions.machine import data_changed
from teiten.kinds.pgbench.load.trial import changes_rows
from teiten.model.trial import Series
from teiten.report.texts import caution_text


def a_series(rates: list[float], source: str = "postgres") -> Series:
    seconds = np.arange(1.0, len(rates) + 1)
    return Series(source, seconds, {"rows_changed_per_second": np.array(rates)})


@pytest.mark.parametrize(
    ("rates", "found"),
    [([50.0, 50.0], True), ([1.0, 0.0], False), ([float("nan"), 90.0], True), ([], False)],
)
def test_changes_are_counted_by_transaction(rates: list[float], found: bool) -> None:
    assert changes_rows([a_series(rates)], 1000.0) is found
    assert not changes_rows([a_series(rates, "os")], 1000.0)


def test_rows_that_other_nodes_change_count_too() -> None:
    """A coordinator whose tables lie on other servers changes none of its own."""
    coordinator, other = a_series([0.0, 0.0]), a_series([50.0, 50.0], "node-2:postgres")
    assert changes_rows([coordinator, other], 1000.0)
    assert not changes_rows([coordinator, a_series([50.0, 50.0], "node-2:os")], 1000.0)


def test_the_caution_says_what_to_do() -> None:
    what, advice = caution_text(data_changed("q"), "en")
    assert "The workload q changes data" in what and "changes_data=yes" in advice
