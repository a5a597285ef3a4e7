"""Probes before anything runs: their files, their tables, their plan, their numbers."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from teiten.datasets.plan import data_bytes
from teiten.datasets.probes.model import PAGE, SizedTable, pages_of, row_length
from teiten.errors import StudyError, UsageError
from teiten.kinds.probes.load.clients import clients_of, script_of
from teiten.kinds.probes.load.states import Made, States, lacking
from teiten.kinds.probes.load.timing import timed_of
from teiten.kinds.probes.measurement import (
    Checkpointed,
    MeasuredStep,
    PageOrigin,
    ProbeMeasurement,
    Timed,
    Where,
    WithClients,
    metrics_of,
    sweep_seconds,
)
from teiten.kinds.probes.model import Amount, Do, Of, Probe, ProbeStep, State, Take, probes_of
from teiten.kinds.probes.read import amount, catalogue, probe_of, read_probes
from teiten.kinds.probes.run import pages_of as part_pages
from teiten.ledger import codec
from teiten.model.study import Study
from teiten.model.units import GIB, MIB, Bytes, Seconds
from teiten.plan.expand import expand
from teiten.plan.sizing import size
from teiten.study.document import CATALOGUE
from teiten.study.load import load_study
from tests.fixtures.planned import PGBENCH, fingerprint
from tests.fixtures.synthetic_plan import HOST, make_installation

PROBE = """
title = "A probe"
description = "It reads."
number = { of = "read", take = "mean" }

[[steps]]
do = "load"
table = "pages"
part = "90% of buffers"

