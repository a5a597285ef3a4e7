"""A collection says on which versions a finding does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.across.collection import standings_by_server
from teiten.analysis.claims.outcomes import standing_of
from teiten.analysis.model.claims import Check, ClaimContrast, ClaimOutcome, ClaimStanding
from teiten.model.study import SERVER
from teiten.model.text import Language
from teiten.report.collection import collection_page
from teiten.report.render.markdown import markdown_text
from tests.fixtures.synthetic_plan import make_plan
from tests.unit.test_allotment import drawn, outcome
from tests.unit.test_prediction import result

SERVERS = ("12", "13", "14")
SEVERAL = make_plan(18, servers=SERVERS)
HOLDS, FAILS = (outcome(drawn(mean, 8)).checks[0] for mean in (0.9, -0.9))


def of_report(*checks: Check, contrast: ClaimContrast | None = None) -> ClaimOutcome:
    standing, reason = standing_of(checks)
    claim = replace(outcome(drawn(0.9, 8)).claim, contrast=contrast)
    return ClaimOutcome(claim, standing, reason, checks, checks[-1])


@pytest.mark.parametrize("as_a_curve", [False, True])
def test_a_finding_that_was_asked_on_each_server_has_an_outcome_on_each(as_a_curve: bool) -> None:
    def on(check: Check, server: str) -> Check:
        return replace(check, sides=(server,)) if as_a_curve else replace(check, server=server)

    standings = standings_by_server(of_report(on(HOLDS, "13"), on(FAILS, "14")), SEVERAL)
    assert dict(standings) == {
        ("13.4",): ClaimStanding.REPRODUCED,
        ("14.4",): ClaimStanding.CONTRADICTED,
    }


def test_a_finding_about_two_servers_is_of_these_and_of_no_others() -> None:
    both = replace(FAILS, sides=("12", "14"))
    of_servers = of_report(both, contrast=ClaimContrast(SERVER, "12", "14"))
    assert dict(standings_by_server(of_servers, SEVERAL)) == {
        ("12.4", "14.4"): ClaimStanding.CONTRADICTED
    }
    of_clients = of_report(both, contrast=ClaimContrast("clients", "12", "14"))
    assert not dict(standings_by_server(of_clients, SEVERAL)), "on which, nobody knows"
    alone = make_plan(6, servers=("13",))
    assert dict(standings_by_server(of_clients, alone)) == {("13.4",): ClaimStanding.CONTRADICTED}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_does_not_hold_stands_on_a_page_of_its_own(language: Language) -> None:
    outcome_of_both = of_report(replace(HOLDS, server="13"), replace(FAILS, server="14"))
    by_server = tuple(standings_by_server(outcome_of_both, SEVERAL))
    several = result(outcome_of_both)
    finding = replace(several.findings[0], by_server=by_server)
    page = markdown_text(collection_page(replace(several, findings=(finding,)), language), "0.1")
    rows = [line for line in page.splitlines() if line.endswith("| 14.4 | 13.4 |")]
    assert len(rows) == 1
    holding = collection_page(result(of_report(HOLDS)), language)
    assert all(section.name != "changed" for section in holding.sections)
