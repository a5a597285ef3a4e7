"""A collection says on which versions a finding does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.across.collection import standings_by_server
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import Check, ClaimOutcome, ClaimStanding
from teiten.analysis.model.collection import Finding
from teiten.model.text import Language
from teiten.report.collection import collection_page
from teiten.report.render.markdown import markdown_text
from tests.fixtures.synthetic_plan import make_plan
from tests.unit.test_allotment import drawn, outcome
from tests.unit.test_prediction import RAN, result

TWO = replace(RAN, servers=("13.4", "14.4"), plan=make_plan(12, servers=("13", "14")))
HOLDS, FAILS = (outcome(drawn(mean, 8)).checks[0] for mean in (0.9, -0.9))


def of_report(*checks: Check) -> ClaimOutcome:
    made = replace(outcome(drawn(0.9, 8)), checks=checks)
    standing, reason = standing_of(made.checks)
    return replace(made, standing=standing, reason=reason)


@pytest.mark.parametrize("as_a_curve", [False, True])
def test_a_finding_that_was_asked_on_each_server_has_an_outcome_on_each(as_a_curve: bool) -> None:
    def on(check: Check, server: str) -> Check:
        return replace(check, sides=(server,)) if as_a_curve else replace(check, server=server)

    standings = standings_by_server(Finding(of_report(on(HOLDS, "13"), on(FAILS, "14")), TWO))
    assert dict(standings) == {
        "13.4": ClaimStanding.REPRODUCED,
        "14.4": ClaimStanding.CONTRADICTED,
    }


def test_a_finding_about_both_servers_has_one_outcome() -> None:
    both = replace(FAILS, sides=("13", "14"))
    found = dict(standings_by_server(Finding(of_report(both), TWO)))
    assert found == {"13.4, 14.4": ClaimStanding.CONTRADICTED}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_does_not_hold_stands_on_a_page_of_its_own(language: Language) -> None:
    checks = (replace(HOLDS, server="13"), replace(FAILS, server="14"))
    page = markdown_text(collection_page(result(of_report(*checks), campaign=TWO), language), "0.1")
    rows = [line for line in page.splitlines() if line.endswith("| 14.4 | 13.4 |")]
    assert len(rows) == 1
    holding = collection_page(result(of_report(HOLDS), campaign=TWO), language)
    assert all(section.name != "changed" for section in holding.sections)
