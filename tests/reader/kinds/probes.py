"""The sentences about probes, against what their trials measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from statistics import fmean

from teiten.kinds.probes.measurement import PageOrigin, ProbeMeasurement, measurement_of, share_of
from teiten.kinds.probes.model import BLOCK, PROBE, probes_of
from teiten.model.trial import Trial
from tests.reader.arithmetic import t_quantile
from tests.reader.document import Part, Table
from tests.reader.language import Book, Groups, count, printed
from tests.reader.reader import Reader

BOOK = Book(__name__)
SIZE = "guc:shared_buffers"
UNITS = {"KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
CLIFF = 0.05
OPEN = (
    *("inconclusive", "no conclusion", "equivalent", "not comparable"),
    *("判定できない", "結論は導けない", "±", "比較できない"),
)
Measured = dict[int, tuple[ProbeMeasurement, Mapping[str, float]]]
"""By block."""


def close_to(reader: Reader, text: str, value: float, factor: float, what: str) -> None:
    """Of a text ``12.3 ms``, ``1.5 GiB``: rounded to its last digit."""
    reader.same(text, value / factor, what, slack=1e-6)


def size_fits(text: str, value: float) -> bool:
    number, unit = text.replace("\u00a0", " ").rsplit(" ", 1)
    return printed(number).is_of(value / UNITS[unit], slack=1e-6)


# --- what the trials say ---------------------------------------------------------------------


def workload_of(reader: Reader, probe: str) -> str:
    for one in reader.campaign.workloads():
        if one.kind == "probes" and probe in [each.name for each in probes_of(one).probes]:
            return one.name
    raise AssertionError(probe)


def probe_of(reader: Reader, text: str) -> str | None:
    """The probe whose title stands there, with or without its context behind it."""
    for one in reader.campaign.workloads():
        for each in probes_of(one).probes if one.kind == "probes" else ():
            title = reader.own(each.title)
            if re.fullmatch(re.escape(title) + r"(?: ?\(.*[\d.]+\))?", text):
                return each.name
    return None


def server_in(reader: Reader, *texts: str) -> str | None:
    """The server that a heading names; None with one server alone."""
    for level, version in reader.versions.items():
        if any(version in text for text in texts):
            return level
    levels = list(reader.versions)
    return levels[0] if len(levels) == 1 else None


def measured(reader: Reader, probe: str, server: str | None, side: str) -> Measured:
    found: Measured = {}
    for one in reader.campaign.plan.trials:
        levels = dict(one.cell.levels)
        trial = reader.campaign.counted.get(one.number)
        if (levels.get(PROBE), levels.get("server"), levels.get(SIZE)) != (probe, server, side):
            continue
        if isinstance(trial, Trial):
            measurement = measurement_of(trial.facts)
            assert measurement is not None
            found[one.block] = measurement, trial.metrics
    return found


def sides(reader: Reader, probe: str, server: str | None) -> dict[str, Measured]:
    every = {one: measured(reader, probe, server, one) for one in reader.campaign.levels(SIZE)}
    return {side: found for side, found in every.items() if found}


def geometric(found: Measured) -> float:
    return math.exp(fmean(math.log(one["probe_seconds"]) for _, one in found.values()))


def each_seconds(found: ProbeMeasurement, metrics: Mapping[str, float]) -> float:
    """Of the mean statement; of what times none, the trial's number."""
    seconds = [statement.seconds for step in found.measured for statement in step.statements]
    return fmean(seconds) if seconds else metrics["probe_seconds"]


# --- each probe ------------------------------------------------------------------------------


@BOOK.says()
def statements_drawn(reader: Reader, groups: Groups, part: Part) -> None:
    probe = probe_of(reader, part.topic)
    if probe is None:
        reader.that(False, "no such probe")
        return
    found = sides(reader, probe, server_in(reader, part.topic)).values()
    trials = [one for side in found for one, _ in side.values()]
    drawn = sum(len(step.statements) for trial in trials for step in trial.measured)
    drawn += sum(len(trial.checkpoints) for trial in trials)
    reader.equal(str(count(groups["count"])), drawn, "the statements")


@BOOK.says()
def effect_decided(reader: Reader, groups: Groups, part: Part) -> None:
    effect(reader, groups, part)
    reader.that(printed(groups["low"]).value >= 0, "the interval holds nothing")


