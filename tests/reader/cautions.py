"""What a report cautions about on the machine and in the plan, in both languages."""

from __future__ import annotations

import re
from collections import defaultdict

from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book(__name__)


SEVERITIES = ("warning: ", "note: ", "警告: ", "注記: ")


def close(reader: Reader) -> None:
    """That none of the recorded cautions is passed over."""
    said = [
        part
        for part in reader.document.parts
        if part.part in {"Cautions", "注意事項"} and part.text.startswith(SEVERITIES)
    ]
    reader.about = "the cautions"
    recorded = len(reader.campaign.cautions)
    reader.that(len(said) >= recorded, f"{recorded} were recorded, {len(said)} are said")


@BOOK.says()
def caution(reader: Reader, groups: Groups, _part: Part) -> None:
    """Its values are those that were recorded; a place for one that is said again is named after
    it."""
    words = {"warning": ("warning", "警告"), "note": ("note", "注記")}
    pairs = {(re.sub("_again$|_anew$", "", name), text) for name, text in groups.items()}
    said = dict(pairs)
    reader.that(len(said) == len(pairs), "it says two things of one")
    code = said.pop("form")
    known = [
        {**dict(one.values), "severity": words[one.severity.value][reader.language == "ja"]}
        for one in reader.campaign.cautions
        if one.code == code
    ]
    reader.that(any(said.items() <= each.items() for each in known), f"it was {known}")


@BOOK.says()
def measured(reader: Reader, groups: Groups, _part: Part) -> None:
    """The least and the most of the trials that count."""
    metric = groups["form"]
    found = [
        one.metrics[metric]
        for one in reader.campaign.counted.values()
        if one.metrics.get(metric, -1.0) >= 0
    ]
    reader.that(bool(found), "no trial tells")
    if found:
        reader.same(groups["least"], min(found) * 100, "the least")
        reader.same(groups["most"], max(found) * 100, "the most")


@BOOK.says()
def rare_stalls(reader: Reader, groups: Groups, _part: Part) -> None:
    """The seconds of the least observed level, a third of them, and those of the longest start."""
    workload = reader.workload_of(groups["workload"]) or groups["workload"]
    plan = reader.campaign.plan
    cells = {trial.number: (trial.block, trial.cell) for trial in plan.trials}
    starts: dict[object, dict[int, float]] = defaultdict(dict)
    for number, trial in reader.campaign.counted.items():
        block, cell = cells[number]
        if cell.workload == workload:
            context = tuple(level for level in cell.levels if level[0] != plan.study.contrast)
            starts[context][block] = trial.metrics["measured_seconds"]
    observed = min(sum(of_level.values()) for of_level in starts.values())
    longest = max(max(of_level.values()) for of_level in starts.values())
    reader.same(groups["observed"], observed, "the seconds observed")
    reader.same(groups["rare"], observed / 3, "how rare")
    reader.same(groups["longest"], longest, "the longest start")


@BOOK.says()
def never_acted(reader: Reader, groups: Groups, _part: Part) -> None:
    """Each is a parameter of the plan, of checkpoints or of autovacuum, and the trials of the
    workload counted no checkpoint where it is one of checkpoints."""
    names = groups["parameters"].split(", ")
    known = repr(reader.campaign.plan.study)
    reader.that(all(name in known for name in names), "no such parameter")
    workload = reader.workload_of(groups["workload"]) or groups["workload"]
    numbers = {trial.number for trial in reader.campaign.planned(workload)}
    reader.that(bool(numbers), "no such workload")
    checkpoints = sum(
        trial.metrics.get("checkpoints", 0.0)
        for number, trial in reader.campaign.counted.items()
        if number in numbers
    )
    of_checkpoints = [name for name in names if not name.startswith("autovacuum")]
    reader.that(not (of_checkpoints and checkpoints), "checkpoints ran")


@BOOK.says()
def builds_differ_on_top(reader: Reader, groups: Groups, _part: Part) -> None:
    _said_before(reader, "builds-differ", groups)


@BOOK.says()
def built_slow_on_top(reader: Reader, groups: Groups, _part: Part) -> None:
    _said_before(reader, "built-slow", groups)


def _said_before(reader: Reader, code: str, groups: Groups) -> None:
    """A notice of the first screen is a caution's own words."""
    known = [dict(one.values) for one in reader.campaign.cautions if one.code == code]
    reader.that({"builds": groups["builds"]} in known, f"it was {known}")
