"""Two campaigns of queries compared, and the findings of 2020 §6.4."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from teiten.analysis.across.comparability import comparability
from teiten.analysis.across.comparison import compare
from teiten.analysis.model.claims import ClaimOutcome
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.claims.catalogue import claims_of
from teiten.datasets.pgbench.model import pgbench_data
from teiten.kinds.queries.model import Query, queries_of
from teiten.model.facts import HostFacts
from teiten.model.units import Seconds
from teiten.report.claim_words import check_text
from teiten.report.comparison.sides import Pair
from teiten.report.forms import comparison_html, comparison_markdown
from teiten.report.texts import texts
from tests.fixtures.invented_ssb import GUC, QUERIES, Further, Levels, Truth, ssb_campaign, ssb_plan
from tests.fixtures.synthetic_plan import HOST
from tests.unit.test_claims_queries import as_published

PLAN = ssb_plan("parallel", GUC, {GUC: ("0", "16")}, blocks=5)
WINDOWS = replace(HOST, system="Windows", distribution="Windows Server 2019")
CLAIMS = [replace(one, work=()) for one in claims_of("parallel")]


def scans(factor: float) -> Further:
    scatter = itertools.cycle((0.99, 1.0, 1.02))
    return lambda levels: {"plan_seconds:Seq Scan": factor * as_published(levels) * next(scatter)}


def linux(levels: Levels) -> float:
    return as_published(levels)


def windows(levels: Levels) -> float:
    """30 % slower but for q4.3 with workers."""
    exception = levels["query"] == "q4.3" and levels[GUC] != "0"
    return as_published(levels) * (0.9 if exception else 1.3)


def campaign(
    name: str, truth: Truth = linux, facts: HostFacts = HOST, factor: float = 1.0
) -> CampaignAnalysis:
    return ssb_campaign(name, PLAN, truth, facts=facts, further=scans(factor))


def outcomes(a: CampaignAnalysis, b: CampaignAnalysis) -> dict[str, ClaimOutcome]:
    return {claim.claim.id: claim for claim in compare(a, b, claims=CLAIMS).claims}


def test_the_time_of_each_query_is_compared() -> None:
    found = compare(campaign("w", windows, WINDOWS), campaign("l"))
    assert [result.metric.name for result in found.results] == ["query_seconds"] * 2
    assert [result.side.a for result in found.results] == ["0", "16"]
    serial = found.results[0]
    assert serial.overall.kind is VerdictKind.FASTER
    assert len(serial.levels) == len(QUERIES)
    assert serial.overall.effect is not None
    assert serial.overall.effect.low < 1 / 1.3 < serial.overall.effect.high
    assert "faster" in Pair(found, "en").sentence(serial)


def test_a_query_over_its_limit_is_left_out_of_the_mean_and_has_no_ratio() -> None:
    def slow(levels: Levels) -> float:
        over = levels["query"] == "q2.1" and levels[GUC] == "0"
        return math.inf if over else windows(levels)

    found = compare(campaign("w", slow, WINDOWS), campaign("l"))
    serial, parallel = found.results
    assert [dict(context)["query"] for context in serial.left_out] == ["q2.1"]
    assert parallel.left_out == ()
    assert serial.overall.effect is not None and serial.blocks == (5, 5)
    (level,) = [level for level in serial.levels if level.context in serial.left_out]
    assert level.verdict.reason == "over-timeout"
    html = comparison_html(found, "en")
    assert "time of the query" in html
    assert "report.md" in comparison_markdown(found, "ja")


def test_other_queries_tables_or_limits_are_obstacles() -> None:
    a = campaign("a")
    workload = a.plan.study.workloads[0]
    options = queries_of(workload)
    changed = replace(
        workload,
        options=replace(
            options,
            queries=(Query("q1.1", "SELECT 1;\n"), *options.queries[1:]),
            timeout=Seconds(30.0),
        ),
        data=pgbench_data(1),
    )
    plan = replace(a.plan, study=replace(a.plan.study, workloads=(changed,)))
    found = {(one.code, one.subject) for one in comparability(a, replace(a, name="b", plan=plan))}
    assert {("query", "q1.1"), ("data", "ssb"), ("timeout", "ssb")} <= found
    queries = tuple(replace(one, text=f"-- x\n{one.text}") for one in options.queries)
    commented = replace(workload, options=replace(options, queries=queries))
    plan = replace(a.plan, study=replace(a.plan.study, workloads=(commented,)))
    assert "query" not in {one.code for one in comparability(a, replace(a, name="b", plan=plan))}


def test_the_findings_about_two_systems() -> None:
    found = outcomes(campaign("w", windows, WINDOWS, 1.3), campaign("l"))
    assert set(found) == {
        *("2020-os-ssb-linux", "2020-os-ssb-linux-serial", "2020-os-seq-scan"),
        *("2020-os-parallel-difference", "2020-os-serial-difference"),
        *("2020-os-seq-scan-serial", "2020-os-parallel-gain-same"),
    }
    assert {one.standing.value for one in found.values()} == {"reproduced"}
    linux_faster = found["2020-os-ssb-linux"]
    assert len(linux_faster.checks) == 12
    assert linux_faster.checks[0].sides == ("Windows", "Linux")
    same = outcomes(campaign("w", linux, WINDOWS), campaign("l"))
    assert same["2020-os-serial-difference"].standing.value == "contradicted"
    assert same["2020-os-seq-scan"].standing.value == "contradicted"


@pytest.mark.parametrize(
    ("gain", "standing"), [(1.0, "reproduced"), (1.3, "contradicted"), (1.11, "inconclusive")]
)
def test_gains_of_two_systems_are_compared_as_a_ratio_of_ratios(gain: float, standing: str) -> None:
    """Linux is twice as fast throughout, which is no gain from workers."""

    def slower(levels: Levels) -> float:
        return as_published(levels) * 2 * (gain if levels[GUC] != "0" else 1.0)

    found = outcomes(campaign("w", slower, WINDOWS), campaign("l"))["2020-os-parallel-gain-same"]
    assert found.standing.value == standing
    (check,) = found.checks
    assert check.ratio == pytest.approx(gain, rel=0.02)
    assert check.sides == ("Windows", "Linux") and check.pairs == 5
    assert len(check.classes[0]) == len(QUERIES)
    text = {language: check_text(texts(language), check, str) for language in ("en", "ja")}
    assert "gain on Linux ÷ gain on Windows" in text["en"]
    assert "Linuxでの高速化率÷Windowsでの高速化率" in text["ja"]


@pytest.mark.parametrize(
    ("facts", "code"),
    [(HOST, "systems"), (replace(WINDOWS, cpu=replace(HOST.cpu, model="Other")), "hardware")],
)
def test_what_is_needed_for_them(facts: HostFacts, code: str) -> None:
    found = outcomes(campaign("w", windows, facts), campaign("l"))
    assert {one.reason.code for one in found.values() if one.reason} == {code}