@BOOK.says()
def effect_undecided(reader: Reader, groups: Groups, part: Part) -> None:
    effect(reader, groups, part)
    reader.that(printed(groups["low"]).value <= 0, "the interval excludes nothing")


def effect(reader: Reader, groups: Groups, part: Part) -> None:
    """Which sides are the ends, by how much, and how sure that is."""
    added = effect_without(reader, groups, part)
    if added is None or len(added) < 2:
        reader.that(False, "no interval of so few blocks")
        return
    mean, number = fmean(added), len(added)
    deviation = math.sqrt(sum((one - mean) ** 2 for one in added) / (number - 1))
    alpha = reader.measure.alpha / reader.campaign.comparisons_of_probes
    half = t_quantile(1 - alpha / 2, number - 1) * deviation / math.sqrt(number)
    room = 0.02 * half * 1e6 + 1e-6
    reader.same(groups["low"], (mean - half) * 1e6, "the interval's lower end", slack=room)
    reader.same(groups["high"], (mean + half) * 1e6, "its upper end", slack=room)


@BOOK.says()
def effect_of_few(reader: Reader, groups: Groups, part: Part) -> None:
    added = effect_without(reader, groups, part)
    reader.that(added is None or len(added) < 2, "an interval can be told of several blocks")


def effect_without(reader: Reader, groups: Groups, part: Part) -> list[float] | None:
    """What each block adds."""
    probe = probe_of(reader, part.topic)
    if probe is None:
        reader.that(False, "no such probe")
        return None
    found = sides(reader, probe, server_in(reader, part.topic))
    means = {side: geometric(one) for side, one in found.items()}
    worst, best = groups["worst"], groups["best"]
    reader.equal(worst, max(means, key=lambda one: means[one]), "the slowest side")
    reader.equal(best, min(means, key=lambda one: means[one]), "the fastest side")
    reader.equal(groups["pair"], f"{worst} ÷ {best}", "the pair")
    if {worst, best} - means.keys():
        return None
    blocks = found[worst].keys() & found[best].keys()
    added = [each_seconds(*found[worst][at]) - each_seconds(*found[best][at]) for at in blocks]
    close_to(reader, groups["longer"], fmean(added), 1e-6, "what it takes longer")
    slower = re.search(r"slower|遅い", groups["verdict"]) is not None
    faster = re.search(r"faster|速い", groups["verdict"]) is not None
    reader.that(not faster or slower, "the slowest side is not faster")
    return added


# --- versions --------------------------------------------------------------------------------


def of_servers(reader: Reader) -> list[Table]:
    captions = ("Servers against one another", "サーバ間の比較")
    return [table for table in reader.document.tables if table.caption.endswith(captions)]


@BOOK.says()
def comparisons(reader: Reader, groups: Groups, part: Part) -> None:
    """As many as its table has rows."""
    place = (part.section, part.part)
    tables = [table for table in of_servers(reader) if (table.section, table.part) == place]
    if len(tables) != 1:
        reader.that(False, "not one table of the servers")
        return
    rows = tables[0].rows
    reader.equal(str(count(groups["of"])), len(rows), "the comparisons")
    decided = [row for row in rows if not row[7].startswith(OPEN)]
    reader.equal(str(count(groups["count"])), len(decided), "the differences")


@BOOK.says()
def difference(reader: Reader, groups: Groups, _part: Part) -> None:
    """At every size that is named, the newer one is what is said of it."""
    title = re.sub(r": the \w+ itself$|\(「\w+」自体の時間\)$", "", groups["what"])
    probe, executed = probe_of(reader, title), title != groups["what"]
    new, old = (server_in(reader, groups[one]) for one in ("new", "old"))
    if probe is None or new is None or old is None:
        reader.that(False, "no such probe or server")
        return
    for way, side in _ways(groups["ways"]):
        numbers = [_time(measured(reader, probe, one, side), executed) for one in (new, old)]
        reader.that((numbers[0] > numbers[1]) is (way == "slower"), f"at {side} it is not {way}")


