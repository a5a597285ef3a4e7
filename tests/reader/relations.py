"""Numbers of one row that follow from one another, whatever the row is about.

A mean lies in the middle of its interval, of the numbers or of their logarithms, unless that is cut
at 0; a column that compares is made of the two before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from tests.reader.document import Table
from tests.reader.language import REACH, SLOT, UNIT, Printed, in_base, printed

ENDS = re.compile(r"(?P<low>.+?)(?: to |〜)(?P<high>.+)")
BOUND = re.compile(r"(?<![\w÷<>] )(?<![\w<>])[<>] ?\d[\d,]*(?:\.\d+)?")
WITHIN = re.compile(
    r"(?P<mean>[^(]+?) ?\((?:[\d.]+ ?%[^\d]*)?(?P<low>[^()]+?)(?: to |〜)(?P<high>[^()]+?)\).*"
)
ONCE_AROUND = ("once around, µs", "一周あたり(µs)")
"""With a sweep of the buffers, less than without one."""
GROUPS = ("Groups of queries", "クエリの分類ごと")
"""Captions of tables that have a row over all queries for each server."""
ROOMS = ("What each size leaves", "各サイズで残るメモリ")
OFF = 0.01
"""The share of the memory by which the rounding of its parts may be off."""
PART = re.compile(r"(\d+)/(\d+) ≈ ([\d.]+)")
ALL = ("all", "合計", "全体")
"""The row of sums."""
PER_LOAD = {"per connection", "1接続あたり"}
PER_CORE = {"per core", "1コアあたり"}
OF_CORES = {"cores", "CPUコア数"}
COMPARES = re.compile(r"(?:[Nn]ew|B|新)? ?[÷/−] ?(?:old|A|旧)?|Difference|差|times|倍率|ratio|比")
DIFFERENCE = re.compile(r"−|[Dd]ifference|差")
INTERVALS = re.compile(r".*(?:interval|区間)")
MEASURED = re.compile(r"(?:measured|測定値は) ?(?P<share>[+−-][\d,.]*\d) ?%")
CUT = ("doubled at", "2倍になる個数")
"""Intervals of these end at the numbers measured, at the latest."""


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


FORMS: tuple[Callable[[float], float], ...] = (
    float,
    _log,
    lambda value: _log(1 + value),
    lambda value: _log(1 - value),
    lambda value: _log(1 + value / 100),
)
"""Of what a mean is the middle: of numbers, of ratios, of shares and percentages that ratios differ
by."""


def number(text: str, heading: str = "") -> Printed | None:
    """The one number of a cell, in base units; None where there is none or more than one."""
    slots = list(SLOT.finditer(text))
    if len(slots) != 1:
        return None
    unit = UNIT.search(text) or UNIT.search(heading)
    return in_base(slots[0][0], unit[1] if unit else "")


def relation_objections(table: Table, cores: int = 0) -> Iterator[str]:
    """``cores``: of the machine, where they are known."""
    if table.rows and table.rows[-1][0] in ALL:
        yield from _sums(table)
    yield from _efficiency(table, cores)
    yield from _rooms(table)
    for row in table.rows:
        yield from _measured(table, row)
        for at, cell in enumerate(row):
            yield from beyond_reach(cell)
            part = PART.fullmatch(cell)
            if part and not printed(part[3]).is_of(int(part[1]) / int(part[2])):
                yield f"{table.caption}: {cell}"
            within = WITHIN.fullmatch(cell)
            if within is not None:
                yield from halfway_objections(
                    table, at, cell, within["mean"], within["low"], within["high"]
                )
            ends = ENDS.fullmatch(cell) if at and INTERVALS.fullmatch(table.columns[at]) else None
            if ends is not None:
                yield from halfway_objections(
                    table, at, cell, row[at - 1], ends["low"], ends["high"]
                )
            if at > 2 and COMPARES.fullmatch(table.columns[at]):
                yield from comparison_objections(table, at, row)
            elif table.columns[at] in ONCE_AROUND:
                yield from comparison_objections(table, at, row, turned=True)


def beyond_reach(text: str) -> Iterator[str]:
    """Objects to a bound at which no number of a report ends."""
    for bound in BOUND.findall(text):
        if printed(bound).value not in REACH:
            yield f"no bound is {bound}: {text}"


def halfway_objections(
    table: Table, at: int, cell: str, mean: str, low: str, high: str
) -> Iterator[str]:
    three = [number(text) for text in (mean, low, high)]
    if None in three or any(each.bound for each in three if each is not None):
        return
    middle, least, most = (each for each in three if each is not None)
    room = max(middle.step, least.step, most.step)
    if not least.value - room <= middle.value <= most.value + room:
        yield f"{table.caption} · {table.columns[at]}: {mean} is not within {cell}"
    elif table.columns[at] in CUT:
        return
    elif least.value and not is_middle(middle, least, most, steps=1.0):
        yield f"{table.caption} · {table.columns[at]}: {mean} is not in the middle of {cell}"


def is_middle(mean: Printed, low: Printed, high: Printed, *, steps: float = 0.5) -> bool:
    """Whether a mean is as far from both ends, or its logarithm is, but for so many ``steps`` of
    rounding. A share that is rounded to a whole one may have the end of all logarithms."""
    for form in FORMS:
        (m0, m1), (l0, l1), (h0, h1) = (
            sorted(form(each.value + off * each.step) for off in (-steps, steps))
            for each in (mean, low, high)
        )
        if -math.inf in (m1, l1, h1):
            continue
        if 2 * m0 <= l1 + h1 + 1e-9 and l0 + h0 <= 2 * m1 + 1e-9:
            return True
    return False


def _measured(table: Table, row: Sequence[str]) -> Iterator[str]:
    """Objects to a difference that a verdict says was measured, and the row's ratio is not."""
    said = next(filter(None, map(MEASURED.search, row)), None)
    ratios = [
        ratio
        for at, heading in enumerate(table.columns)
        if at and INTERVALS.fullmatch(heading) and (ratio := number(row[at - 1])) is not None
    ]
    if said is None or len(ratios) != 1 or ratios[0].value <= ratios[0].step or ratios[0].bound:
        return
    ratio, share = ratios[0], printed(said["share"])
    ends = [ratio.value + off * ratio.step for off in (-0.5, 0.5)]
    room = 0.5 * share.step - 1e-9
    for low, high in (
        sorted(100 * (end - 1) for end in ends),
        sorted(100 / end - 100 for end in ends),
    ):
        if low - room <= share.value <= high + room:
            return
    yield f"{table.caption}: {said[0]} is not the ratio {ratio.value}"


