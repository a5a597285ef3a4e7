"""Numbers of one row that follow from one another, whatever the row is about.

A mean lies in the middle of its interval, of the numbers or of their logarithms, unless that is cut
at 0; a column that compares is made of the two before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from tests.reader.document import Table
from tests.reader.language import SLOT, UNIT, UNITS, Printed, printed

ENDS = re.compile(r"(?P<low>.+?)(?: to |〜)(?P<high>.+)")
WITHIN = re.compile(
    r"(?P<mean>[^(]+?) ?\((?:[\d.]+ ?%[^\d]*)?(?P<low>[^()]+?)(?: to |〜)(?P<high>[^()]+?)\).*"
)
ONCE_AROUND = ("once around, µs", "一周あたり、µs")
"""With a sweep of the buffers, less than without one."""
ALL = ("all", "合計", "全体")
"""The row of sums."""
PER_LOAD = {"per connection", "1接続あたり"}
PER_CORE = {"per core", "1コアあたり"}
OF_CORES = {"cores", "CPUコア数"}
COMPARES = re.compile(r"(?:[Nn]ew|B|新)? ?[÷/−] ?(?:old|A|旧)?|Difference|差")
INTERVALS = re.compile(r".*(?:interval|区間)")
FORMS: tuple[Callable[[float], float], ...] = (
    lambda value: value,
    math.log,
    lambda value: math.log1p(value / 100),
)
"""Of what a mean is the middle: of numbers, of ratios, of percentages that ratios differ by."""
ROOM = 0.03
"""The share of an interval by which its middle may be off beside the rounding."""


def number(text: str, heading: str = "") -> Printed | None:
    """The one number of a cell, in base units; None where there is none or more than one."""
    slots = list(SLOT.finditer(text))
    if len(slots) != 1:
        return None
    value = printed(slots[0][0])
    unit = UNIT.search(text) or UNIT.search(heading)
    scale = UNITS.get(unit[1], 1.0) if unit else 1.0
    return Printed(value.value / scale, value.step / scale, value.bound)


def relation_objections(table: Table, cores: int = 0) -> Iterator[str]:
    """``cores``: of the machine, where they are known."""
    if table.rows and table.rows[-1][0] in ALL:
        yield from _sums(table)
    yield from _efficiency(table, cores)
    for row in table.rows:
        for at, cell in enumerate(row):
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
                yield from _comparison(table, at, row)
            elif table.columns[at] in ONCE_AROUND:
                yield from _comparison(table, at, row, turned=True)


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
    elif least.value and not any(_halfway(middle, least, most, form) for form in FORMS):
        yield f"{table.caption} · {table.columns[at]}: {mean} is not in the middle of {cell}"


def _halfway(
    middle: Printed, least: Printed, most: Printed, form: Callable[[float], float]
) -> bool:
    """Whether a mean is as far from both ends, but for rounding; ``form``: of what."""
    try:
        off = form(middle.value) - (form(least.value) + form(most.value)) / 2
        room = sum(
            form(each.value + each.step) - form(each.value) for each in (middle, least, most)
        )
    except ValueError:
        return False
    return abs(off) <= room + ROOM * (form(most.value) - form(least.value))


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


def _comparison(
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
    if not any(_is(said, made) for made in _made(old, new)):
        yield f"{table.caption} · {table.columns[at]}: {row[at]} of {row[at - 2]} and {row[at - 1]}"


def _made(old: Printed, new: Printed) -> Iterator[tuple[float, float]]:
    """What two numbers can be compared to, with the room that their rounding leaves."""
    yield new.value - old.value, new.step + old.step
    for first, second in ((old, new), (new, old)):
        if first.value and second.value:
            ratio = second.value / first.value
            room = abs(ratio) * (first.step / abs(first.value) + second.step / abs(second.value))
            yield ratio, room
            yield ratio - 1, room


def _is(said: Printed, made: tuple[float, float]) -> bool:
    value, room = made
    return abs(said.value - value) <= said.step + room
