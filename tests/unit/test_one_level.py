"""One comparison has one level of confidence wherever a report tells of it, and says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.model.verdict import Verdict
from teiten.analysis.verdict.contrasts import contexts_of
from teiten.claims.catalogue import claims_of
from teiten.kinds.contract_analyse import comparison_alpha
from teiten.kinds.pgbench.scale_out import scale_outs
from teiten.kinds.probes.results import probes_found
from teiten.kinds.queries.results import queries_found
from teiten.model.text import Language
from teiten.report.effects import confidence_percent
from teiten.report.texts import texts
from teiten.report.view.report import view
from tests.fixtures.analysed import counted
from tests.fixtures.drawn import analysed, synthetic
from tests.fixtures.invented_probes import Invented as InventedProbes
from tests.fixtures.invented_probes import invented_probes
from tests.fixtures.invented_queries import invented_queries
from tests.fixtures.shown import whole
from tests.unit.test_claims import FACTS, PLAN, with_effect
from tests.unit.test_claims import attempts as of_curves
from tests.unit.test_query_results import SWEEP
from tests.unit.test_scale_out import _scattered
from tests.unit.test_scale_out_plan import planned

Key = tuple[object, ...]
Compared = tuple[Key, int, float]
"""What is compared; over how many combinations of levels it is a mean; with which confidence."""


def versions() -> CampaignAnalysis:
    trials = [
        counted(attempt.number, dict(attempt.metrics)) for attempt in of_curves(with_effect(0.96))
    ]
    return analysed("observe", PLAN, trials, facts=FACTS, claims=claims_of("observe")).analysis


def nodes() -> CampaignAnalysis:
    plan = planned()
    trials = _scattered(plan, 7, {"0": 910, "1": 889, "2": 2903, "4": 3100})
    return analysed("nodes", plan, trials).analysis


CAMPAIGNS: dict[str, Callable[[], CampaignAnalysis]] = {
    "pgbench": versions,
    "pgbench-drawn": lambda: synthetic(Random(3)).analysis,
    "scale-out": nodes,
    "queries": invented_queries,
    "queries-swept": lambda: invented_queries(SWEEP),
    "probes": lambda: invented_probes(InventedProbes(blocks=4), claims_of("buffers")),
    "probes-servers": lambda: invented_probes(InventedProbes(servers=("15", "18"), blocks=2)),
}


@cache
def campaign(name: str) -> CampaignAnalysis:
    return CAMPAIGNS[name]()


def verdicts(analysis: CampaignAnalysis) -> Iterator[Compared]:
    for one in analysis.contrasts:
        sides = (one.workload, one.old, one.new)
        if one.overall.effect is not None:
            yield (*sides, "mean"), len(one.levels), one.overall.effect.confidence
        for level in one.levels:
            if level.verdict.effect is not None:
                yield (*sides, level.context), 1, level.verdict.effect.confidence


def of_scale_out(analysis: CampaignAnalysis) -> Iterator[Compared]:
    for found in scale_outs(analysis.plan, analysis.trials, {"read", "update"}):
        for point in found.points[1:]:
            yield (found.workload, "0", str(point.nodes), found.context), 1, found.confidence


def of_queries(analysis: CampaignAnalysis) -> Iterator[Compared]:
    for one in queries_found(analysis).workloads if "queries" in analysis.results else ():
        for contrast in one.contrasts:
            for group in contrast.groups:
                queries: Key = (one.workload, contrast.old, contrast.new, group.queries)
                yield from _of(queries, len(group.queries), group.verdict)
        for sweep in one.sweeps:
            for step in sweep.steps:
                for verdict in (step.against_first, step.against_previous):
                    key = (one.workload, sweep.first, step.level, sweep.context)
                    yield from _of(key, 1, verdict)


def of_probes(analysis: CampaignAnalysis) -> Iterator[Compared]:
    if "probes" not in analysis.results:
        return
    for result in probes_found(analysis).results:
        for pair in (*result.pairs, *result.commits):
            yield from _of((result.workload, pair.old, pair.new, result.context), 1, pair.verdict)
    for one in probes_found(analysis).versions:
        yield from _of((one.workload, one.old, one.new, one.context, one.side), 1, one.verdict)


def _of(key: Key, averaged: int, verdict: Verdict | None) -> Iterator[Compared]:
    if verdict is not None and verdict.effect is not None:
        yield key, averaged, verdict.effect.confidence


def findings(analysis: CampaignAnalysis) -> Iterator[Compared]:
    """Claims' checks of the two sides that the campaign contrasts."""
    for outcome in analysis.claims:
        contrast = outcome.claim.contrast
        for check in outcome.checks:
            if check.kind.of_sides and contrast is not None and check.confidence is not None:
                averaged = max(1, len(check.at), len(check.classes[0]) if check.classes else 0)
                key = (outcome.claim.workload, *check.sides, check.at, check.classes, check.server)
                yield key, averaged, check.confidence


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_one_comparison_has_one_level(name: str) -> None:
    analysis = campaign(name)
    levels: dict[Key, set[float]] = {}
    found = [
        one
        for part in (verdicts, of_scale_out, of_queries, of_probes, findings)
        for one in part(analysis)
    ]
    assert len(found) > 3
    for key, averaged, confidence in found:
        expected = 1 - comparison_alpha(analysis.plan, str(key[0]), averaged)
        assert confidence == pytest.approx(expected, abs=1e-9), key
        levels.setdefault(key, set()).add(round(confidence, 9))
    assert all(len(one) == 1 for one in levels.values())


def test_a_finding_has_the_interval_of_the_verdict_on_the_same_level() -> None:
    analysis = campaign("pgbench")
    (one,) = (each for each in analysis.claims if each.claim.id == "2021-read-14-one-client")
    (contrast,) = (
        each for each in analysis.contrasts if each.workload == "read" and each.metric.judged
    )
    (effect,) = (
        level.verdict.effect for level in contrast.levels if ("clients", "1") in level.context
    )
    (check,) = one.checks
    assert effect is not None
    assert (check.ratio, check.low, check.high) == pytest.approx(
        (effect.ratio, effect.low, effect.high)
    )


def test_all_levels_together_have_what_one_statement_has() -> None:
    for name in ("pgbench", "queries", "scale-out"):
        plan = campaign(name).plan
        for workload in {one.cell.workload for one in plan.trials}:
            count = len(contexts_of(plan, workload))
            single = comparison_alpha(plan, workload)
            assert count * single == pytest.approx(comparison_alpha(plan, workload, count))


def test_all_pairs_of_probes_share_one_alpha() -> None:
    analysis = campaign("probes-servers")
    alpha = 0.05 / probes_found(analysis).comparisons
    for workload in {one.cell.workload for one in analysis.plan.trials}:
        assert comparison_alpha(analysis.plan, workload) == pytest.approx(alpha)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_each_printed_interval_of_a_finding_says_its_level(language: Language) -> None:
    analysis, t = campaign("pgbench"), texts(language)
    (table,) = (one for one in whole(view(analysis, language)).tables if one.name == "claims")
    told = 0
    for outcome, row in zip(
        [one for one in analysis.claims if one.standing.value != "not-applicable"],
        table.rows,
        strict=True,
    ):
        check = outcome.deciding
        if check is not None and check.confidence is not None and check.low != check.high:
            assert confidence_percent(t, check.confidence) in row[2].text
            told += 1
    assert told > 3
