"""What sentences say of functions and of their shares of the CPU, against the table below them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.reader.document import Part, Table
from tests.reader.language import NUMBER, Printed, printed
from tests.reader.reader import Reader
from tests.reader.texts import phrase, told

CHANGE = re.compile(rf"({NUMBER})(?: ?\(({NUMBER})(?: to |〜)({NUMBER})\))?")
"""``+87 (+75 to +99)``"""
OLD, NEW = 4, 5
SELF, TOTAL, SHARE = 3, 6, 7
"""The columns of both sides with callees, and of the differences: of a function itself, with what it
calls, and of the shares."""
NAMED = {"root.explained-more": TOTAL, "root.explained-less": TOTAL, "root.own": SELF}
SIGNED = ("root.explained-", "root.spread-")
MOST_OFF = 0.6
"""By how many of their last digits two rounded numbers may be off."""


def function_objections(reader: Reader, part: Part) -> Iterator[str]:
    for key in (*NAMED, "root.spread-more", "root.spread-less"):
        for said in told(part.text, reader.language, key):
            table = _table_below(reader, part)
            whole = _row(table, phrase(reader.language, "root.whole")) if table else None
            if table is None or whole is None:
                yield "no table of functions"
                return
            amount = printed(whole[TOTAL])
            if key.startswith(SIGNED):
                is_more = key.endswith("more")
                if not _near(printed(said["amount"]).value, abs(amount.value), amount.step):
                    yield f"all functions differ by {whole[TOTAL]}, not {said['amount']}"
                if (amount.value > 0) != is_more:
                    yield f"{whole[TOTAL]} is not {'more' if is_more else 'less'}"
            if key in NAMED:
                yield from _of_function(said, table, whole, NAMED[key])


def _of_function(
    said: re.Match[str], table: Table, whole: tuple[str, ...], column: int
) -> Iterator[str]:
    """What a function has of the difference, and what its share was and became."""
    row = _row(table, said["function"])
    if row is None:
        yield f"no function {said['function']}"
        return
    for name, of, cost in (
        ("part", row[column], whole[TOTAL]),
        ("before", row[OLD], whole[OLD]),
        ("after", row[NEW], whole[NEW]),
    ):
        share, room = _quotient(printed(of), printed(cost))
        number = printed(said[name])
        if not _near(number.value, 100 * share, number.step + 100 * room):
            yield f"{name} is {100 * share:.4g} %, not {said[name]}"
    ends = CHANGE.match(row[SHARE])
    if ends and re.findall(NUMBER, said["points"]) != list(ends.groups()[1:]):
        yield f"points are {row[SHARE]}, not {said['points']}"


def _near(number: float, value: float, room: float) -> bool:
    return abs(number - value) <= MOST_OFF * room + 1e-9


def _quotient(of: Printed, whole: Printed) -> tuple[float, float]:
    if not whole.value:
        return 0.0, float("inf")
    share = of.value / whole.value
    return share, abs(share) * (
        of.step / max(abs(of.value), of.step) + whole.step / abs(whole.value)
    )


def _table_below(reader: Reader, part: Part) -> Table | None:
    """The next table of functions after a sentence."""
    begins = phrase(reader.language, "root.functions-caption").split("{")[0]
    parts = reader.document.parts
    at = next((place for place, each in enumerate(parts) if each is part), len(parts))
    tables = (each.table for each in parts[at:] if each.table is not None)
    return next(
        (each for each in tables if reader.of_workload(each.caption)[1].startswith(begins)), None
    )


def _row(table: Table, function: str) -> tuple[str, ...] | None:
    return next((row for row in table.rows if re.split(r" ?\(", row[0])[0] == function), None)
