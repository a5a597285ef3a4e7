"""The summary before the appendix, what others took of the machine, and the appendix's titles."""

from __future__ import annotations

import math
import re
from statistics import median

from tests.reader.answers import metric_in, says_verdict
from tests.reader.arithmetic import Judgement
from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book(__name__)
WIDE = math.log(100)
"""From where on an interval has no ends in the report."""
INTERVAL = re.compile(
    r"(?P<confidence>[\d.]+) ?%(?: interval |信頼区間 ?)(?P<low>.+?)(?: to |〜)(?P<high>.+)"
)


@BOOK.says(of="item")
def summed(reader: Reader, groups: Groups, _part: Part) -> None:
    _is_so(reader, groups)


@BOOK.says(of="item")
def summed_without(reader: Reader, groups: Groups, _part: Part) -> None:
    _is_so(reader, groups)


def _is_so(reader: Reader, groups: Groups) -> None:
    workload, new = reader.workload_of(groups["workload"]), reader.side_of(groups["new"])
    reader.that(workload is not None and new is not None, "no such comparison")
    if workload is None or new is None:
        return
    reader.equal(
        reader.side_of(groups["old"]) or "",
        reader.campaign.reference(workload, new),
        "the old side",
    )
    lead = reader.said_first.get((workload, new), {}).get("lead") or ""
    found = reader.overall(workload, metric_in(reader, lead, workload), new)
    says_verdict(reader, groups["verdict"], found)
    if "ratio" in groups:
        reader.same(groups["ratio"], math.exp(found.mean), "the ratio", slack=reader.slack)
        _interval(reader, groups["interval"], found)


def _interval(reader: Reader, text: str, found: Judgement) -> None:
    said = INTERVAL.fullmatch(text)
    if said is None:
        wide = re.match(r"([\d.]+) ?%", text)
        reader.that(wide is not None and found.high - found.low > WIDE, f"no interval: {text}")
        reader.same(wide[1] if wide else "", found.confidence * 100, "the confidence")
    else:
        reader.same(said["confidence"], found.confidence * 100, "the confidence")
        for name, end in (("low", found.low), ("high", found.high)):
            times = math.exp(end)
            number = said[name].removesuffix("%").strip()
            reader.same(number, (times - 1) * 100 if "%" in said[name] else times, f"its {name}")


@BOOK.says()
def counted(reader: Reader, groups: Groups, part: Part) -> None:
    first = part.section == 1
    reader.that(first or part.section > 2, "a count out of its place")
    reader.that(int(groups["count"]) > (5 if first else 12), "so few have a line each")


@BOOK.says()
def slower_listed(reader: Reader, groups: Groups, part: Part) -> None:
    """Those that the headings below call slower, or of which a level is."""
    _known(reader, groups, part)


@BOOK.says()
def undrawn(reader: Reader, groups: Groups, part: Part) -> None:
    _known(reader, groups, part)


def _known(reader: Reader, groups: Groups, part: Part) -> None:
    reader.that(part.section == 1, "a list out of its place")
    for title in groups["listed"].split(reader.separator):
        reader.that(reader.workload_of(title) is not None, f"no workload {title}")


@BOOK.says(of="pair")
def others(reader: Reader, groups: Groups, part: Part) -> None:
    reader.that(part.section == 1, "said too late")
    shares = [
        trial.metrics["cpu_other_share"] * 100
        for trial in reader.campaign.counted.values()
        if "cpu_other_share" in trial.metrics
    ]
    for name, value in (("least", min), ("typical", median), ("most", max)):
        reader.same(groups[name], value(shares), f"the {name} share")
