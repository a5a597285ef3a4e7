"""The rules of METHOD.md, Bottlenecks: each names its resource, and abstains without its needs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from teiten.analysis.scaling.bottleneck import WaitGroup, group_of, judge, shares
from teiten.model.bottleneck import Abstained, Abstention, Consistent, Readings, Resource
from teiten.model.units import Share
from tests.fixtures.invented_readings import CALM, CEILINGS, LIMITED


def resource(readings: Readings) -> Resource | Abstention:
    found = judge(readings, CEILINGS)
    return found.resource if isinstance(found, Consistent) else found.reason


@pytest.mark.parametrize("limit", list(Resource))
def test_each_resource_is_named_when_it_is_the_limit(limit: Resource) -> None:
    assert resource(LIMITED[limit]) is limit


@pytest.mark.parametrize("limit", list(Resource))
def test_nothing_is_said_without_a_plateau_or_without_ceilings(limit: Resource) -> None:
    readings = LIMITED[limit]
    rising = judge(replace(readings, plateau=False), CEILINGS)
    assert rising == Abstained(Abstention.NO_PLATEAU, ())
    assert judge(readings, None) == Abstained(Abstention.NO_CEILINGS, ())


def test_flushes_on_their_plateau_are_named_while_group_commit_still_raises_throughput() -> None:
    rising = replace(LIMITED[Resource.COMMIT_LATENCY], plateau=False)
    assert resource(replace(rising, fsyncs_before=920)) is Resource.COMMIT_LATENCY
    for change in (
        {"fsyncs_before": 800},
        {"fsyncs_before": None},
        {"fsyncs_before": 640, "fsyncs": 650},
        {"fsyncs_before": 920, "waits": {"CPU": 9.0, "IO:WALSync": 1.0}},
    ):
        assert resource(replace(rising, **change)) is Abstention.NO_PLATEAU
    assert judge(replace(rising, fsyncs_before=920), None) == Abstained(Abstention.NO_PLATEAU, ())


@pytest.mark.parametrize("limit", [one for one in Resource if one is not Resource.CLIENT])
def test_nothing_is_said_without_waits(limit: Resource) -> None:
    for waits in ({}, {"CPU": 0.0}, {"Client:ClientRead": 8.0}):
        assert resource(replace(LIMITED[limit], waits=waits)) is Abstention.NO_WAITS


def test_a_mixture_of_waits_names_none_but_the_greatest_in_its_evidence() -> None:
    found = judge(replace(CALM, waits={"CPU": 2.0, "Lock:tuple": 2.0, "IO:WALSync": 1.0}), CEILINGS)
    assert found == Abstained(Abstention.NO_DOMINANT_WAIT, (("waits_running", 0.4),))


@pytest.mark.parametrize(
    ("limit", "change"),
    [
        (Resource.CPU, {"cpu_cores": 3.7}),
        (Resource.CPU, {"pressure_cpu": 0.3}),
        (Resource.COMMIT_LATENCY, {"fsyncs": 650.0}),
        (Resource.WRITE_BANDWIDTH, {"written": 150e6}),
        (Resource.WRITE_BANDWIDTH, {"pressure_io": 0.2}),
        (Resource.WRITE_BANDWIDTH, {"cpu_cores": 3.5}),
        (Resource.READ, {"reads": 15_000.0}),
        (Resource.READ, {"hit_ratio": 0.995, "hit_ratio_below": 0.9}),
        (Resource.LOCK, {"cpu_cores": 3.5}),
    ],
)
def test_a_reading_that_objects_takes_the_statement_back(
    limit: Resource, change: dict[str, float]
) -> None:
    found = judge(replace(LIMITED[limit], **change), CEILINGS)  # type: ignore[arg-type]
    assert isinstance(found, Abstained)
    assert found.reason is Abstention.BELOW_CEILING
    assert found.evidence


@pytest.mark.parametrize(
    ("limit", "missing"),
    [
        (Resource.CPU, "cpu_cores"),
        (Resource.COMMIT_LATENCY, "fsyncs"),
        (Resource.COMMIT_LATENCY, "written"),
        (Resource.WRITE_BANDWIDTH, "written"),
        (Resource.READ, "reads"),
        (Resource.READ, "read"),
        (Resource.LOCK, "cpu_cores"),
    ],
)
def test_a_reading_that_is_missing_is_said(limit: Resource, missing: str) -> None:
    assert resource(replace(LIMITED[limit], **{missing: None})) is Abstention.NOT_SEEN  # type: ignore[arg-type]


def test_half_of_the_write_bandwidth_is_no_longer_a_wait_for_latency() -> None:
    half = replace(LIMITED[Resource.COMMIT_LATENCY], written=CEILINGS.sequential_write / 2)
    found = judge(half, CEILINGS)
    assert isinstance(found, Abstained) and "fsyncs" not in dict(found.evidence)


def test_as_many_clients_as_cores_fill_them_without_pressure() -> None:
    few = replace(LIMITED[Resource.CPU], clients=4.0, pressure_cpu=Share(0.01))
    assert resource(few) is Resource.CPU
    assert resource(replace(few, clients=8.0)) is Abstention.BELOW_CEILING


def test_a_kernel_without_pressure_takes_no_statement_back() -> None:
    for limit in Resource:
        blind = replace(LIMITED[limit], pressure_cpu=None, pressure_io=None)
        assert resource(blind) is limit


def test_a_quota_counts_as_the_ceiling_of_the_processors() -> None:
    throttled = replace(LIMITED[Resource.CPU], cpu_cores=0.99)
    assert isinstance(judge(throttled, CEILINGS), Abstained)
    assert isinstance(judge(throttled, replace(CEILINGS, cores=1.0)), Consistent)


def test_the_pattern_of_the_write_ceiling_follows_the_waits() -> None:
    of_data = replace(
        CALM, waits={"IO:DataFileExtend": 5.0, "CPU": 1.0}, written=80e6, pressure_io=Share(0.9)
    )
    found = judge(of_data, CEILINGS)
    assert isinstance(found, Consistent)
    assert dict(found.evidence)["write_ceiling"] == 10_000 * 8192


def test_evidence_holds_the_ceiling_beside_the_reading() -> None:
    found = judge(LIMITED[Resource.COMMIT_LATENCY], CEILINGS)
    assert isinstance(found, Consistent)
    evidence = dict(found.evidence)
    assert (evidence["fsyncs"], evidence["fsync_ceiling"]) == (950, 1000)
    assert evidence["waits_flush"] == pytest.approx(15 / 15.5)


@pytest.mark.parametrize(
    ("event", "group"),
    [
        ("CPU", WaitGroup.RUNNING),
        ("IO:WALSync", WaitGroup.FLUSH),
        ("IO:WalSync", WaitGroup.FLUSH),
        ("LWLock:WALWriteLock", WaitGroup.FLUSH),
        ("LWLockNamed:WALWriteLock", WaitGroup.FLUSH),
        ("LWLock:WALInsert", WaitGroup.LOCK),
        ("LWLockTranche:buffer_content", WaitGroup.LOCK),
        ("Lock:transactionid", WaitGroup.LOCK),
        ("IPC:BufferIO", WaitGroup.READ),
        ("IO:AioIoCompletion", WaitGroup.READ),
        ("IO:DataFileExtend", WaitGroup.WRITE),
        ("Timeout:VacuumDelay", WaitGroup.OTHER),
    ],
)
def test_events_of_all_versions_have_their_group(event: str, group: WaitGroup) -> None:
    assert group_of(event) is group


def test_shares_leave_out_who_waits_for_the_client() -> None:
    found = shares({"CPU": 3.0, "Client:ClientRead": 100.0, "Lock:tuple": 1.0})
    assert (found[WaitGroup.RUNNING], found[WaitGroup.LOCK]) == (0.75, 0.25)
    assert sum(found.values()) == pytest.approx(1)