def _sums(table: Table) -> Iterator[str]:
    """A last row that sums the others, and a first number that sums the others of its row."""
    counts = [[int(cell) if cell.isdigit() else None for cell in row[1:]] for row in table.rows]
    for row in counts:
        if row and None not in row and row[0] != sum(each or 0 for each in row[1:]):
            yield f"{table.caption}: {row[0]} is no sum of {row[1:]}"
    for heading, column in zip(table.columns[1:], zip(*counts, strict=True), strict=True):
        if None not in column and column[-1] != sum(each or 0 for each in column[:-1]):
            yield f"{table.caption} · {heading}: {column[-1]} is no sum of {column[:-1]}"


def _efficiency(table: Table, cores: int) -> Iterator[str]:
    """Throughput for each connection or core, as a share of that at the least load of a side."""
    tps = table.column("TPS")
    for at, heading in enumerate(table.columns):
        if tps is None or heading not in PER_LOAD | PER_CORE or not cores:
            continue
        busy = heading in PER_CORE and table.columns[0] not in OF_CORES
        first: dict[tuple[str, ...], tuple[Printed, float]] = {}
        for row in table.rows:
            load, value, said = number(row[0]), number(row[tps]), number(row[at])
            if load is None or value is None or said is None or not value.value:
                continue
            used = min(load.value, float(cores)) if busy else load.value
            least, at_least = first.setdefault(row[1:tps], (value, used))
            share = value.value / least.value * at_least / used
            room = share * (value.step / value.value + least.step / least.value)
            if abs(said.value - share) > said.step + room:
                yield f"{table.caption} · {heading}: {row[at]} is {share}"


def _rooms(table: Table) -> Iterator[str]:
    """What buffers leave of the memory, how many connections fit into it, and what these leave."""
    memory = number(table.caption) if table.caption.startswith(ROOMS) else None
    for row in table.rows if memory is not None else ():
        assert memory is not None
        buffers, left, each, fit, needed, cache = (
            number(row[at]) if at < len(row) else None for at in range(1, 7)
        )
        made = [(left, memory.value, buffers)]
        if left is not None and needed is not None and needed.value < left.value:
            made.append((cache, left.value, needed))
        for said, whole, part in made:
            if said and part and abs(whole - part.value - said.value) > OFF * whole:
                yield f"{table.caption}: {row} is no {whole} less {part.value}"
        if (
            left
            and each
            and fit
            and not 0 <= left.value / each.value - fit.value < 1 + OFF * fit.value
        ):
            yield f"{table.caption}: {fit.value} of {each.value} do not fit into {left.value}"


def comparison_objections(
    table: Table, at: int, row: Sequence[str], *, turned: bool = False
) -> Iterator[str]:
    """The numbers of both sides, and what is said of them in the next column. ``turned``: the
    difference is of the first, less the second."""
    cells = [
        number(row[place].split("(")[0], table.columns[place]) for place in (at - 2, at - 1, at)
    ]
    if None in cells or any(each.bound for each in cells if each is not None):
        return
    old, new, said = (each for each in cells if each is not None)
    if turned:
        old, new = new, old
    is_difference = DIFFERENCE.search(table.columns[at]) or turned
    if not any(_is(said, made) for made in (_differences if is_difference else _ratios)(old, new)):
        yield f"{table.caption} · {table.columns[at]}: {row[at]} of {row[at - 2]} and {row[at - 1]}"


def _differences(old: Printed, new: Printed) -> Iterator[tuple[float, float]]:
    """How far two numbers are apart, with the room that their rounding leaves."""
    yield new.value - old.value, new.step + old.step


def _ratios(old: Printed, new: Printed) -> Iterator[tuple[float, float]]:
    """How many times, or by which share, one is the other, with the room."""
    for first, second in ((old, new), (new, old)):
        if first.value and second.value:
            ratio = second.value / first.value
            room = abs(ratio) * (first.step / abs(first.value) + second.step / abs(second.value))
            yield ratio, room
            yield ratio - 1, room


def _is(said: Printed, made: tuple[float, float]) -> bool:
    value, room = made
    return abs(said.value - value) <= said.step + room
