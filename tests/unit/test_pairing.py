"""The options of ``ab`` and ``null``, and trials no longer than pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from teiten.cli import pairing
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session, main
from teiten.cli.pairing import SharedOptions, plan_pairs
from teiten.cli.planning import Planned
from teiten.host.paths import Workdir
from teiten.model.noise import NoiseFloor
from teiten.model.study import Study
from teiten.model.units import Seconds
from teiten.plan.expand import expand
from teiten.plan.sizing import size
from teiten.study.sides import Shared, ab_study
from tests.fixtures.pairs import side
from tests.fixtures.planned import PGBENCH, fingerprint
from tests.fixtures.synthetic_plan import HOST, make_installation
from tests.unit.test_noise import FLOOR


def test_the_options_as_a_command_line_that_repeats_them() -> None:
    shared = Shared(
        "q.sql", "4", "5s", "1h", 9, "1%", "5%", ("scale=3",), ("work_mem=1MB", "jit=off")
    )
    assert SharedOptions(shared).as_arguments() == [
        "--script", "q.sql", "--clients", "4", "--duration", "5s", "--budget", "1h",
        "--pairs", "9", "--delta", "1%", "--alpha", "5%", "--set", "scale=3",
        "--guc", "work_mem=1MB", "--guc", "jit=off",
    ]  # fmt: skip
    assert SharedOptions().as_arguments() == []


Plans = Callable[[NoiseFloor | None, Shared], Planned]


@pytest.fixture
def planned_with(monkeypatch: pytest.MonkeyPatch) -> Plans:
    """Plans two sides on the invented machine, on which such noise was measured."""

    def plan(floor: NoiseFloor | None, shared: Shared) -> Planned:
        def plan_study(_session: Session, study: Study, *, seed: int | None) -> Planned:
            servers = [(level, make_installation(f"{level}.4")) for level in ("17", "18")]
            made = expand(
                size(study, HOST), servers, PGBENCH, seed=seed or 1, fingerprint=fingerprint
            )
            return Planned(made, HOST, (), noise=(floor,) if floor else ())

        monkeypatch.setattr(pairing, "plan_study", plan_study)
        session = Session(Workdir(Path("/nowhere")), Console(Verbosity.QUIET, "never"))
        return plan_pairs(session, ab_study(side("a", "17"), side("b", "18"), shared), seed=5)

    return plan


def floor_with(best: float | None) -> NoiseFloor:
    return replace(FLOOR, best_duration=None if best is None else Seconds(best))


@pytest.mark.parametrize(
    ("floor", "seconds"),
    [
        (None, 23.0),
        (floor_with(None), 23.0),
        (floor_with(200.0), 23.0),
        (floor_with(7.2), 8.0),
        (floor_with(0.3), 5.0),
    ],
)
def test_no_trial_is_longer_than_pays(
    planned_with: Plans, floor: NoiseFloor | None, seconds: float
) -> None:
    usual = planned_with(None, Shared(clients="2")).plan
    plan = planned_with(floor, Shared(clients="2")).plan
    assert plan.study.measure.duration == seconds
    assert plan.seed == 5
    assert (plan.study.measure.blocks > usual.study.measure.blocks) == (seconds < 23)


def test_a_duration_that_is_given_stays(planned_with: Plans) -> None:
    plan = planned_with(floor_with(6.0), Shared(clients="2", duration="30s")).plan
    assert plan.study.measure.duration == 30.0


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def teiten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def run(*arguments: str) -> Said:
        with pytest.raises(SystemExit) as caught:
            main(["--workdir", str(tmp_path), *arguments])
        captured = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return Said(caught.value.code, captured.out, captured.err)

    return run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("18", "18"), "nothing makes them differ"),
        (("17",), "Missing argument 'B'"),
        (("17", "18", "--fail-on", "sloer"), "'sloer' is not one of 'slower'"),
        (("17", "18", "--pairs", "1"), "1 is not in the range"),
        (("17", "18", "--name", "last"), "--name 'last' cannot name a campaign"),
        (("17", "18", "--delta", "0%"), "--delta: must be above 0%"),
    ],
)
def test_bad_usage_ends_with_2_and_runs_nothing(
    teiten: Callable[..., Said], tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    said = teiten("ab", *words)
    assert said.code == 2
    assert message in said.err and "hint:" in said.err
    assert said.out == ""
    assert not list((tmp_path / "campaigns").glob("*"))


@pytest.mark.parametrize("verb", ["ab", "null"])
def test_each_verb_shows_two_examples(teiten: Callable[..., Said], verb: str) -> None:
    said = teiten(verb, "--help")
    assert said.code == 0
    assert "Examples:" in said.out and "--json" in said.out
    assert said.out.count(f"teiten {verb}") >= 3