def _ways(text: str) -> Iterator[tuple[str, str]]:
    for one in re.split(r"[;;]", text):
        way = "slower" if re.search("slower|遅い", one) else "faster"
        yield from ((way, side) for side in re.findall(r"\d+(?:\.\d+)?%", one))


def _time(found: Measured, executed: bool) -> float:
    if not executed:
        return geometric(found)
    return math.exp(fmean(math.log(one.executed[0].seconds) for one, _ in found.values()))


@BOOK.says()
def seen(reader: Reader, groups: Groups, _part: Part) -> None:
    """A ring that is called larger is, and I/O workers have read."""
    if re.search("ring of buffers|リングバッファ", groups["changes"]):
        kept = [
            {
                step.where.in_buffers
                for one, _ in found.values()
                for step in one.seen
                if step.step == "scan" and step.moment == "after"
            }
            for server in reader.versions
            for found in sides(reader, "after-scan", server).values()
        ]
        reader.that(len(set(map(frozenset, kept))) > 1, "the ring is the same")
    if "io_method" in groups["changes"]:
        workers = {
            bool(step.worker_bytes)
            for server in reader.versions
            for found in sides(reader, "after-scan", server).values()
            for one, _ in found.values()
            for step in one.io
        }
        reader.that(workers == {True, False}, "I/O workers read at both servers, or at none")


@BOOK.says()
def only_traces(reader: Reader, groups: Groups, part: Part) -> None:
    """They stand in the table below, in a row without a change."""
    rows = [
        row
        for table in reader.document.tables
        if (table.section, table.part) == (part.section, part.part) and len(table.columns) == 7
        for row in table.rows
    ]
    for trace in groups["traces"].split(reader.separator):
        reader.that(any(row[3] == trace for row in rows), f"{trace} is in no table")


# --- the recommendation ----------------------------------------------------------------------


@BOOK.says()
def cliffs(reader: Reader, groups: Groups, part: Part) -> None:
    """Where all trials read from the disk, and where none does."""
    server = server_in(reader, part.part, part.topic)
    for one in re.split(r"[;;] ?", groups["listed"]):
        side = re.match(r"\d+(?:\.\d+)?%", one)
        sizes = re.findall(r"[\d.]+ [KMG]iB", one)
        if side is None or len(sizes) != 2:
            continue
        trials = [each for each, _ in measured(reader, "working-set", server, side[0]).values()]
        for size, fits in zip(sizes, (True, False), strict=True):
            shares = [
                share_of(step.statements, PageOrigin.DISK) or 0.0
                for trial in trials
                for step in trial.measured
                if size_fits(size, step.pages * BLOCK)
            ]
            reader.that(bool(shares), f"{size} was not measured")
            reader.that(all((share < CLIFF) is fits for share in shares), f"not so at {size}")


@BOOK.says()
def rooms(reader: Reader, groups: Groups, part: Part) -> None:
    """What is left of the memory, and how many of such connections fit."""
    for side, left in _rooms(reader, groups["listed"], part):
        numbers = re.search(r"([\d.]+ [KMG]iB)\D+([\d.]+ [KMG]iB|\d+)\D+?([\d.]+)", side)
        reader.that(numbers is not None and size_fits(numbers[1], left), "what is left")


@BOOK.says()
def out_of_memory(reader: Reader, groups: Groups, part: Part) -> None:
    """More is needed than is left."""
    for side, left in _rooms(reader, groups["listed"], part):
        sizes = re.findall(r"[\d.]+ [KMG]iB", side)
        values = [printed(size).value * UNITS[size.rsplit(" ", 1)[1]] for size in sizes]
        reader.that(len(values) == 2 and max(values) > left, "the memory suffices")
        reader.that(any(size_fits(size, left) for size in sizes), "what is left")


def _rooms(reader: Reader, listed: str, part: Part) -> Iterator[tuple[str, float]]:
    """Of each size: its words, and the memory beside it."""
    server = server_in(reader, part.part, part.topic)
    for one in re.split(r"[;;] ?", listed):
        side = re.match(r"\d+(?:\.\d+)?%", one)
        if side is None:
            reader.that(False, "no size")
            continue
        trials = list(measured(reader, "buffer-read", server, side[0]).values())
        if trials:
            found = trials[0][0]
            yield one[side.end() :], float(found.memory - found.shared_buffers)
