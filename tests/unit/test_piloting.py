"""How long the trials of ``teiten ab`` are: as the noise here makes worthwhile, or as was asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from teiten.analysis.model.replication import NoiseSource, Replication
from teiten.analysis.verdict.replication import (
    LONGEST,
    SHORTEST,
    Components,
    choose_length,
    pilot_components,
)
from teiten.cli.campaign import pilot as piloting
from teiten.cli.campaign.pilot import plan_worthwhile
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned
from teiten.cli.plan.two_sides import SharedOptions
from teiten.cli.text.noise import replication_lines
from teiten.host.system.paths import Workdir
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.model.trial import Trial
from teiten.model.units import Seconds
from teiten.study.sides import ab_study
from teiten.ways.registry import way_of
from tests.fixtures.analysed import counted
from tests.fixtures.pairs import side
from tests.fixtures.planned import expanded
from tests.fixtures.synthetic_plan import HOST
from tests.unit.test_noise import FLOOR


def chosen(
    between: float, within: float, seconds: float = 1800.0, **given: int
) -> tuple[float, int]:
    parts = Components(between, within, Seconds(4.0))
    found = choose_length(parts, effect=0.02, alpha=0.05, seconds=Seconds(seconds), **given)
    return found.duration, found.pairs_of_a_start


def test_a_quiet_machine_needs_no_long_trials() -> None:
    assert chosen(0.0, 0.001) == (SHORTEST, 1)


def test_where_starts_differ_most_further_starts_pay_and_not_longer_trials() -> None:
    assert chosen(0.02, 0.02)[0] < chosen(0.005, 0.05)[0]


def test_where_noise_is_great_the_length_is_that_of_kalibera_and_jones() -> None:
    parts = Components(0.02, 0.2, Seconds(4.0))
    best = parts.best_duration
    assert best is not None
    duration, shared = chosen(0.02, 0.2, 1e6)
    assert shared == 1 and 0.5 * best < duration < 1.5 * best


def test_what_is_longer_than_a_trial_may_be_is_several_pairs_of_one_start() -> None:
    duration, shared = chosen(0.0, 0.5, 1e6)
    assert duration <= LONGEST and shared > 1
    assert chosen(0.0, 0.5, 1e6, longest=LONGEST) == (LONGEST, 1)


@pytest.mark.parametrize("seconds", [30.0, 100.0, 400.0, 2000.0])
def test_as_many_pairs_as_an_interval_needs_fit_into_the_budget(seconds: float) -> None:
    duration, shared = chosen(0.0, 0.5, seconds)
    assert duration == SHORTEST or 4 * 2 * shared * duration < seconds


def test_the_parts_of_the_variance_are_found_again() -> None:
    random = np.random.default_rng(7)
    starts = [(random.normal(0, 0.03) + random.normal(0, 0.05, 8)).tolist() for _ in range(3000)]
    parts = pilot_components(starts, Seconds(2.0), Seconds(4.0))
    assert parts is not None
    assert parts.between * 2**0.5 == pytest.approx(0.03, rel=0.1)
    assert parts.within * 2**0.5 == pytest.approx(0.05 * 2**0.5, rel=0.05)


@pytest.mark.parametrize(
    "starts", [[], [[0.1, 0.2]], [[0.1], [0.2]], [[0.1, 0.1], [0.1, 0.1]]], ids=str
)
def test_too_little_gives_no_parts(starts: list[list[float]]) -> None:
    assert pilot_components(starts, Seconds(1.0), Seconds(4.0)) is None


Plans = Callable[..., Planned]


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Plans:
    """Plans two sides on the invented machine, on which such noise was measured, or is seen."""

    def plan(floor: NoiseFloor | None, spread: float | None = None, **shared: object) -> Planned:
        def plan_study(_session: Session, study: Study, *, seed: int | None) -> Planned:
            made = expanded(study, ("17.4", "18.4"), seed=seed or 1)
            return Planned(made, HOST, (), noise=(floor,) if floor else ())

        def carry_out(_session: Session, planned: Planned) -> list[Trial]:
            assert spread is not None, "no pilot was to be run"
            return piloted(planned.plan, spread)

        monkeypatch.setattr(piloting, "plan_study", plan_study)
        monkeypatch.setattr(piloting, "_carry_out", carry_out)
        session = Session(Workdir(Path("/nowhere")), Console(Verbosity.QUIET, "never"))
        given = SharedOptions(**{"clients": "2", **shared})  # type: ignore[arg-type]
        study = ab_study(side("a", "17"), side("b", "18"), given)
        return plan_worthwhile(session, study, seed=5, fixed=given.fixes_slices)

    return plan


def piloted(plan: Plan, spread: float) -> list[Trial]:
    """A pilot whose slices scatter by a share."""
    random = np.random.default_rng(3)
    return [
        counted(
            trial.number,
            {"latency_mean": 0.001},
            started_at=0.0,
            finished_at=30.0,
            facts={
                "slices": [
                    {"tps": 1000.0 * float(np.exp(random.normal(0, spread)))}
                    for _ in range(plan.study.measure.slices)
                ]
            },
        )
        for trial in plan.trials
    ]


def test_a_pilot_chooses_slices_and_leaves_the_rest_of_the_budget(plans: Plans) -> None:
    found = plans(None, 0.03)
    measure, replication = found.plan.study.measure, found.replication
    assert replication is not None and replication.source is NoiseSource.PILOT
    assert (measure.duration, measure.slices) == (replication.duration, replication.slices)
    assert measure.slice_duration == 1.0 and measure.slices >= 5
    assert measure.sequential is not None and measure.sequential.budget is not None
    assert measure.sequential.budget <= 1800
    assert found.plan.seed == 5
    assert replication.starts == 5 and replication.seen == 8
    said = " ".join(replication_lines(replication))
    assert "the pilot (5 starts of both servers, 8 slices after each)" in said


def test_data_that_change_are_not_cut_into_slices(plans: Plans) -> None:
    found = plans(None, 0.03, script="update")
    assert found.replication is not None and found.replication.slices == 1
    assert not way_of(found.plan.study.measure).side_by_side


def test_the_data_are_those_of_the_pilot(plans: Plans) -> None:
    seen = plans(None, 0.3).plan.study.workloads
    assert seen == plans(None, 0.003).plan.study.workloads


def test_slices_are_as_long_as_slow_transactions_need(
    plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = piloted

    def slow(plan: Plan, spread: float) -> list[Trial]:
        return [replace(one, metrics={"latency_mean": 0.14}) for one in quick(plan, spread)]

    monkeypatch.setattr(f"{__name__}.piloted", slow)
    measure = plans(None, 0.3).plan.study.measure
    assert measure.slice_duration == 3.0


def floor_with(between: float | None, within: float | None) -> NoiseFloor:
    return replace(FLOOR, between=between, within=within)


def test_what_the_null_campaign_has_measured_takes_the_pilots_place(plans: Plans) -> None:
    found = plans(floor_with(0.004, 0.03))
    assert found.replication is not None
    assert found.replication.source is NoiseSource.NULL
    assert found.replication.campaign == FLOOR.campaign
    assert "the null campaign null-1" in " ".join(replication_lines(found.replication))


def test_a_floor_without_its_parts_does_not(plans: Plans) -> None:
    found = plans(floor_with(None, None), 0.03)
    assert found.replication is not None and found.replication.source is NoiseSource.PILOT


@pytest.mark.parametrize(
    "given",
    [{"duration": "30s"}, {"slices": 4}, {"slices": 1}, {"overrides": ("restart_every=3",)}],
    ids=str,
)
def test_what_is_asked_for_is_done(plans: Plans, given: dict[str, object]) -> None:
    assert plans(None, **given).replication is None


def test_no_pilot_where_it_would_take_too_much_of_the_budget(plans: Plans) -> None:
    assert plans(None, budget="2m", overrides=("scale=1",)).replication is None


def test_too_few_valid_pairs_leave_the_usual_length(
    plans: Plans, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.piloted", lambda _plan, _spread: [])
    found = plans(None, 0.03)
    assert found.replication is None
    assert not way_of(found.plan.study.measure).side_by_side


def test_the_command_line_repeats_what_was_chosen() -> None:
    chosen = Replication(NoiseSource.PILOT, 0.01, 0.02, Seconds(4.0), Seconds(8.0), 8, 3, 12)
    words = SharedOptions(budget="1h").with_chosen(chosen).as_arguments()
    assert words == [
        "--duration", "8s", "--slices", "8", "--budget", "1h", "--set", "restart_every=3"
    ]  # fmt: skip
    assert SharedOptions().with_chosen(None) == SharedOptions()
    assert asdict(chosen)["source"] == "pilot"
