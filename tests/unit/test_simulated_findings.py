"""The simulation of collections counts what is wrong, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import findings as simulation

from teiten.analysis.model.claims import ClaimStanding
from teiten.model.trial import Attempt
from teiten.model.units import Share
from tests.unit.test_prediction import CLEAR


@pytest.mark.parametrize(
    ("ratio", "margin", "within", "outside"),
    [
        (1.2, 0.0, True, False),
        (0.9, 0.0, False, True),
        (1.0, 0.0, False, False),
        (1.0, 0.02, False, True),
        (1.01, 0.02, True, True),
        (1.03, 0.02, True, False),
    ],
)
def test_a_ratio_on_a_bound_is_neither_within_nor_outside(
    ratio: float, margin: float, within: bool, outside: bool
) -> None:
    checks = tuple(
        replace(check, ratio=ratio, least=1.0, most=None, margin=Share(margin))
        for check in CLEAR.checks
    )
    true = replace(CLEAR, checks=checks)
    assert (simulation._within(true), simulation._outside(true)) == (within, outside)


@pytest.mark.same
def test_a_collection_that_calls_everything_reproduced_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaigns = {"observe": simulation.campaigns(simulation.AT_EVERY_LOOK)["observe"]}

    def all_reproduced(known: object, drawn: dict[str, dict[int, Attempt]], _: float) -> object:
        outcomes = simulation.judged(campaigns["observe"], drawn["observe"], {})
        changed = (replace(each, standing=ClaimStanding.REPRODUCED) for each in outcomes)
        return {"observe": tuple(changed)}

    tally = simulation.Tally()
    simulation.count(tally, campaigns, "equal", "even", np.random.default_rng(1))
    assert tally.judged > 5 and not tally.reproduced
    monkeypatch.setattr(simulation, "carried_out", all_reproduced)
    wrong = simulation.Tally()
    simulation.count(wrong, campaigns, "equal", "even", np.random.default_rng(1))
    assert wrong.reproduced > 0 and wrong.with_any == 1
