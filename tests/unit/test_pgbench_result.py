"""What a run that ended says of itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.pgbench_log import LogSummary
from teiten.kinds.metrics import by_name
from teiten.kinds.pgbench.load.output import (
    log_metrics,
    log_problems,
    parse_summary,
    problems,
    script_is_wrong,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "pgbench"
PRINTED = parse_summary((GOLDEN / "18-retries.out").read_text())
LOG = LogSummary(
    counted=5173,
    error=None,
)


def errors(case: str) -> list[str]:
    return (GOLDEN / f"{case}.err").read_text().splitlines()


def test_the_metrics_have_the_models_names() -> None:
    assert set(PRINTED) <= set(by_name())
    assert PRINTED["tps"] == 2587.153256
    assert PRINTED["failed_transactions"] == 0


def test_nothing_is_invented_for_what_was_not_printed() -> None:
    assert set(parse_summary((GOLDEN / "18-mistyped.out").read_text())) <= {
        "transactions",
        "failed_transactions",
    }


def test_the_mean_of_a_whole_log_is_finer_than_the_printed_one() -> None:
    histogram = LatencyHistogram()
    histogram.record(np.array([40, 41, 41, 5000], dtype=np.int64))
    metrics = log_metrics(histogram, 1.0)
    assert set(metrics) <= set(by_name())
    assert metrics["latency_mean"] == 0.0012805
    assert metrics["latency_p50"] == 0.000041
    assert metrics["latency_max"] == 0.005
    assert "latency_mean" not in log_metrics(histogram, 0.5)


def test_a_good_run_has_no_problem() -> None:
    assert problems(0, PRINTED, [], None) == ()
    assert log_problems(0, PRINTED, LOG, 1.0) == ()
    assert log_problems(0, PRINTED, None, None) == ()


def test_a_log_with_a_gap_is_a_problem() -> None:
    (problem,) = log_problems(0, PRINTED, replace(LOG, counted=5000), 1.0)
    assert problem.code == "pgbench-failed"
    assert problem.detail == "the log has 5000 of 5173 transactions"
    assert log_problems(0, PRINTED, replace(LOG, counted=510), 0.1) == ()


def test_a_log_that_cannot_be_read_is_a_problem() -> None:
    (problem,) = log_problems(0, PRINTED, replace(LOG, error="OSError: x"), 1.0)
    assert problem.detail == "the transaction log could not be read: OSError: x"


@pytest.mark.parametrize(
    ("exit_code", "stopped", "detail"),
    [
        (-15, None, "ended by signal 15"),
        (-15, "stopped", "stopped"),
        (
            2,
            None,
            "exit code 2; client 0 aborted in command 1 (SQL) of script 0; perhaps the backend"
            " died while processing; client 1 aborted in command 1 (SQL) of script 0; perhaps"
            " the backend died while processing",
        ),
    ],
)
def test_what_ended_a_run(exit_code: int, stopped: str | None, detail: str) -> None:
    lines = errors("18-crash") if exit_code > 0 else []
    (problem,) = problems(exit_code, PRINTED, lines, stopped)
    assert (problem.code, problem.detail) == ("pgbench-failed", detail)


def test_a_run_without_a_transaction_is_a_problem() -> None:
    (problem,) = problems(0, parse_summary(""), [], None)
    assert problem.detail == "no transaction was completed"


@pytest.mark.parametrize(
    ("case", "exit_code", "wrong"),
    [
        ("18-unclosed", 1, True),
        ("18-mistyped", 2, True),
        ("18-meta-division", 2, True),
        ("18-empty", 1, True),
        ("18-option", 1, True),
        ("9.6-mistyped", 2, True),
        ("9.6-unclosed", 1, True),
        ("18-sometimes", 2, False),
        ("18-crash", 2, False),
        ("9.6-crash", 2, False),
        ("18-no-server", 1, False),
        ("18-no-database", 1, False),
        ("18-tpcb", 0, False),
        ("18-unclosed", -9, False),
    ],
)
def test_when_the_script_is_to_blame(case: str, exit_code: int, wrong: bool) -> None:
    printed = parse_summary((GOLDEN / f"{case}.out").read_text())
    assert script_is_wrong(exit_code, printed, errors(case)) is wrong
