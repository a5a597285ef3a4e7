"""What must hold of every statement on a bottleneck, whatever was seen."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from teiten.analysis.scaling.bottleneck import CLIENT_BOUND, DOMINANT, WaitGroup, judge, shares
from teiten.model.bottleneck import Abstained, Abstention, Consistent, Readings, Resource
from tests.fixtures.invented_readings import CEILINGS

EVENTS = (
    "CPU",
    "IO:WALSync",
    "LWLock:WALWrite",
    "IO:WalWrite",
    "IO:DataFileRead",
    "IO:DataFileWrite",
    "Lock:transactionid",
    "LWLock:BufferMapping",
    "Client:ClientRead",
    "Timeout:SpinDelay",
)


def maybe(top: float) -> st.SearchStrategy[float | None]:
    return st.one_of(st.none(), st.floats(0, top), st.just(top))


READINGS = st.builds(
    Readings,
    plateau=st.booleans(),
    waits=st.dictionaries(st.sampled_from(EVENTS), st.floats(0, 64), max_size=5),
    cpu_cores=maybe(4),
    generator=maybe(1),
    written=maybe(250e6),
    read=maybe(600e6),
    reads=maybe(25_000),
    fsyncs=maybe(1200),
    fsyncs_before=maybe(1200),
    hit_ratio=maybe(1),
    hit_ratio_below=maybe(1),
    pressure_io=maybe(1),
    pressure_cpu=maybe(1),
)
NEEDED = {
    Resource.CPU: (WaitGroup.RUNNING,),
    Resource.COMMIT_LATENCY: (WaitGroup.FLUSH,),
    Resource.WRITE_BANDWIDTH: (WaitGroup.FLUSH, WaitGroup.WRITE),
    Resource.READ: (WaitGroup.READ,),
    Resource.LOCK: (WaitGroup.LOCK,),
}


@given(READINGS)
def test_without_ceilings_or_plateau_nothing_is_said(readings: Readings) -> None:
    assert isinstance(judge(readings, None), Abstained)
    rising = replace(readings, plateau=False, fsyncs_before=None)
    assert judge(rising, CEILINGS) == Abstained(Abstention.NO_PLATEAU, ())


@given(READINGS)
@settings(max_examples=300)
def test_a_statement_has_its_waits_and_its_evidence(readings: Readings) -> None:
    found = judge(readings, CEILINGS)
    if isinstance(found, Abstained):
        assert (not found.evidence) == (
            found.reason in {Abstention.NO_PLATEAU, Abstention.NO_CEILINGS, Abstention.NO_WAITS}
        )
        return
    assert found.evidence
    assert len(dict(found.evidence)) == len(found.evidence)
    if found.resource is Resource.CLIENT:
        assert readings.generator is not None
        assert readings.generator >= CLIENT_BOUND
        return
    waits = shares(readings.waits)
    assert sum(waits[group] for group in NEEDED[found.resource]) > DOMINANT


@given(READINGS, st.floats(0.1, 10))
def test_only_the_proportions_of_waits_count(readings: Readings, factor: float) -> None:
    waits = {event: value for event, value in readings.waits.items() if value > 1e-3}
    one = judge(replace(readings, waits=waits), CEILINGS)
    more = {event: value * factor for event, value in waits.items()}
    other = judge(replace(readings, waits=more), CEILINGS)
    near = any(abs(share - DOMINANT) < 1e-9 for share in shares(waits).values())
    if isinstance(one, Consistent) and not near:
        assert isinstance(other, Consistent)
        assert other.resource is one.resource


@given(READINGS)
def test_a_higher_ceiling_never_adds_a_statement_on_its_resource(readings: Readings) -> None:
    found = judge(readings, CEILINGS)
    higher = replace(
        CEILINGS,
        sequential_read=1e12,
        sequential_write=1e12,
        random_reads=1e9,
        random_writes=1e9,
        fsyncs=1e9,
        cores=1e6,
    )
    relieved = judge(readings, higher)
    if isinstance(relieved, Consistent):
        assert relieved.resource in {Resource.CLIENT, Resource.LOCK}
    if isinstance(found, Consistent) and found.resource is Resource.CLIENT:
        assert relieved == found
