"""Outcomes foretold for a second machine, by the documented rule; with invented findings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.across.prediction import Basis, SecondMachine, checked, foretold
from teiten.analysis.model.claims import ClaimNeeds, ClaimOutcome, ClaimStanding
from teiten.analysis.model.collection import CollectedCampaign, CollectionResult, Finding
from teiten.cli.collection.prediction import check_prediction, prediction_of, read_prediction
from teiten.cli.console import json_text
from teiten.errors import UsageError
from teiten.model.text import Bilingual
from teiten.model.units import GIB, Bytes, Seconds
from tests.unit.test_allotment import drawn, outcome

LIKE_THIS = SecondMachine(2, Bytes(8 * GIB))
RAN = CollectedCampaign(
    "c", "buffers", Bilingual("C", "C"), "night-c", ("18.4",), 8, Seconds(60.0), 2, Bytes(GIB)
)


def of_one_client(found: ClaimOutcome) -> ClaimOutcome:
    return replace(found, checks=tuple(replace(check, at=(1,)) for check in found.checks))


CLEAR = of_one_client(outcome(drawn(0.9, 8)))
NEAR = of_one_client(outcome(drawn(0.25, 8)))
OPEN = of_one_client(outcome(drawn(0.02, 8)))
AGAINST = of_one_client(outcome(drawn(-0.9, 8)))


def result(*outcomes: ClaimOutcome, campaign: CollectedCampaign = RAN) -> CollectionResult:
    findings = tuple(Finding(each, campaign) for each in outcomes)
    title = Bilingual("Night", "夜")
    spent = Seconds(60.0)
    return CollectionResult("night", title, 1e9, (), "teiten", spent, spent, (campaign,), findings)


def basis_of(
    finding: ClaimOutcome, machine: SecondMachine, campaign: CollectedCampaign = RAN
) -> Basis:
    (only,) = foretold(result(finding, campaign=campaign), machine)
    return only.basis


@pytest.mark.parametrize(
    ("finding", "basis"),
    [
        (CLEAR, Basis.CLEAR),
        (AGAINST, Basis.CLEAR),
        (NEAR, Basis.NEAR),
        (OPEN, Basis.UNDECIDED),
        (replace(CLEAR, standing=ClaimStanding.NOT_RUN), Basis.NOT_JUDGED),
        (replace(CLEAR, standing=ClaimStanding.NOT_APPLICABLE), Basis.NOT_JUDGED),
    ],
)
def test_what_is_decided_with_intervals_twice_as_wide_is_foretold(
    finding: ClaimOutcome, basis: Basis
) -> None:
    assert NEAR.standing is ClaimStanding.REPRODUCED and OPEN.standing is ClaimStanding.INCONCLUSIVE
    assert basis_of(finding, LIKE_THIS) is basis


def test_what_hangs_on_processors_or_memory_is_not_foretold_where_they_differ() -> None:
    fewer = SecondMachine(1, Bytes(8 * GIB))
    of_several = replace(CLEAR, checks=tuple(replace(c, at=(1, 4)) for c in CLEAR.checks))
    assert basis_of(of_several, LIKE_THIS) is Basis.CLEAR
    assert basis_of(of_several, fewer) is Basis.PROCESSORS
    assert basis_of(CLEAR, fewer) is Basis.CLEAR
    for_two = replace(CLEAR, claim=replace(CLEAR.claim, needs=ClaimNeeds(cores=2)))
    assert basis_of(for_two, fewer) is Basis.NEEDS_CORES
    assert basis_of(for_two, SecondMachine(16, Bytes(8 * GIB))) is Basis.PROCESSORS
    large = replace(RAN, memory=Bytes(9 * GIB))
    assert basis_of(CLEAR, LIKE_THIS, large) is Basis.MEMORY


def named(finding: ClaimOutcome, name: str) -> ClaimOutcome:
    return replace(finding, claim=replace(finding.claim, id=name))


def test_the_share_that_came_true_is_of_what_was_judged_there() -> None:
    names = ("a", "b", "c", "d")
    first = result(*(named(CLEAR, name) for name in names), named(NEAR, "e"))
    prediction = prediction_of(first, LIKE_THIS, 2e9)
    second = replace(
        result(
            named(CLEAR, "a"),
            named(OPEN, "b"),
            named(AGAINST, "c"),
            replace(named(CLEAR, "d"), standing=ClaimStanding.NOT_RUN),
            named(AGAINST, "e"),
        ),
        name="second",
        created_at=3e9,
    )
    told = checked(prediction, second)
    assert (told.right, told.undecided, told.opposite, told.not_judged) == (
        ("a",),
        ("b",),
        ("c",),
        ("d",),
    )
    assert told.judged == 3
    assert check_prediction(prediction, first, second) == told


def test_a_prediction_of_another_state_or_made_too_late_is_refused(tmp_path: Path) -> None:
    first = result(named(CLEAR, "a"))
    second = replace(first, name="second", created_at=3e9)
    path = tmp_path / "prediction.json"
    path.write_text(json_text(prediction_of(first, LIKE_THIS, 2e9)))
    read = read_prediction(path)
    assert read == prediction_of(first, LIKE_THIS, 2e9)
    with pytest.raises(UsageError, match="not made from night as it stands"):
        check_prediction(read, replace(first, spent=Seconds(90.0)), second)
    with pytest.raises(UsageError, match="had begun"):
        check_prediction(replace(read, made_at=3e9), first, second)
    path.write_text("{}")
    with pytest.raises(UsageError, match="is no prediction"):
        read_prediction(path)