[[steps]]
do = "measure"
name = "read"
table = "pages"
statement = "SELECT id FROM pages WHERE ctid = '({block},1)'"
statements = 10
"""


def sized(*overrides: str) -> Study:
    return size(load_study("buffers", profile="quick", overrides=overrides), HOST)


def test_the_catalogue_has_the_eight_probes() -> None:
    found = read_probes(catalogue(), ())
    assert {one.source for one in found} == {f"2021 WG3 #{number}" for number in range(1, 9)}
    for one in found:
        assert one.title.en != one.title.ja and one.description.en != one.description.ja


def test_the_study_plans_every_probe_at_every_size_in_each_block() -> None:
    study = sized()
    made = make_installation("18")
    plan = expand(study, [("18", made)], PGBENCH, seed=1, fingerprint=fingerprint)
    assert len(plan.trials) == len(catalogue()) * 3 * study.measure.blocks
    buffers = {dict(trial.settings)["shared_buffers"] for trial in plan.trials}
    assert buffers == {"256MB", "512MB", "768MB"}
    assert {trial.memory_limit for trial in plan.trials} == {GIB}
    assert codec.decode_plan(codec.encode_plan(plan)) == plan
    changing = {
        trial.cell.level("probe") for trial in plan.trials if trial.cell.workload == "writes"
    }
    assert changing == {"update", "checkpoint"}


def test_tables_are_shares_of_the_memory_in_force() -> None:
    reads, writes = sized("measure.memory=512MiB").workloads
    assert reads.data.scale == writes.data.scale == 512
    assert abs(data_bytes(reads.data) - 2 * 512 * MIB) < 3 * PAGE
    assert data_bytes(sized("measure.memory=machine").workloads[0].data) == pytest.approx(
        2 * HOST.memory.total, rel=0.001
    )


@pytest.mark.parametrize(("rows", "fillfactor"), [(1, 100), (1, 50), (30, 50), (7, 90), (40, 100)])
def test_a_page_takes_exactly_its_rows(rows: int, fillfactor: int) -> None:
    length = row_length(SizedTable("t", 1.0, rows, fillfactor))
    header = 4 if length > 126 else 1
    row = -(-(24 + 8 + header + length) // 8) * 8 + 4
    free = PAGE - 24 - PAGE * (100 - fillfactor) // 100
    assert rows * row <= free < (rows + 1) * row
    assert pages_of(SizedTable("t", 0.5), Bytes(GIB)) == 65536
    assert row_length(SizedTable("t", 1.0, 60, 100)) == 0  # of 128 bytes each, one more would fit


def test_how_often_a_probe_measures_is_no_other_work() -> None:
    options = probes_of(load_study("buffers").workload("reads"))
    first = options.probe("buffer-read")
    text = first.text
    fewer = text.replace("statements = 2000", "statements = 100")
    other = text.replace("{block},1", "{block},2")
    assert fewer != text != other
    works = [
        replace(options, probes=(replace(first, text=changed),)).work
        for changed in (text, fewer, other)
    ]
    assert works[0] == works[1] != works[2]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("memory=64MiB", "must be at least 128MB"),
        ("workloads.reads.probes=nothing", "there is no probe 'nothing'"),
        ("workloads.reads.probes=buffer-reed", "buffer-read"),
        ("workloads.reads.probes=update", "needs a table updated"),
        ("probe=nothing", "nothing"),
    ],
)
def test_what_cannot_be_is_refused_with_its_key(key: str, message: str) -> None:
    with pytest.raises((StudyError, UsageError), match=message):
        load_study("buffers", profile="quick", overrides=(key,))


def changed(folder: Path, old: str, new: str) -> str:
    """A copy of the study with something else in it."""
    text = (CATALOGUE / "buffers.toml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = folder / "mine.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return str(path)


def test_a_ninth_probe_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "ninth.toml").write_text(PROBE, encoding="utf-8")
    path = changed(tmp_path, 'probes = ["buffer-read", ', 'probes = ["ninth.toml", ')
    reads = load_study(path, profile="quick").workloads[0]
    assert [probe.name for probe in probes_of(reads).probes][:2] == ["ninth", "clock-sweep"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows = 30", "rows = 60", "60 rows do not fill a page"),
        (
            'scale = "auto"\nchanges_data = true',
            'scale = "auto"\nchanges_data = false',
            "sets parameters of its server",
        ),
        ('"120%" }', '"120%", scale = 3 }', "unknown key"),
    ],
)
def test_a_study_that_contradicts_itself_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    with pytest.raises(StudyError, match=message):
        load_study(changed(tmp_path, old, new), profile="quick")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('do = "load"', 'do = "lode"', "do"),
        ("90% of buffers", "90 of buffers", "no amount"),
        ("90% of buffers", "2 clients", "no number of pages"),
        ("({block},1)", "(7,1)", "with the place {block}"),
        ('of = "read"', 'of = "load"', "measures nothing"),
        ('take = "mean"', 'take = "sweep"', "watch = true"),
        ('take = "mean"', 'take = "commit"', "commit = true"),
        ("statements = 10", "statements = 0", "statements"),
        ("statements = 10", 'statements = 10\npart = "each"', "parts are for steps"),
        ("statements = 10", "statements = 10\nspeed = 3", "speed"),
        ("title", "name", "title"),
        (
            'do = "load"',
            'do = "require"\nname = "kept"\nmemory = "<= 5%"',
            "memory has a least share alone",
        ),
    ],
)
def test_a_wrong_probe_is_refused_with_its_reason(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "wrong.toml").write_text(PROBE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=r"the probe wrong\.toml") as raised:
        read_probes(["wrong.toml"], [tmp_path])
    assert message in str(raised.value)


def test_amounts() -> None:
    assert amount("120% of memory") == Amount(1.2, Of.MEMORY)
    assert amount("500 pages") == Amount(500, Of.PAGES)
    assert str(amount("12.5% of table")) == "12.5% of table"
    assert part_pages(None, 100, 50, 200) == 100
    assert part_pages(amount("90% of buffers"), 100, 50, 200) == 45
    assert part_pages(amount("45% of memory"), 100, 50, 200) == 90
    assert part_pages(amount("500 pages"), 100, 50, 200) == 100
    assert (clients_of(amount("150% of cores"), 2), clients_of(amount("1 clients"), 2)) == (3, 1)


def test_pgbench_draws_the_pages_of_the_part() -> None:
    script = script_of("SELECT id FROM pages WHERE ctid = '({block},1)'", 100)
    assert script == ("\\set page random(0, 99)\nSELECT id FROM pages WHERE ctid = '(:page,1)';\n")


def test_states_are_judged_by_what_can_be_there() -> None:
    where = Where("pages", 100, 50, 80)
    assert lacking(State(buffers_at_least=0.99), where, 50) == ""
    assert "50.0% of 100 pages" in lacking(State(buffers_at_least=0.99), where, 60)
    assert lacking(State(buffers_at_most=0.4), where, 50)
    assert lacking(State(os_cache_at_least=0.9), where, 50)
    assert lacking(State(os_cache_at_most=0.1), where, 50)
    assert lacking(State(memory_at_least=0.81), where, 50)
    assert lacking(State(memory_at_least=0.8), where, 50) == ""
    unseen = Where("pages", 100, 50, None)
    assert lacking(State(os_cache_at_least=0.9), unseen, 50) == ""


def test_explain_of_each_version_is_read() -> None:
    plan = {"Shared Hit Blocks": 2, "Shared Read Blocks": 1, "WAL Records": 3, "WAL Bytes": 120}
    for key in ("I/O Read Time", "Shared I/O Read Time"):
        explained = {"Plan": {**plan, key: 0.25}, "Execution Time": 0.5}
        found = timed_of(7, explained, 8192)
        assert (found.page, found.seconds, found.read_seconds) == (7, 0.0005, 0.00025)
        assert (found.hit, found.read, found.wal_records) == (2, 1, 3)
        assert found.origin is PageOrigin.DISK
    assert timed_of(7, {"Plan": {}, "Execution Time": 1.0}, None).wal_bytes is None


def timed(seconds: float, swept: int | None = None, commit: float | None = None) -> Timed:
    return Timed(
        page=1,
        seconds=Seconds(seconds),
        hit=1,
        read=0,
        dirtied=0,
        written=0,
        commit_seconds=None if commit is None else Seconds(commit),
        swept=swept,
    )


def test_a_sweep_costs_what_it_adds_for_each_time_around() -> None:
    usual = [timed(0.001, swept=1) for _ in range(20)]
    assert sweep_seconds([*usual, timed(0.004, swept=1000)], 1000) == pytest.approx(0.003)
    assert sweep_seconds([*usual, timed(0.016, swept=5000)], 1000) == pytest.approx(0.003)
    assert sweep_seconds(usual, 1000) is None


def test_numbers_of_trials() -> None:
    def of(take: Take, name: str = "read", **found: object) -> dict[str, float]:
        probe = _probe(take, name)
        whole = ProbeMeasurement("p", Bytes(GIB), Bytes(GIB), **found)  # type: ignore[arg-type]
        return metrics_of(probe, whole)

    parts = (
        MeasuredStep("read", "a", 10, (timed(1.0), timed(2.0), timed(6.0))),
        MeasuredStep("read", "b", 20, (timed(5.0),)),
    )
    assert of(Take.MEAN, measured=parts)["probe_seconds"] == 4.0
    assert of(Take.MEDIAN, measured=parts)["probe_seconds"] == pytest.approx(3.5)
    assert of(Take.MEAN, measured=parts)["from_buffers"] == 1.0
    commits = (MeasuredStep("read", "", 10, (timed(1.0, commit=3.0), timed(1.0, commit=4.0))),)
    assert of(Take.COMMIT, measured=commits)["probe_seconds"] == 3.5
    clients = tuple(
        WithClients("read", "", count, 100, 10.0 * count, Seconds(0.1 * count), 1, 0)
        for count in (1, 4)
    )
    found = of(Take.MEAN, with_clients=clients)
    assert (found["probe_seconds"], found["probe_tps"]) == (0.4, 40.0)
    checkpoints = tuple(Checkpointed("read", "", Seconds(one), 5, 5) for one in (1.0, 2.0, 9.0))
    assert of(Take.MEDIAN, checkpoints=checkpoints)["probe_seconds"] == 2.0
    assert of(Take.MEAN) == {}


def test_a_median_of_times_that_explain_prints_alike_moves_with_their_shares() -> None:
    def of(nines: int, tens: int) -> float:
        times = (*(timed(9e-6) for _ in range(nines)), *(timed(10e-6) for _ in range(tens)))
        measured = (MeasuredStep("read", "", 10, times),)
        whole = ProbeMeasurement("p", Bytes(GIB), Bytes(GIB), measured=measured)
        return metrics_of(_probe(Take.MEDIAN, "read"), whole)["probe_seconds"]

    assert of(100, 0) == pytest.approx(9e-6)
    assert of(50, 50) == pytest.approx(9.5e-6)
    assert of(49, 51) - of(51, 49) == pytest.approx(0.04e-6, rel=0.1)


def _probe(take: Take, name: str) -> Probe:
    text = PROBE.replace('name = "read"', f'name = "{name}"').replace(
        'of = "read"', f'of = "{name}"'
    )
    found = probe_of("p", text)
    assert [step.do for step in found.steps] == [Do.LOAD, Do.MEASURE]
    return Probe(found.name, found.title, found.description, found.steps, found.number_of, take)


class _Site:
    """Counts what a state is made of."""

    def __init__(self) -> None:
        self.evicted = 0

    def evict(self, table: str) -> bool:
        self.evicted += 1
        return True


def test_a_state_that_does_not_hold_is_made_again_but_not_what_came_after_it() -> None:
    site = _Site()
    states = States(SimpleNamespace(check_interruption=lambda: None), site, random.Random(1))  # type: ignore[arg-type]
    forget = ProbeStep(Do.FORGET, table="pages")
    states.make(Made(forget, 10))
    states.after(forget)
    tries = states.tries()
    assert next(tries) == 1 and site.evicted == 1
    assert [*tries] == [2, 3] and site.evicted == 3
    states.after(ProbeStep(Do.REQUIRE, table="pages"))
    assert len([*states.tries()]) == 3
    states.after(ProbeStep(Do.EXECUTE, name="scan"))
    assert [*states.tries()] == [1] and site.evicted == 5


def test_new_pages_are_loaded_once() -> None:
    (probe,) = read_probes(["working-set"], ())
    load = next(step for step in probe.steps if step.do is Do.LOAD)
    assert load.new_pages and load.each
    with pytest.raises(ValueError, match='new_pages is for a load with part = "each"'):
        probe_of("mine", PROBE.replace('part = "90% of buffers"', "new_pages = true"))
