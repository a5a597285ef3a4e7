"""From a campaign's trials to readings, and from findings to the report's words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from teiten.analysis.model.findings import CampaignAnalysis, SeriesView, TrialView
from teiten.analysis.scaling.bottleneck import judge, read
from teiten.kinds.pgbench.analyse import bottlenecks
from teiten.kinds.pgbench.model import NAME as KIND
from teiten.kinds.pgbench.present.scaling import limits
from teiten.kinds.pgbench.results import pgbench_found
from teiten.model.bottleneck import Abstained, Abstention, BottleneckResult, Consistent, Resource
from teiten.model.text import Language
from teiten.report.view.kit import Kit
from tests.fixtures.invented_analysis import NEW, OLD, invented_analysis
from tests.fixtures.invented_readings import CALM, CEILINGS, LIMITED
from tests.fixtures.shown import Shown


@pytest.fixture(scope="module")
def invented() -> CampaignAnalysis:
    return invented_analysis(seconds=3)


def of(analysis: CampaignAnalysis, workload: str) -> list[TrialView]:
    wanted = {("server", NEW), ("clients", "16")}
    return [
        trial
        for trial in analysis.trials
        if trial.workload == workload and wanted <= {*trial.levels}
    ]


def test_readings_are_in_base_units(invented: CampaignAnalysis) -> None:
    trials = of(invented, "update")
    threads = {trial.number: 8 for trial in trials}
    found = read(trials, trials, trials, clients=4.0, plateau=True, cores=2, threads=threads)
    busy = [2 * (t.metrics["cpu_user_share"] + t.metrics["cpu_system_share"]) for t in trials]
    assert found.cpu_cores == pytest.approx(np.mean(busy))
    written = [t.metrics["disk_written_bytes"] / 30 for t in trials]
    assert found.written == pytest.approx(np.mean(written))
    generator = [2 * t.metrics["pgbench_cpu_share"] / 8 for t in trials]
    assert found.generator == pytest.approx(np.mean(generator))
    assert found.waits["IO:WalSync"] == pytest.approx(16 * 0.3)
    assert (found.reads, found.fsyncs, found.pressure_io) == (None, None, None)


def test_what_was_not_seen_is_none_and_gaps_are_left_out(invented: CampaignAnalysis) -> None:
    trial = replace(
        of(invented, "read")[0],
        metrics={"measured_seconds": 0.0, "disk_written_bytes": 9.0},
        series=(
            SeriesView("waits", np.arange(2.0), {"CPU": np.array([math.nan, 3.0])}, 1),
            SeriesView("disk:a", np.arange(2.0), {"reads_per_second": np.array([5.0, 7.0])}, 1),
            SeriesView(
                "disk:b", np.arange(2.0), {"reads_per_second": np.array([1.0, math.nan])}, 1
            ),
        ),
    )
    found = read([trial], [], [], clients=4.0, plateau=True, cores=2, threads={trial.number: 1})
    assert (found.written, found.cpu_cores, found.hit_ratio, found.hit_ratio_below) == (None,) * 4
    assert found.waits == {"CPU": 3.0}
    assert found.reads == 7.0, "the sum over the disks"


def test_the_hit_ratio_is_that_of_the_second_half(invented: CampaignAnalysis) -> None:
    columns = {
        "blocks_hit_per_second": np.array([9000.0, 900.0, 100.0, 300.0]),
        "blocks_read_per_second": np.array([0.0, 50.0, 100.0, math.nan]),
    }
    series = (SeriesView("postgres", np.arange(4.0), columns, 1),)
    trial = replace(of(invented, "read")[0], metrics={"blocks_hit": 10300.0}, series=series)
    found = read(
        [trial], [trial], [], clients=4.0, plateau=True, cores=2, threads={trial.number: 1}
    )
    assert found.hit_ratio == found.hit_ratio_below == pytest.approx(2 / 3)


def with_bottlenecks(analysis: CampaignAnalysis, *found: BottleneckResult) -> CampaignAnalysis:
    of_loads = replace(pgbench_found(analysis), bottlenecks=found)
    return replace(analysis, results={**analysis.results, KIND: of_loads})


def test_without_ceilings_there_are_no_findings(invented: CampaignAnalysis) -> None:
    blind = replace(invented.facts, ceilings=None)
    assert bottlenecks(invented.plan, blind, invented.trials, pgbench_found(invented).scaling) == ()
    assert not list(limits(Kit(with_bottlenecks(invented), "en"), "read"))


def test_every_side_has_one_finding_at_the_greatest_load_of_its_plateau(
    invented: CampaignAnalysis,
) -> None:
    found = bottlenecks(
        invented.plan, invented.facts, invented.trials, pgbench_found(invented).scaling
    )
    said = {
        (one.workload, one.side): one.finding.resource
        if isinstance(one.finding, Consistent)
        else one.finding.reason
        for one in found
    }
    assert said == {
        ("read", OLD): Resource.CPU,
        ("read", NEW): Resource.CPU,
        ("update", OLD): Abstention.NO_PLATEAU,
        ("update", NEW): Abstention.NO_PLATEAU,
    }
    for one, result in zip(pgbench_found(invented).scaling, found, strict=True):
        greatest = max(point.value for point in one.scaling.points)
        beyond = [point for point in one.scaling.points if point.load >= result.load]
        assert beyond[0].value >= 0.9 * greatest
        assert all(point.value < 0.9 * greatest for point in beyond[1:])


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_finding_has_words_and_every_number_its_unit(
    invented: CampaignAnalysis, language: Language
) -> None:
    findings = [judge(one, CEILINGS) for one in LIMITED.values()]
    findings += [Abstained(reason, ()) for reason in Abstention]
    findings += [
        judge(replace(CALM, waits={"CPU": 1.0, "Lock:tuple": 1.0}), CEILINGS),
        judge(replace(CALM, waits={"Timeout:VacuumDelay": 1.0}), CEILINGS),
        judge(replace(LIMITED[Resource.READ], reads=None), CEILINGS),
        judge(replace(LIMITED[Resource.COMMIT_LATENCY], fsyncs=None), CEILINGS),
    ]
    results = tuple(BottleneckResult("read", (), OLD, 16.0, finding) for finding in findings)
    found = Shown(limits(Kit(with_bottlenecks(invented, *results), language), "read"))
    assert len(found.findings) == len(findings)
    assert not any("{" in finding for finding in found.findings)
    assert len(set(found.findings)) == len(findings)


def test_the_sentence_holds_reading_and_ceiling(invented: CampaignAnalysis) -> None:
    finding = judge(LIMITED[Resource.COMMIT_LATENCY], CEILINGS)
    result = BottleneckResult("read", (("query_mode", "prepared"),), NEW, 64.0, finding)
    found = Shown(limits(Kit(with_bottlenecks(invented, result), "en"), "read"))
    assert found.findings == (
        "PostgreSQL 18.4, 64\u00a0clients, query mode = prepared: consistent with a limit by the"
        " latency of fsync at commit (WAL made durable 950/s, ceiling of durable 8 kB writes"
        " 1,000/s, waiting for WAL to be durable 97\u00a0%, written 19.1 MiB/s,"
        " write ceiling 191 MiB/s).",
    )
