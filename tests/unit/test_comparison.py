"""Two campaigns compared: by level, over all levels, and the findings about two systems."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from teiten.analysis.across.comparison import compare
from teiten.analysis.model.claims import ClaimStanding
from teiten.analysis.model.comparison import Comparison
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.claims.catalogue import claims_of
from teiten.model.plan import Plan, PlannedTrial
from teiten.report.comparison.sides import Pair
from teiten.report.forms import comparison_html, comparison_markdown
from tests.fixtures.synthetic_plan import HOST
from tests.fixtures.two_machines import OTHER, Speed, campaign, plan_of, times, usual
from tests.fixtures.undrawn import drawn
from tests.unit.test_attached import server

WINDOWS = replace(HOST, system="Windows", distribution="Windows Server 2019")


def read_tps(comparison: Comparison) -> list[VerdictKind]:
    return [
        result.overall.kind
        for result in comparison.results
        if (result.workload, result.metric.name) == ("read", "tps")
    ]


def test_a_slower_machine_is_found_slower_on_every_server() -> None:
    found = compare(campaign("a"), campaign("b", facts=OTHER, speed=times(0.8), seed=2))
    assert read_tps(found) == [VerdictKind.SLOWER, VerdictKind.SLOWER]
    one = found.results[0]
    assert one.overall.effect is not None
    assert one.overall.effect.low < 0.8 < one.overall.effect.high
    assert one.overall.at_least_delta
    assert one.blocks == (5, 5)
    assert [level.context for level in one.levels] == [(("clients", "1"),), (("clients", "4"),)]
    assert [level.verdict.effect.confidence for level in one.levels if level.verdict.effect] == [
        1 - 0.05 / 4 / 2,
        1 - 0.05 / 4 / 2,
    ], "four statements, of two levels each"
    latency = next(each for each in found.results if each.metric.name == "latency_mean")
    assert latency.overall.kind is VerdictKind.UNJUDGED


def test_servers_that_run_elsewhere_are_not_said_to_be_on_one_machine() -> None:
    """The facts are those of the machine that loads them."""
    plan = plan_of()
    attached = [
        (level, replace(installation, attached=server())) for level, installation in plan.servers
    ]
    elsewhere = replace(plan, servers=tuple(attached))
    assert compare(campaign("a"), campaign("b")).same_machine
    assert not compare(campaign("a", plan=elsewhere), campaign("b", plan=elsewhere)).same_machine


def test_one_block_gives_no_interval() -> None:
    found = compare(campaign("a"), campaign("b", plan=plan_of(blocks=1), speed=times(0.5)))
    assert set(read_tps(found)) == {VerdictKind.INCONCLUSIVE}
    assert {result.overall.reason for result in found.results} == {"too-few-trials"}
    said = Pair(found, "en").sentence(found.results[0])
    assert "one trial has no spread" in said


def test_blocks_that_lack_a_level_do_not_enter_the_mean_over_levels() -> None:
    a = campaign("a")
    dropped = [trial for trial in a.trials if not (trial.block == 2 and trial.workload == "read")]
    b = replace(campaign("b", seed=3), trials=tuple(dropped))
    found = compare(a, b)
    assert next(result.blocks for result in found.results if result.workload == "read") == (5, 4)


def test_the_unit_over_all_levels_is_the_block() -> None:
    """Noise that a block's levels share must not be averaged away."""

    def together(factors: list[float]) -> CampaignAnalysis:
        plan = plan_of()
        blocks = {trial.number: trial.block for trial in plan.trials}

        def speed(planned: PlannedTrial) -> float:
            return usual(planned) * factors[blocks[planned.number] - 1]

        return campaign("x", plan=plan, speed=speed, noise=0.001)

    a, b = together([1, 1.2, 0.8, 1.1, 0.9]), together([1.05, 1.25, 0.85, 1.15, 0.95])
    result = compare(a, replace(b, name="y")).results[0]
    assert result.overall.kind is VerdictKind.INCONCLUSIVE
    effect, level = result.overall.effect, result.levels[0].verdict.effect
    assert effect is not None and level is not None
    width = math.log(effect.high / effect.low)
    assert width == pytest.approx(math.log(level.high / level.low) * 2.31 / 2.75, rel=0.1)


def os_plan() -> Plan:
    plan = plan_of(clients=("1", "2", "4"))
    known = {
        "read": "read",
        "update": "update",
    }
    study = replace(plan.study, name="operating-systems")
    assert {workload.name for workload in study.workloads} == set(known)
    return replace(plan, study=study)


def windows_and_linux(linux: Speed) -> Comparison:
    return compare(
        campaign("win", plan=os_plan(), facts=WINDOWS),
        campaign("lin", plan=os_plan(), speed=linux, seed=2),
        claims=claims_of("operating-systems"),
    )


def test_findings_about_two_systems_are_checked() -> None:
    found = {claim.claim.id: claim for claim in windows_and_linux(times(1.3)).claims}
    assert found["2020-os-read-linux-from-24"].standing is ClaimStanding.REPRODUCED
    assert found["2020-os-update-linux-from-64"].standing is ClaimStanding.REPRODUCED
    deciding = found["2020-os-update-linux-from-64"].deciding
    assert deciding is not None
    assert deciding.sides == ("Windows", "Linux") and deciding.pairs == 5
    assert found["2020-os-update-cpu"].standing is ClaimStanding.INCONCLUSIVE  # exactly equal
    slower = {claim.claim.id: claim for claim in windows_and_linux(times(0.7)).claims}
    assert slower["2020-os-read-linux-from-24"].standing is ClaimStanding.CONTRADICTED


def test_the_order_of_the_campaigns_does_not_matter_to_findings() -> None:
    one = windows_and_linux(times(1.3))
    turned = compare(one.b, one.a, claims=claims_of("operating-systems"))
    assert [each.standing for each in turned.claims] == [each.standing for each in one.claims]


def test_findings_need_two_systems_on_one_hardware() -> None:
    plan = os_plan()
    same = compare(
        campaign("a", plan=plan), campaign("b", plan=plan), claims=claims_of("operating-systems")
    )
    assert {claim.reason.code for claim in same.claims if claim.reason} == {"systems"}
    other = replace(WINDOWS, cpu=OTHER.cpu)
    apart = compare(
        campaign("a", plan=plan),
        campaign("b", plan=plan, facts=other),
        claims=claims_of("operating-systems"),
    )
    assert {claim.reason.code for claim in apart.claims if claim.reason} == {"hardware"}


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_report_has_all_parts_and_escapes_names(language: str) -> None:
    nasty = "<script>alert(1)</script>"
    comparison = windows_and_linux(times(1.3))
    comparison = replace(comparison, a=replace(comparison.a, name=nasty))
    html = comparison_html(comparison, "ja" if language == "ja" else "en")
    assert nasty not in html
    for part in ("answer", "asked", "results", "findings", "evidence"):
        assert f'id="{part}"' in html
    files = comparison_markdown(comparison, "ja" if language == "ja" else "en")
    text = files["report.md"].decode()
    assert "Windows Server 2019" in text and "comparison.csv" in text
    assert any(name.endswith(".svg") for name in files)


def test_its_charts_can_be_drawn() -> None:
    with drawn():
        files = comparison_markdown(windows_and_linux(times(1.3)), "ja")
    charts = [data for name, data in files.items() if name.endswith(".svg")]
    assert charts and all(len(chart) > 1000 and chart.startswith(b"<svg") for chart in charts)
