"""Odd inputs, a bounded part of ``python -m benchmarks.robustness``: never a defect, a traceback, a
password, or anything that steers a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks.robustness import record
from benchmarks.robustness.addresses import spell_addresses
from benchmarks.robustness.ledgers import spoil_ledgers
from benchmarks.robustness.lines import spoil_lines
from benchmarks.robustness.outcome import Outcome, Tally
from benchmarks.robustness.studies import spoil_studies


@pytest.mark.parametrize(
    ("spoil", "count"),
    [(spoil_studies, 120), (spoil_lines, 200), (spell_addresses, 1000), (spoil_ledgers, 12)],
)
def test_odd_inputs_are_refused_in_order(spoil: Callable[[int, int], Tally], count: int) -> None:
    tally = spoil(count, 20)
    assert tally.count >= count
    assert not tally.findings, "\n".join(tally.lines())


@pytest.mark.parametrize(
    ("outcome", "wrong"),
    [
        (Outcome(1, "", "error: a defect of Teiten: x", 0.1), "exit code 1"),
        (Outcome(0, "", "Traceback (most recent call last)", 0.1), "a traceback"),
        (Outcome(2, "", "no such thing", 0.1), "exit code 2 without an error"),
        (Outcome(2, "", "error: x\n", 0.1), "an error without a hint"),
        (Outcome(0, "\x1b[31m", "", 0.1), "something that steers a terminal"),
        (Outcome(0, "planted", "", 0.1), "a password"),
        (Outcome(0, "", "", 100.0), "100 s"),
        (Outcome(2, "", "error: x\nhint: y\n", 0.1), None),
    ],
)
def test_what_may_never_be_is_seen(outcome: Outcome, wrong: str | None) -> None:
    assert outcome.wrong(("planted",)) == wrong


def test_counts_of_long_runs_add_up(tmp_path: Path) -> None:
    file, tally = tmp_path / "record.jsonl", Tally("studies")
    assert record.counted(file, "studies") == 0
    tally.add("study 1", Outcome(0, "", "", 0.1))
    record.add(file, "studies", 1, tally)
    tally.add("study 2", Outcome(1, "", "", 0.1))
    record.add(file, "studies", 2, tally)
    assert record.counted(file, "studies") == 3 and record.counted(file, "lines") == 0
    counts, finding = record.totals(file)
    assert counts.startswith("studies: 3 in 2 runs (") and counts.endswith("); 1 findings")
    assert "exit code 1: study 2" in finding
