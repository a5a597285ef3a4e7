"""The noise of a machine: from a null campaign to its cache, the plan and later reports."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from teiten.analysis.verdict.noise import false_alarm_rate, noise, recorded_noise, robust_deviation
from teiten.cli.text.noise import needed_text, noise_lines
from teiten.host.facts.kept import keep_noise, known_noise, noise_key
from teiten.model.noise import NOISE, NoiseFloor
from teiten.model.trial import Attempt, Event, Outcome
from teiten.model.units import Seconds, Share
from tests.fixtures.synthetic_plan import HOST, make_plan

PLAN = make_plan(80, clients=("4",))  # 20 blocks
FLOOR = NoiseFloor(
    "k" * 24, "null-1", 1.8e9, "read", 4, Seconds(10.0), "18.4", 20, 0.02, 0.018, 0.05,
    Share(0.02), Share(0.05),
)  # fmt: skip


def attempts(deviation: float, blocks: int = 20, bias: float = 0.0) -> list[Attempt]:
    random = np.random.default_rng(5)
    d = random.normal(0.0, deviation, 21) + bias
    return [
        Attempt(
            trial.number,
            1,
            Outcome.COUNTED,
            {"tps": 1000.0 * float(np.exp(d[trial.block] * (trial.cell.level("server") == "18")))},
        )
        for trial in PLAN.trials
        if trial.cell.workload == "read" and trial.block <= blocks
    ]


def test_noise_that_was_kept_by_earlier_versions_is_found() -> None:
    """The text of which a key is made, as 0.1 wrote it."""
    trial = PLAN.trials[0]
    workload = PLAN.study.workload(trial.cell.workload)
    script = workload.options.texts[0]
    identity = (
        (HOST.system, HOST.architecture, HOST.cpu.model, HOST.cpu.logical),
        (HOST.disk.device, HOST.disk.file_system),
        (script.name, script.text),
        (50, {"read": 100, "update": 80}[workload.name]),
        (4, "simple"),
    )
    expected = hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:24]
    assert noise_key(HOST, PLAN, trial) == expected


def test_the_deviation_is_that_of_the_pairs() -> None:
    (found,) = noise(PLAN, attempts(0.02))
    d = np.random.default_rng(5).normal(0.0, 0.02, 21)[1:]
    assert (found.workload, found.context, found.pairs) == ("read", (("clients", "4"),), 20)
    assert found.deviation == pytest.approx(float(np.std(d, ddof=1)))
    assert found.lag_one is not None and abs(found.lag_one) < 0.5
    assert found.false_alarms < 0.06


def test_a_side_that_is_favoured_is_seen_though_the_deviation_does_not_know_it() -> None:
    (plain,), (biased,) = (list(noise(PLAN, attempts(0.01, bias=one))) for one in (0.0, 0.02))
    assert biased.deviation == pytest.approx(plain.deviation)
    assert biased.false_alarms == plain.false_alarms, "its mean is taken off"
    assert plain.bias is not None and biased.bias is not None
    assert not plain.bias.certain and biased.bias.certain
    assert biased.bias.low < 0.02 < biased.bias.high < 0.03
    assert biased.bias.bound == biased.bias.high
    said = list(noise_lines(replace(FLOOR, bias=biased.bias)))
    assert any(line.startswith("  bias: B against A +") and "is favoured" in line for line in said)
    event = Event(1.0, NOISE, None, None, asdict(replace(FLOOR, bias=biased.bias)))
    assert recorded_noise([event])[0].bias == biased.bias


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_too_few_pairs_give_no_estimate(blocks: int) -> None:
    assert list(noise(PLAN, attempts(0.02, blocks))) == []


def test_equal_pairs_give_no_estimate() -> None:
    assert list(noise(PLAN, attempts(0.0))) == []


def test_the_robust_deviation_does_not_mind_a_pair_that_is_far_off() -> None:
    d = np.random.default_rng(1).normal(0.0, 0.01, 400).tolist()
    assert robust_deviation(d) == pytest.approx(0.01, rel=0.12)
    assert robust_deviation([*d, 5.0, -5.0, 4.0]) == pytest.approx(0.01, rel=0.12)


def test_independent_pairs_keep_the_promise_and_autocorrelated_ones_do_not() -> None:
    random = np.random.default_rng(2)
    independent = random.normal(0.0, 0.02, 60)
    walking = np.convolve(random.normal(0.0, 0.02, 100), np.ones(12), mode="valid")
    assert false_alarm_rate(independent.tolist(), 0.05) < 0.05
    assert false_alarm_rate(walking.tolist(), 0.05) > false_alarm_rate(independent.tolist(), 0.05)
    assert false_alarm_rate(walking.tolist(), 0.05) > 0.05


def test_the_rate_is_the_same_each_time() -> None:
    d = np.random.default_rng(3).normal(0.0, 0.02, 20).tolist()
    assert false_alarm_rate(d, 0.05) == false_alarm_rate(d, 0.05)


def test_a_kept_noise_floor_is_found_for_the_same_workload_on_the_same_machine(
    tmp_path: Path,
) -> None:
    key = noise_key(HOST, PLAN, PLAN.trials[0])
    floor = replace(FLOOR, key=key)
    keep_noise(tmp_path, replace(floor, pairs=3))
    keep_noise(tmp_path, floor)
    assert list(known_noise(tmp_path, HOST, PLAN)) == [floor]
    other = replace(HOST, cpu=replace(HOST.cpu, logical=64))
    assert list(known_noise(tmp_path, other, PLAN)) == []
    assert list(known_noise(tmp_path, HOST, make_plan(8, clients=("8",)))) == []
    assert list(known_noise(tmp_path / "nowhere", HOST, PLAN)) == []


def test_a_damaged_cache_is_as_good_as_none(tmp_path: Path) -> None:
    keep_noise(tmp_path, replace(FLOOR, key=noise_key(HOST, PLAN, PLAN.trials[0]))).write_text("{")
    assert list(known_noise(tmp_path, HOST, PLAN)) == []


def test_a_campaign_keeps_what_was_known_at_its_start() -> None:
    events = [
        Event(1.0, "campaign-started", None, None, {}),
        Event(1.0, NOISE, None, None, asdict(FLOOR)),
        Event(1.0, NOISE, None, None, {"key": "of another Teiten"}),
    ]
    assert recorded_noise(events) == (FLOOR,)


def test_in_words() -> None:
    lines = list(noise_lines(FLOOR))
    assert lines[0] == (
        "read, 4 clients: pairs of equal sides deviate by 2 % (1.8 % without the few that are far"
        " off), lag-1 correlation +0.05, 20 pairs"
    )
    alone, *_ = noise_lines(replace(FLOOR, clients=1))
    assert alone.startswith("read, 1 client: pairs")
    assert "from these pairs 2 % call a difference; at most 5 % is promised" in lines[1]
    assert "2%: 15 pairs (5 min of measuring), 5%: 6 pairs" in needed_text(FLOOR)
    hopeless = replace(FLOOR, deviation=50.0)
    assert "1%: no number of pairs" in needed_text(hopeless)
