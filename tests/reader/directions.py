"""Words that say on which side of another something lies, against the intervals that they tell of.

Each is found by its text of the translation files, and its sign is that of JSON or of a number beside
it: no sentence is opposite to its table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.reader.campaign import HIGHER_IS_BETTER
from tests.reader.document import Part
from tests.reader.language import printed
from tests.reader.reader import Reader
from tests.reader.texts import phrase, told

Contrasts = Sequence[Mapping[str, Any]]
ABOVE = {f"discussion.sides.{form}" for form in ("apart", "parted", "at-last", "met")}
"""Sentences that name a direction at some levels."""
CROSSED = {"discussion.sides.crossed-number", "discussion.sides.crossed-time"}
TAIL = {
    f"{text}{way}{at}": way
    for way in ("longer", "shorter")
    for text, at in (("discussion.tail.", ""), ("discussion.tail.", "-at"), ("paired.tail-", ""))
}
MIXED = ("sentence.mixed", "sentence.no-conclusion-mixed")
BOUNDS = {
    "query-group.bound-least-fast": ("≥", 1),
    "query-group.bound-most-fast": ("≤", 1),
    "query-group.bound-least-long": ("≤", -1),
    "query-group.bound-most-long": ("≥", -1),
}
"""The sign before a speed-up in a table, and whether a sentence tells it or what it is one by."""
FASTER = re.compile(
    r"faster|as fast|less time|速[いく]|短い|性能が|処理時間[はが]⅟|greatest gain|最も改善"
)
SLOWER = re.compile(
    r"slower|as long|more time|遅[いく]|時間は[\d., %]*長い|処理時間[はが][\d.,]+倍|greatest loss|最も劣化"
)
"""What says that a new side is better, or worse."""
LAST = re.compile(r"\. |。|: ")


def direction_objections(
    reader: Reader, part: Part, text: str, contrasts: Contrasts
) -> Iterator[str]:
    """``text``: that of the part, with parts of a time as factors behind ⅟."""
    workload = reader.workload_of(part.part)
    here = [each for each in contrasts if each.get("workload") == workload]
    for key in (*ABOVE, "discussion.mean-apart", *CROSSED) if here else ():
        for said in told(part.text, reader.language, key):
            yield from _of_sides(reader, key, said, here)
    yield from _of_extremes(reader, text, contrasts)
    for key, way in TAIL.items():
        for said in told(part.text, reader.language, key):
            new, old, difference = (
                printed(said[name]) for name in ("new_value", "old_value", "difference")
            )
            if (difference.value > 0) != (way == "longer"):
                yield f"a difference of {said['difference']} is not {way}"
            room = new.step + old.step + difference.step
            if abs(new.value - old.value - difference.value) > room:
                yield f"{said['new_value']} less {said['old_value']} is not {said['difference']}"
    yield from _of_ends(reader, part)
    for key, (sign, power) in BOUNDS.items():
        for said in told(part.text, reader.language, key):
            yield from _of_bound(reader, sign, printed(said["factor"]).value ** power)


def _of_ends(reader: Reader, part: Part) -> Iterator[str]:
    """Objects to ends of the interval of a knee that were not measured."""
    loads = {*reader.campaign.levels("clients"), *reader.campaign.levels("cores")}
    for form in ("below", "above", "within", "is"):
        for said in told(part.text, reader.language, f"discussion.shape.{form}"):
            if not {*re.findall(r"\d+", said["ends"])} <= loads:
                yield f"{said['ends']} was not measured"


def _of_extremes(reader: Reader, text: str, contrasts: Contrasts) -> Iterator[str]:
    known = [each for each in contrasts if each["extremes"]]
    for key in MIXED if known else ():
        for said in told(text, reader.language, key):
            both = said["least"], said["most"]
            if not any(_are_so(both, each) for each in known):
                yield f"the extremes lie on other sides: {both}"


def _of_sides(reader: Reader, key: str, said: re.Match[str], here: Contrasts) -> Iterator[str]:
    new = reader.side_of(LAST.split(said["new"])[-1])
    metric = reader.metric_of(said["metric"])
    for each in here:
        if (each.get("new"), each.get("metric")) != (new, metric):
            continue
        if key in CROSSED:
            wanted = [(1, name) for name in said["higher"].split(reader.separator)]
            wanted += [(-1, name) for name in said["lower"].split(reader.separator)]
        else:
            above = said["direction"] in {
                phrase(reader.language, f"discussion.above.{kind}") for kind in ("number", "time")
            }
            places = said.groupdict()
            name = places.get("apart") or places.get("first") or ""
            wanted = [(1 if above else -1, LAST.split(name)[-1])]
        for sign, name in wanted:
            signs = {_sign(each)} if key == "discussion.mean-apart" else _signs(reader, each, name)
            if signs and sign not in signs:
                yield f"the sign is {signs}, not {sign} {name}"


def _signs(reader: Reader, contrast: Mapping[str, Any], name: str) -> set[int]:
    """On which sides of equality the intervals are of the levels that are called so."""
    return {
        _sign(level)
        for level in contrast["levels"]
        if level["interval"]
        and any(name == reader.level_text(*pair) for pair in level["levels"].items())
    }


def _sign(effect: Mapping[str, Any]) -> int:
    low, high = effect["interval"] or (0.0, 2.0)
    return int(low > 1) - int(high < 1)


def _are_so(both: Sequence[str], contrast: Mapping[str, Any]) -> bool:
    """Whether the words of two extremes are on the sides of theirs."""
    for text, extreme in zip(both, contrast["extremes"], strict=False):
        words = bool(FASTER.search(text)), bool(SLOWER.search(text))
        better = (extreme["ratio"] > 1) == (contrast["metric"] in HIGHER_IS_BETTER)
        if words[0] != words[1] and words[0] != better:
            return False
    return True


def _of_bound(reader: Reader, sign: str, speed_up: float) -> Iterator[str]:
    """Objects where no table has a speed-up that is bounded from this side."""
    cells = [cell for table in reader.document.tables for row in table.rows for cell in row]
    bounded = re.compile(rf"{sign} (?:[<>] )?([\d.,]+)")  # one beyond reach is open itself
    known = [printed(found[1]) for cell in cells if (found := bounded.fullmatch(cell))]
    if not any(
        abs(each.value / speed_up - 1) < 0.5 * each.step / each.value + 0.01
        for each in known
        if each.value
    ):
        yield f"no speed-up is {sign} {speed_up:.3g}"
