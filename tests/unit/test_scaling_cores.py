"""Throughput by cores, from invented trials to the report's words."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from teiten.analysis.model.claims import ClaimStanding
from teiten.analysis.model.findings import CampaignAnalysis
from teiten.claims.catalogue import claims_of
from teiten.kinds.pgbench.present.scaling import scaling
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.text import Language
from teiten.report.forms import render_html
from teiten.report.view.kit import Kit
from teiten.report.view.variants import variant_rows
from tests.fixtures.analysed import analysed, counted
from tests.fixtures.shown import Shown
from tests.unit.test_pinning import cpus, host, planned


@cache
def campaign(efficiency: float = 0.95) -> CampaignAnalysis:
    """Eight processors: the server on 1 to 6, each doubling keeps a share of the efficiency."""
    facts = host(cpus(1, 8))
    plan = planned(facts, "blocks=4", "conclusive=yes")
    random = np.random.default_rng(3)
    trials = []
    for trial in plan.trials:
        cores = int(trial.cell.level("cores") or 0)
        tps = 400 * cores * efficiency ** math.log2(cores) * math.exp(random.normal(0, 0.003))
        pinned = {"server": list(trial.server_cpus), "pgbench": list(trial.client_cpus)}
        trials.append(counted(trial.number, {"tps": tps}, facts={"pinned": pinned}))
    return analysed(plan, trials, "cores", facts=facts, claims=claims_of("cores"))


def test_the_load_is_the_cores_and_the_side_the_server() -> None:
    (found,) = pgbench_found(campaign()).scaling
    assert (found.load, found.side, found.workload) == ("cores", "18", "read")
    assert [point.load for point in found.scaling.points] == [1, 2, 4, 6]
    shares = [point.per_load for point in found.scaling.points]
    assert shares == pytest.approx([1, 0.95, 0.95**2, 0.95 ** math.log2(6)], abs=0.02)
    assert all(point.per_core is None for point in found.scaling.points)
    assert pgbench_found(campaign()).bottlenecks == ()


def test_the_published_finding_is_checked_on_the_measured_cores() -> None:
    (outcome,) = campaign().claims
    assert outcome.standing is ClaimStanding.REPRODUCED
    assert outcome.in_print is not None and outcome.in_print.ratio == pytest.approx(0.682, abs=1e-3)
    (outcome,) = campaign(0.6).claims
    assert outcome.standing is ClaimStanding.CONTRADICTED


def test_the_words_speak_of_cores() -> None:
    part = Shown(scaling(Kit(campaign(), "en"), "w", "read"))
    growth, knee, *_ = part.findings
    assert growth.startswith(
        "PostgreSQL 18.4: from 1\u00a0core to 6\u00a0cores, throughput grew to 5.2"
    )
    assert "the knee is at 6\u00a0cores, the smallest number of cores within" in knee
    assert [column.title for column in part.tables[0].columns][-2:] == [
        "per core",
        "distance from the law",
    ]


def test_the_evidence_names_the_processors() -> None:
    ((what, text),) = variant_rows(Kit(campaign(), "en"))
    assert what == "Pinned processors"
    assert "1\u00a0core: server 0, pgbench 6-7" in text
    assert "6\u00a0cores: server 0-5, pgbench 6-7" in text


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ("PostgreSQL on 6\u00a0cores", "Scaling with cores", "Published and measured TPS")),
        ("ja", ("6コア使用時", "CPUコア数に対するスケーラビリティ", "1コアあたりのTPS")),
    ],
)
def test_the_report_reads_in_both_languages(language: Language, said: tuple[str, ...]) -> None:
    page = render_html(campaign(), language)
    assert all(text in page for text in said)
    two = replace(campaign(), results={})
    assert said[1] not in render_html(two, language)
