"""The tables of contrasts: what sentences are checked against, and themselves against trials."""

from __future__ import annotations

import math
import re

from teiten.model.plan import Context
from tests.reader.arithmetic import Judgement
from tests.reader.document import Table
from tests.reader.language import UNITS, printed, unit_of_caption
from tests.reader.named import judged_metrics
from tests.reader.reader import Reader
from tests.reader.relations import comparison_objections
from tests.reader.texts import phrase

INTERVAL = ("interval", "信頼区間")
PAIRS = ("pairs", "組数")
VERDICT = ("verdict", "判定")
SPEED_UP = ("speed-up", "性能向上比")
OVERALL = {"all levels", "all queries", "全条件", "全クエリ"}


MOST_DETECTABLE = 9.0
"""A difference that is greater is not worth telling."""
WORDS = {"small": "different-but-small", "alone": "unjudged"}


def plain_number(value: float) -> str:
    """A declared number, with no digit more than it has."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def verdict_text(reader: Reader, found: Judgement) -> str:
    """The one way in which a verdict is said; of what supports no conclusion up to the percentage."""
    language = reader.language
    if not reader.campaign.plan.study.conclusive:
        key = "no-conclusion" if found.reason else "no-conclusion-measured"
        return phrase(language, f"verdict.{key}").split("{percent}")[0]
    key = WORDS.get(found.word, found.word) + "-at-least" * found.beyond
    percent = f"{plain_number(found.delta * 100)}{' %' if language == 'en' else '%'}"
    return phrase(language, f"verdict.{key}").format(delta=percent)


def says_verdict(reader: Reader, text: str, found: Judgement) -> bool:
    """Whether a heading or a cell is the verdict; of no conclusion, what was measured."""
    expected = verdict_text(reader, found)
    if reader.campaign.plan.study.conclusive or found.reason:
        return text == expected
    share = text.removeprefix(expected).rstrip(")").replace("%", "").strip()
    measured = re.search(r"\d", share) and printed(share).is_of((math.exp(found.mean) - 1) * 100)
    return text.startswith(expected) and bool(measured)


REASONS = (
    *("too-few-pairs", "incomplete-blocks", "not-positive", "identical-pairs", "left-behind"),
    *("over-timeout", "not-averaged", "levels-differ", "infinite-interval"),
)


def check_answers(reader: Reader) -> None:
    """Of the first page: that each heading is a verdict of its workload, no reason is one that no
    contrast has, and an answer that is a mean over servers names them."""
    campaign, language = reader.campaign, reader.language
    versions = reader.separator.join(reader.versions.values())
    pooled = phrase(language, "sentence.pooled").format(servers=versions).strip()
    reasons = {
        each.reason
        for each_workload in campaign.workloads()
        for each in _answers(reader, each_workload.name)
    }
    pairs = [{new, campaign.reference(name, new)} for name, new in campaign.answers()]
    named = re.escape(reader.factor_text(campaign.contrast))
    headings = means = 0
    for part in reader.document.parts:
        reader.about = part.text
        title, _, said = part.text.rpartition(": ")
        workload = reader.workload_of(title)
        if part.section == 1 and part.kind == "heading" and workload is not None:
            headings += 1
            side = re.search(r"\(([^()]+)\)$", title)
            known_side = side is None or reader.side_of(side[1]) in campaign.sides(workload)
            whole = title in {reader.own(each.title) for each in campaign.workloads()}
            reader.that(whole or known_side, "no such side")
            known = _answers(reader, workload)
            reader.that(any(says_verdict(reader, said, each) for each in known), "another verdict")
        elif part.section == 1 and part.kind == "text":
            means += pooled in part.text
            sides = re.findall(named + r" = (\d+%?)", part.text)
            reader.that(len(sides) != 2 or {*sides} in pairs, f"the sides are {pairs}")
            told = {key for key in REASONS if phrase(language, f"reason.{key}") in part.text}
            reader.that(told <= reasons, f"the reasons are {sorted(reasons)}")
    several = campaign.contrast != "server" and len(campaign.levels("server")) > 1
    reader.about = "means over servers"
    reader.that(means == headings * several, f"{means} of {headings} name them")


def _answers(reader: Reader, workload: str) -> list[Judgement]:
    return [
        reader.campaign.judged(workload, metric, new).overall
        for new in reader.campaign.sides(workload)[1:]
        for metric in judged_metrics(reader.campaign, workload)
    ]


def contrast_tables(reader: Reader) -> list[tuple[Table, str, str, str]]:
    """Those of a contrast: the table, its workload, its metric and its new side. They end with the
    verdicts, or with the pairs where the metric has none."""
    found = []
    for table in reader.document.tables:
        place, last = table.column(*INTERVAL), len(table.columns) - 1
        is_one = last in (table.column(*VERDICT), table.column(*PAIRS))
        if not is_one or place is None or place < 3:
            continue
        workload, rest = reader.of_workload(without_sides(table.caption))
        metric = reader.metric_of(rest) if workload else None
        new = reader.side_of(table.columns[place - 2])
        old = reader.side_of(table.columns[place - 3])
        if metric and new and old:
            found.append((table, workload, metric, new))
    return found


def columns_read(table: Table) -> set[int]:
    """The columns of a contrast's table that ``check_tables`` reads."""
    at = table.column(*INTERVAL) or 0
    further = {table.column(*names) for names in (PAIRS, SPEED_UP)} - {None}
    return {*range(at + 1), *further, len(table.columns) - 1}


