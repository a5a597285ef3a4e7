"""pgbench's output of all versions, as numbers."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from teiten.kinds.pgbench.load.output import ProgressLine, parse_progress, parse_summary
from teiten.kinds.pgbench.load.process import FollowedErrors

GOLDEN = Path(__file__).parents[1] / "golden" / "pgbench"


def output(case: str) -> str:
    return (GOLDEN / f"{case}.out").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("case", "transactions", "failed", "mean", "stddev", "connection", "tps"),
    [
        ("9.6-tpcb", 7780, None, 0.001530, 0.000526, 0.011789, 2595.343821),
        ("13-tpcb", 7780, None, 0.001530, 0.000526, 0.011789, 2595.343821),
        ("14-tpcb", 7780, None, 0.001530, 0.000526, 0.012345, 2595.343821),
        ("9.6-rate", 598, None, 0.000400, 0.000150, 0.005149, 199.217654),
        ("15-retries", 5898, 0, 0.000675, 0.000220, 0.005808, 2956.487304),
        ("18-retries", 5173, 0, 0.000770, 0.000388, 0.004999, 2587.153256),
        ("16-two-scripts", 12408, 0, 0.000317, 0.000343, 0.004679, 6208.488737),
        ("15-reconnect", 626, 0, 0.003342, 0.001744, None, 312.320079),
        ("18-crash", 39438, 0, 0.000075, 0.000048, 0.007795, 26092.703927),
    ],
)
def test_the_summary_of_each_format(
    case: str,
    transactions: int,
    failed: int | None,
    mean: float,
    stddev: float,
    connection: float | None,
    tps: float,
) -> None:
    printed = parse_summary(output(case))
    assert printed["transactions"] == transactions
    assert printed.get("failed_transactions") == failed
    assert printed["latency_mean"] == mean
    assert printed["latency_stddev"] == stddev
    assert printed["tps"] == tps
    if connection is None:
        assert "connection_seconds" not in printed
    else:
        assert printed["connection_seconds"] == pytest.approx(connection, abs=1e-6)
    assert printed["measured_seconds"] == transactions / tps


@pytest.mark.parametrize("version", ["15", "16", "18"])
def test_recorded_runs_agree_with_themselves(version: str) -> None:
    """Three seconds of TPC-B: the printed mean latency is clients x seconds / transactions."""
    printed = parse_summary(output(f"{version}-tpcb"))
    assert printed["measured_seconds"] == pytest.approx(3.0, abs=0.05)
    expected = 4 * printed["measured_seconds"] / printed["transactions"]
    assert printed["latency_mean"] == pytest.approx(expected, rel=0.05)


def test_connecting_is_in_the_throughput_where_each_transaction_does_it() -> None:
    """Before 14 both stand there."""
    excluding, including = (
        parse_summary(output("13-tpcb"), reconnect=reconnect)["tps"] for reconnect in (False, True)
    )
    assert f"tps = {excluding:.6f} (excluding" in output("13-tpcb")
    assert f"tps = {including:.6f} (including" in output("13-tpcb")


@pytest.mark.parametrize("text", ["", "transaction type: x\nnumber of cli", "\n\n"])
def test_an_output_that_was_cut_off_has_no_numbers(text: str) -> None:
    assert parse_summary(text) == {}


def test_no_transaction_at_all() -> None:
    printed = parse_summary(output("15-mistyped"))
    assert printed["transactions"] == 0
    assert {"tps", "measured_seconds"}.isdisjoint(printed)


def test_a_progress_line_of_pgbench_18() -> None:
    line = "progress: 2.0 s, 3214.9 tps, lat 0.621 ms stddev 0.189, 3 failed, 0 retried, 0 retries"
    assert parse_progress(line) == ProgressLine(2.0, 3214.9, 0.000621, 0.000189, 3.0)


def test_a_progress_line_of_pgbench_9_6() -> None:
    progress = parse_progress(
        "progress: 1.0 s, 201.0 tps, lat 0.401 ms stddev 0.145, lag 0.108 ms, 1 skipped"
    )
    assert progress is not None
    assert progress.latency == 0.000401
    assert math.isnan(progress.failed)


@pytest.mark.parametrize(
    "line", ["", "pgbench: error: x", "progress: 1.0 s, 20", "starting vacuum...end."]
)
def test_another_line_is_no_progress(line: str) -> None:
    assert parse_progress(line) is None


@pytest.mark.parametrize("case", ["9.6-tpcb", "13-tpcb", "14-tpcb"])
def test_a_second_without_transactions_has_no_latency(case: str) -> None:
    errors = FollowedErrors(GOLDEN / f"{case}.err")
    errors.finish()
    series = errors.series()
    assert series.seconds.tolist() == [1.0, 2.0, 3.0]
    assert series.columns["tps"].tolist() == [2576.1, 0.0, 2502.7]
    assert [math.isnan(value) for value in series.columns["latency_mean"]] == [False, True, False]
    assert all(math.isnan(value) for value in series.columns["failed"])


@pytest.mark.parametrize("version", ["15", "16", "18"])
def test_a_recorded_stall(version: str) -> None:
    errors = FollowedErrors(GOLDEN / f"{version}-stalled.err")
    errors.finish()
    series = errors.series()
    assert series.source == "pgbench"
    assert series.columns["tps"][0] == 0
    assert math.isnan(series.columns["latency_mean"][0])
    assert math.isnan(series.columns["latency_stddev"][0])
    assert series.columns["tps"][-1] > 0
    assert series.columns["failed"].tolist() == [0.0] * len(series.seconds)


def test_lines_are_followed_while_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "errors"
    errors = FollowedErrors(path)
    assert errors.follow() is None
    with path.open("ab", buffering=0) as file:
        file.write(b"pgbench: setting random seed to 10\nprogress: 1.0 s, 10.0 tps, lat 1.0")
        assert errors.follow() is None
        file.write(b"00 ms stddev 0.500, 0 failed\nprogress: 2.0 s")
        assert errors.follow() == ProgressLine(1.0, 10.0, 0.001, 0.0005, 0.0)
    errors.finish()
    assert len(errors.progress) == 1
    assert errors.lines() == ["pgbench: setting random seed to 10", "progress: 2.0 s"]


def test_a_flood_of_warnings_is_cut_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "errors"
    path.write_text("".join(f"WARNING:  number {at}\n" for at in range(100_000)))
    errors = FollowedErrors(path)
    errors.finish()
    lines = errors.lines()
    assert len(lines) == 401
    assert lines[0] == "WARNING:  number 0"
    assert lines[200] == "[99600 lines left out]"
    assert lines[-1] == "WARNING:  number 99999"
