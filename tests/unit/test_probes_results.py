"""What is found in an invented campaign of probes whose truth is known."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest

from teiten.analysis.model.verdict import Estimate, VerdictKind
from teiten.analysis.verdict.changes import arithmetic, geometric
from teiten.analysis.verdict.sequential import patient_half_width
from teiten.analysis.verdict.verdict import student_half_width
from teiten.kinds.probes.findings.recommendation import Wanted, cliff_of, room_of
from teiten.kinds.probes.findings.versions import OF_EXECUTED, apart
from teiten.kinds.probes.measurement import (
    Accounted,
    ExecutedOnce,
    MeasuredStep,
    PageOrigin,
    ProbeMeasurement,
    StepIo,
    Timed,
)
from teiten.kinds.probes.model import BLOCK
from teiten.kinds.probes.results import (
    CostLine,
    ProbeResult,
    ProbesFound,
    Proportion,
    Trace,
    probes_found,
)
from teiten.kinds.probes.thresholds import Size, size_of
from teiten.model.units import GIB, MIB, Bytes, Seconds
from tests.fixtures.invented_probes import Invented, Truth, invented_probes

MEMORY = 2 * GIB


@cache
def usual() -> ProbesFound:
    return probes_found(invented_probes())


@cache
def other(name: str) -> ProbesFound:
    """Campaigns in which something is otherwise."""
    like = {
        "long": Invented(blocks=9),
        "unknown": Invented(Truth(known=False), blocks=2),
        "start": Invented(Truth(sweep_start=6e-3)),
        "quick": Invented(profile="quick", blocks=2),
        "roomy": Invented(Truth(fits={"25%": 2.0, "50%": 2.0, "75%": 2.0}), blocks=3),
        "noisy": Invented(Truth(wobble=0.8), blocks=3),
        "two-servers": Invented(servers=("15", "18"), blocks=3),
    }[name]
    return probes_found(invented_probes(like))


def probe(found: ProbesFound, name: str) -> ProbeResult:
    return next(result for result in found.results if result.probe == name)


def holds(one: Estimate | None, truth: float) -> bool:
    assert one is not None and one.low is not None and one.high is not None
    return one.low <= truth <= one.high


def test_all_pairs_of_sizes_of_all_probes_hold_together() -> None:
    found = usual()
    commits = sum(len(result.commits) for result in found.results)
    assert commits and found.comparisons == 3 * (7 + 2) + commits + len(found.versions)
    for result in found.results:
        assert [(pair.old, pair.new) for pair in result.pairs] == [
            ("25%", "50%"),
            ("25%", "75%"),
            ("50%", "75%"),
        ]
        confidence = 1 - 0.05 / found.comparisons
        for pair in (*result.pairs, *result.commits):
            assert pair.verdict.effect is not None
            assert pair.verdict.effect.confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("name", "size", "winners"),
    [
        ("buffer-read", Size.NONE, ("25%", "50%", "75%")),
        ("clock-sweep", Size.MEDIUM, ("25%",)),
        ("os-cache-read", Size.SMALL, ("50%", "75%")),
        ("working-set", Size.MEDIUM, ("75%",)),
        ("after-scan", Size.LARGE, ("50%", "75%")),
        ("update", Size.NONE, ("25%", "50%", "75%")),
        ("checkpoint", Size.MEDIUM, ("25%",)),
    ],
)
def test_effects_by_the_declared_thresholds(
    name: str, size: Size, winners: tuple[str, ...]
) -> None:
    effect = probe(other("long"), name).effect
    assert effect is not None
    assert (effect.size, effect.winners) == (size, winners)


def test_worst_is_judged_against_best_whatever_their_order() -> None:
    """75 % is best in one probe and worst in another; the pair is 75 % against 25 % in both."""
    for name, best, worst in (("os-cache-read", "75%", "25%"), ("checkpoint", "25%", "75%")):
        one = probe(usual(), name)
        effect = one.effect
        assert effect is not None and effect.verdict.effect is not None
        assert (effect.best, effect.worst) == (best, worst)
        assert effect.verdict.kind is VerdictKind.SLOWER
        assert 1 < effect.verdict.effect.low < effect.verdict.effect.ratio
        (pair,) = (pair for pair in one.pairs if {pair.old, pair.new} == {best, worst})
        assert pair.verdict.effect is not None
        ratio = pair.verdict.effect.ratio
        assert effect.verdict.effect.ratio == pytest.approx(max(ratio, 1 / ratio))


def test_an_interval_that_does_not_decide_is_no_size() -> None:
    for result in other("noisy").results:
        assert result.effect is not None
        if result.probe in {"buffer-read", "clients-buffers"}:
            assert result.effect.size is None and not result.effect.winners
            assert result.effect.least is Size.NONE


def test_until_decided_every_interval_is_valid_at_every_look() -> None:
    """As the verdict beside it: of the same trials it is wider than one of a fixed design."""
    until_decided = ("until_decided=true", "budget=15m")
    looked_at = probes_found(invented_probes(Invented(overrides=until_decided)))
    fixed = probes_found(invented_probes(Invented(blocks=8)))

    def wider(sequential: Estimate | None, usual: Estimate | None) -> float:
        assert sequential is not None and usual is not None
        assert sequential.mean == usual.mean and sequential.blocks == 8
        ends = [(one.low, one.high) for one in (sequential, usual)]
        return width(*ends[0]) / width(*ends[1])

    def width(low: float | None, high: float | None) -> float:
        assert low is not None and high is not None
        return high - low

    def expected(alpha: float) -> float:
        return patient_half_width(1.0, 8, alpha) / student_half_width(1.0, 8, alpha)

    shared = 0.05 / fixed.comparisons
    for one, same in zip(looked_at.results, fixed.results, strict=True):
        assert one.effect is not None and same.effect is not None
        assert wider(one.effect.added, same.effect.added) == pytest.approx(expected(shared))
        if one.line is not None and same.line is not None:
            assert wider(one.line.per_gib, same.line.per_gib) == pytest.approx(expected(0.05))
    sides = [probe(found, "working-set").sides[0] for found in (looked_at, fixed)]
    assert wider(*(side.parts[0].mean for side in sides)) == pytest.approx(expected(0.05))


@pytest.mark.parametrize(
    ("added", "size"),
    [(0.0, Size.SMALL), (0.049, Size.SMALL), (0.05, Size.MEDIUM), (0.25, Size.LARGE)],
)
def test_sizes(added: float, size: Size) -> None:
    assert size_of(added) is size


def test_what_a_sweep_costs_by_the_size_of_the_buffers() -> None:
    line = probe(usual(), "clock-sweep").line
    assert line is not None
    assert holds(line.per_gib, Truth().sweep_per_gib)
    assert line.sizes == 3 and holds(line.ratio, 3.0) and line.proportion is Proportion.PROPORTIONAL


def test_a_cost_that_does_not_begin_at_nothing_is_not_proportional() -> None:
    line = probe(other("start"), "clock-sweep").line
    assert line is not None
    assert holds(line.at_nothing, 6e-3) and holds(line.per_gib, Truth().sweep_per_gib)
    assert line.proportion is Proportion.NOT_PROPORTIONAL


@pytest.mark.parametrize(
    ("per_gib", "ratio", "said"),
    [
        ((-2895e-6, 881e-6, 4657e-6), (0.2, 3.0, 45.0), Proportion.NONE),
        ((1e-3, 2e-3, 3e-3), (0.9, 3.0, 10.0), Proportion.UNDECIDED),
        ((1e-3, 2e-3, 3e-3), (2.5, 3.0, 3.6), Proportion.PROPORTIONAL),
        ((1e-3, 2e-3, 3e-3), (1.2, 1.5, 1.8), Proportion.NOT_PROPORTIONAL),
    ],
)
def test_a_proportion_is_told_of_whole_intervals(
    per_gib: tuple[float, float, float], ratio: tuple[float, float, float], said: Proportion
) -> None:
    def estimate(low: float, mean: float, high: float) -> Estimate:
        return Estimate(mean, low, high, 5)

    line = CostLine(
        estimate(*per_gib), estimate(*per_gib), Bytes(GIB), Bytes(3 * GIB), estimate(*ratio)
    )
    assert line.proportion is said


def test_where_each_size_falls_off_the_cliff() -> None:
    """Memory holds 0.72, 0.58 and 0.82 of itself; a part is 0.12 of the memory."""
    cliffs = {side.side: side.cliff for side in probe(usual(), "working-set").sides}
    for side, safe, beyond in (("25%", 0.72, 0.84), ("50%", 0.60, 0.72), ("75%", 0.84, 0.96)):
        cliff = cliffs[side]
        assert cliff is not None and cliff.safe is not None and cliff.beyond is not None
        assert cliff.safe / MEMORY == pytest.approx(safe, rel=1e-4)
        assert cliff.beyond / MEMORY == pytest.approx(beyond, rel=1e-4)


@pytest.mark.parametrize(
    ("shares", "safe", "beyond"),
    [
        (((0, 10, 2, 20),), 1, 4),  # the third fits, but not all up to it
        (((0, 10, 2, 20), (0, 0, 20, 20)), 1, 4),
        (((10, 2, 20, 20),), None, 3),
        (((0, 10, 20, 2),), 1, None),
        (((0, 0, 0, 0),), 4, None),
        (((20, 20, 20, 20),), None, 1),
    ],
)
def test_a_working_set_is_safe_where_none_up_to_it_reads_from_the_disk(
    shares: tuple[tuple[int, ...], ...], safe: int | None, beyond: int | None
) -> None:
    """``shares``: by trial and part, of 50 reads those from the disk, in per cent."""
    page = Timed(0, Seconds(1e-5), 0, 1, 0, 0)
    trials = [
        ProbeMeasurement(
            "working-set",
            Bytes(GIB),
            Bytes(GIB // 4),
            measured=tuple(
                MeasuredStep(
                    "read",
                    f"{size}",
                    size,
                    tuple(
                        replace(page, disk_bytes=BLOCK if number < share // 2 else 0)
                        for number in range(50)
                    ),
                )
                for size, share in enumerate(of_trial, start=1)
            ),
        )
        for of_trial in shares
    ]
    cliff = cliff_of(trials, "read")
    assert cliff is not None
    ends = [None if end is None else end // BLOCK for end in (cliff.safe, cliff.beyond)]
    assert ends == [safe, beyond]


def test_a_cliff_that_was_not_reached() -> None:
    for side in probe(other("roomy"), "working-set").sides:
        assert side.cliff is not None and side.cliff.beyond is None
        assert side.cliff.safe == max(part.size for part in side.parts)


def test_without_knowing_the_disk_there_is_no_cliff() -> None:
    sides = probe(other("unknown"), "working-set").sides
    assert all(side.cliff is None for side in sides)
    outside = [part for side in sides for part in side.parts if part.share(PageOrigin.BUFFERS) < 1]
    assert outside and all(part.from_disk is None for part in outside)
    assert all(part.os_cache_hits is None for side in sides for part in side.parts)


def test_hits_after_the_scan() -> None:
    small, _, large = probe(usual(), "after-scan").sides
    assert small.parts[0].os_cache_hits == 0 and large.parts[0].os_cache_hits is None
    assert small.parts[0].from_disk is not None and small.parts[0].from_disk.mean == 0.5
    assert small.parts[0].outside == pytest.approx(400e-6, rel=0.05)


def test_the_best_size_is_what_no_other_beats() -> None:
    (found,) = usual().recommendations
    assert found.left == ("75%",) and found.decided and not found.threatened
    assert probe(usual(), "working-set").beaten["50%"] == "75%"
    telling = [result for result in usual().results if result.tells_of_memory]
    assert {result.probe for result in telling} == {"working-set", "after-scan"}
    assert all(result.beaten for result in telling)


def test_nothing_is_ruled_out_by_what_is_not_decided() -> None:
    (found,) = other("quick").recommendations
    telling = [result for result in other("quick").results if result.tells_of_memory]
    beaten = {side for result in telling for side in result.beaten}
    assert set(found.left) == {"25%", "50%", "75%"} - beaten
    assert not probe(other("noisy"), "working-set").beaten


def test_each_server_has_its_recommendation() -> None:
    found = other("two-servers")
    servers = [dict(recommendation.context)["server"] for recommendation in found.recommendations]
    assert servers == ["15", "18"]
    commits = sum(len(result.commits) for result in found.results)
    assert found.versions
    assert found.comparisons == 3 * 2 * (7 + 2) + commits + len(found.versions)
    confidence = 1 - 0.05 / found.comparisons
    effects = [version.verdict.effect for version in found.versions]
    assert all(
        effect is None or effect.confidence == pytest.approx(confidence) for effect in effects
    )


def test_what_changed_between_versions_is_named_where_they_differ() -> None:
    slow = Truth(from_disk=2e-3, search_per_gib=3e-3)
    like = Invented(of_server={"15": slow}, servers=("15", "18"), blocks=4)
    pairs = probes_found(invented_probes(like)).versions
    assert len(pairs) == 9 * 3 + 3  # the scan's own time
    found = {(pair.probe, pair.side): pair for pair in pairs if not pair.executed}
    scan, search = found["after-scan", "25%"], found["checkpoint", "75%"]
    assert (scan.old, scan.new) == ("15", "18")
    assert scan.verdict.kind is search.verdict.kind is VerdictKind.FASTER
    assert scan.comparable
    assert [one.text.en[:8] for one in scan.changed] == ["since 17", *["since 18"] * 3]
    update = found["update", "25%"]
    assert update.comparable and not update.changed
    for looked_at in (search, found["clock-sweep", "25%"]):
        assert not looked_at.comparable and looked_at.changed[0].text.en.startswith("before 16")
    assert found["buffer-read", "25%"].verdict.kind is not VerdictKind.FASTER
    assert not usual().versions
    assert not scan.traces and not any(one.seen for one in scan.changed)


def test_what_was_measured_beside_the_time_shows_what_changed() -> None:
    """A ring that is larger at one server, and I/O workers of its own; reads of one size."""
    before = Truth(scan=2.0, told={"huge_pages": "try"})
    after = Truth(ring=288, by_workers=0.99, told={"huge_pages": "try", "io_method": "worker"})
    like = Invented(of_server={"15": before, "18": after}, servers=("15", "18"), blocks=4)
    found = probes_found(invented_probes(like))
    (scan,) = (version for version in found.versions if version.executed and version.side == "50%")
    assert (scan.probe, scan.executed, scan.verdict.kind) == (
        "after-scan",
        "scan",
        VerdictKind.FASTER,
    )
    assert {trace.trace: (trace.old, round(trace.new, 3)) for trace in scan.traces} == {
        Trace.BY_WORKERS: (0.0, 0.99),
        Trace.KEPT: (32 * 8192.0, 288 * 8192.0),
    }
    seen = {one.text.en.rsplit(" ", 1)[-1]: bool(one.seen) for one in scan.changed}
    assert seen == {
        "(io_combine_limit)": False,
        "once": False,
        "(io_method)": True,
        "effective_io_concurrency": True,
    }
    assert [settings.get("io_method") for settings in found.settings.values()] == [
        None,
        ("worker",),
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ((10.0, 11.0), (12.0, 14.0), True),
        ((10.0, 12.5), (12.0, 16.0), False),  # they overlap
        ((10.0, 10.1), (10.2, 10.3), False),  # too near
        ((0.0, 0.0), (0.0, 0.0), False),
    ],
)
def test_a_trace_is_told_where_no_trials_have_it_in_common(
    old: tuple[float, ...], new: tuple[float, ...], told: bool
) -> None:
    assert apart(old, new) is told is apart(new, old)


def test_connections_work_mem_and_page_tables_are_counted() -> None:
    sizes = {"25%": Bytes(512 * MIB), "75%": Bytes(1536 * MIB)}
    wanted = Wanted(None, 40, Bytes(16 * MIB))
    small, large = (room_of(side, size, Bytes(MEMORY), wanted) for side, size in sizes.items())
    assert small.for_each == (8 + 16 + 1) * MIB and large.for_each == (8 + 16 + 3) * MIB
    assert (small.left, large.left) == (1536 * MIB, 512 * MIB)
    assert (small.fit, large.fit) == (61, 18)
    assert not small.threatens and large.threatens
    wanted = Wanted(None, None, Bytes(0), huge_pages=True)
    huge = room_of("75%", sizes["75%"], Bytes(MEMORY), wanted)
    assert huge.for_each == 8 * MIB and not huge.threatens


def test_what_the_user_said_enters_the_recommendation() -> None:
    wanted = {
        "working_set": Bytes(1400 * MIB),
        "connections": 50,
        "work_mem": Bytes(16 * MIB),
    }
    found = probes_found(invented_probes(Invented(wanted=wanted, blocks=3)))
    (one,) = found.recommendations
    assert one.threatened == ("50%", "75%") and one.connections == 50
    assert "75%" not in one.left
    parts = [side.at(Bytes(1400 * MIB)) for side in probe(found, "working-set").sides]
    assert [None if part is None else part.size for part in parts] == [
        pytest.approx(0.72 * MEMORY, rel=1e-4)
    ] * 3


def test_the_memory_and_how_it_is_known() -> None:
    (memory,) = usual().memories
    assert memory.memory == MEMORY and memory.limited
    assert memory.read == MEMORY + MEMORY // 8


def test_estimates() -> None:
    found = arithmetic([1.0, 2.0, 3.0], 0.05)
    assert found is not None and found.mean == 2
    assert found.low == pytest.approx(2 - 4.3027 / math.sqrt(3), rel=1e-4)
    alone = arithmetic([5.0], 0.05)
    assert alone == Estimate(5.0, None, None, 1)
    assert arithmetic([], 0.05) is None and geometric([1.0, 0.0], 0.05) is None
    for estimate in (arithmetic, geometric):
        too_few = estimate([1.0, 2.0, 3.0], 0.05, patient_half_width)
        assert too_few is not None and too_few.low is None is too_few.high
    same = geometric([4.0, 4.0], 0.05)
    assert same is not None and same.low is None and same.mean == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("called", "workers", "accounted", "size"),
    [
        (
            (6559, 6559 * 131_072),
            0,
            Accounted("normal", 104_000, 6559 * 131_072 + 9, 0, 0),
            131_072,
        ),
        ((2, 16_384), 0, Accounted("bulkread", 6557, 6557 * 131_072, 0, 0), 131_072),
        ((600, 90_000), 9_000, Accounted("bulkread", 6557, 6557 * 131_072, 0, 0), 131_072),
    ],
    ids=["by itself", "by io_uring", "by workers"],
)
def test_the_size_of_a_scans_reads_whoever_reads(
    called: tuple[int, int], workers: int, accounted: Accounted, size: int
) -> None:
    """Where the kernel tells a process nothing, it is what the server counts; before 18 that
    counts blocks, so that it is not asked where the kernel tells all."""
    found = ProbeMeasurement(
        probe="after-scan",
        memory=Bytes(GIB),
        shared_buffers=Bytes(GIB // 4),
        executed=(ExecutedOnce("scan", "", Seconds(1.0)),),
        io=(StepIo("scan", "", *called, workers, workers * BLOCK, (accounted,)),),
    )
    assert OF_EXECUTED[Trace.READ_SIZE](found) == size