def without_sides(caption: str) -> str:
    """A caption without the sides, which stand behind it in brackets where there are several."""
    return re.sub(r" ?\((?:[^()]|\([^()]*\))* ÷ .*\)$", "", caption)


def _context_of_row(
    reader: Reader, workload: str, table: Table, row: tuple[str, ...], at: int
) -> Context:
    """The context that the first columns of a row name."""
    named = dict(zip(table.columns[: at - 3], row, strict=False))
    for context in reader.campaign.contexts(workload):
        if all(
            named.get(reader.factor_text(factor)) in {None, *reader.names[factor][level]}
            for factor, level in context
        ):
            return context
    raise LookupError(f"no context of {row}")


def check_tables(reader: Reader) -> None:
    """Every number of the contrasts' tables, from the trials."""
    for table, workload, metric, new in contrast_tables(reader):
        judged = reader.campaign.judged(workload, metric, new)
        at = table.column(*INTERVAL) or 0
        for row in table.rows:
            reader.about = f"{table.caption}: {' | '.join(row)}"
            if row[0] in OVERALL:
                _row(reader, table, row, at, judged.overall)
                said = re.findall(r"\d+", row[table.column(*PAIRS) or 0])
                pairs = judged.overall.pairs * (len(judged.levels) - len(judged.left_out))
                reader.that(len(said) < 2 or int(said[1]) == pairs, f"{pairs} pairs")
                continue
            try:
                context = _context_of_row(reader, workload, table, row, at)
            except LookupError:
                reader.that(False, "no such level")
                continue
            _row(reader, table, row, at, judged.levels[context])
            sides = (judged.old, new)
            over = metric == "query_seconds" and reader.campaign.over(workload, context, sides)
            counts = {judged.levels[context].pairs}
            for place, side in zip((at - 3, at - 2), sides, strict=True):
                values = list(reader.campaign.values(workload, context, side, metric).values())
                counts.add(len(values))
                if not over:
                    _mean(
                        reader, row[place], values, UNITS.get(unit_of_caption(table.caption), 1.0)
                    )
            if len(counts) == 1 and not over:  # the ratio of those means, also without an interval
                reader.objections += comparison_objections(table, at - 1, row)
        rows = [row for row in table.rows if row[0] not in OVERALL]
        reader.that(len(rows) == len(judged.levels), f"{table.caption}: not all levels")


def _mean(reader: Reader, text: str, values: list[float], unit: float) -> None:
    """Geometric, as the ratio beside it."""
    if not values:
        reader.equal(text, "—", "a mean of nothing")
        return
    reader.that(text != "—", "a mean is missing")
    if text != "—":
        mean = math.exp(sum(map(math.log, values)) / len(values)) if min(values) > 0 else 0.0
        reader.same(text, mean * unit, "the geometric mean")


def _row(reader: Reader, table: Table, row: tuple[str, ...], at: int, found: Judgement) -> None:
    counted = re.match(r"(\d+)", row[table.column(*PAIRS) or 0])
    reader.equal(counted[1] if counted else "", found.pairs, "the number of pairs")
    seen = re.sub(r", detectable from .*|\([^(]*検出可能\)", "", row[-1])
    if table.column(*VERDICT) is None:
        reader.that(not found.worded, "a verdict is missing")
    else:
        reader.that(says_verdict(reader, seen, found), f"the verdict is {found.word}")
    if found.reason:
        reader.equal(row[at], "—", "an interval without one")
        return
    low, high = re.split(" to |〜", row[at])
    turned = [(row[place], -found.mean)] if (place := table.column(*SPEED_UP)) else []
    for text, value in ((row[at - 1], found.mean), (low, found.low), (high, found.high), *turned):
        reader.same(text, math.exp(min(value, 700)), "a ratio")
    detectable = re.search(r"detectable from (.*)|\((.*)以上の差なら", row[-1])
    could = found.word == "inconclusive" and reader.campaign.plan.study.conclusive
    could = could and found.detectable <= MOST_DETECTABLE
    reader.that(could == (detectable is not None), "what could be seen")
    if detectable:
        number = printed(detectable[1] or detectable[2])
        rounded_up = -1e-9 <= number.value - found.detectable * 100 <= number.step + 1e-9
        reader.that(rounded_up, f"detectable is {found.detectable}, not {detectable[0]}")
