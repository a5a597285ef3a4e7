"""The tables of contrasts: what sentences are checked against, and themselves against trials."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from tests.reader.answers import MOST_DETECTABLE, says_verdict
from tests.reader.arithmetic import Judgement
from tests.reader.campaign import JUDGED, Context, Judged
from tests.reader.document import Table
from tests.reader.language import printed
from tests.reader.reader import Reader

INTERVAL = ("interval", "信頼区間")
PAIRS = ("pairs", "組数")
VERDICT = ("verdict", "判定")
SPEED_UP = ("speed-up", "性能向上比")
OVERALL = {"all levels", "all queries", "全条件", "全クエリ"}
UNITS = {"ms": 1000.0, "µs": 1e6, "s": 1.0, "min": 1 / 60, "秒": 1.0}


def contrast_tables(reader: Reader) -> list[tuple[Table, str, str, str]]:
    """Those of a contrast: the table, its workload, its metric and its new side. They end with the
    verdicts, or with the pairs where the metric has none."""
    found = []
    for table in reader.document.tables:
        place, last = table.column(*INTERVAL), len(table.columns) - 1
        is_one = last in (table.column(*VERDICT), table.column(*PAIRS))
        if not is_one or place is None or place < 3:
            continue
        about = _about(reader, table.caption)
        new = reader.side_of(table.columns[place - 2])
        old = reader.side_of(table.columns[place - 3])
        if about and new and old:
            found.append((table, *about, new))
    return found


def columns_read(table: Table) -> set[int]:
    """The columns of a contrast's table that ``check_tables`` reads."""
    at = table.column(*INTERVAL) or 0
    further = {table.column(*names) for names in (PAIRS, SPEED_UP)} - {None}
    return {*range(at + 1), *further, len(table.columns) - 1}


def without_sides(caption: str) -> str:
    """A caption without the sides, which stand behind it in brackets where there are several."""
    return re.sub(r" ?\((?:[^()]|\([^()]*\))* ÷ .*\)$", "", caption)


def _about(reader: Reader, caption: str) -> tuple[str, str] | None:
    """Workload and metric of ``mean latency, ms, Read`` or ``参照系: 平均レイテンシ(ms)``."""
    caption = without_sides(caption)
    for one in reader.campaign.workloads():
        title = reader.own(one.title)
        before, after = f"{title}: ", f", {title}"
        metric = None
        if reader.language == "ja" and caption.startswith(before):
            metric = re.sub(r" ?\((?:m?s|µs|min|分|秒)\)$", "", caption.removeprefix(before))
        elif reader.language == "en" and caption.endswith(after):
            metric = re.sub(r", (?:m?s|µs|min)$", "", caption.removesuffix(after))
        known = reader.metric_of(metric) if metric is not None else None
        if known:
            return one.name, known
    return None


def _unit(caption: str) -> float:
    found = re.search(r"(?:, |\()(ms|µs|s|min|秒)(?:,|\)|$)", caption)
    return UNITS[found[1]] if found else 1.0


def judged_in(reader: Reader, workload: str, metric: str, new: str) -> Judged:
    """A contrast as its table has it, for reports whose verdicts follow from no trials."""
    measure = reader.measure
    lower = metric != "tps"
    for table, of, what, side in contrast_tables(reader):
        if (of, what, side) != (workload, metric, new):
            continue
        at = table.column(*INTERVAL) or 0
        levels: dict[Context, Judgement] = {}
        overall = None
        for row in table.rows:
            whole = reader.campaign.alpha
            alpha = whole if row[0] in OVERALL else whole / max(1, len(table.rows) - 1)
            found = _of_row(row, at, table, measure.delta, alpha, lower=lower)
            found = replace(found, worded=metric in JUDGED)
            if row[0] in OVERALL:
                overall = found
            else:
                levels[_context_of_row(reader, workload, table, row, at)] = found
        return Judged(
            workload,
            metric,
            reader.campaign.sides(workload)[0],
            new,
            levels,
            overall or next(iter(levels.values())),
        )
    raise LookupError(f"no table of {workload}, {metric}, {new}")


def _of_row(
    row: tuple[str, ...], at: int, table: Table, delta: float, alpha: float, *, lower: bool
) -> Judgement:
    pairs = int(re.match(r"\d+", row[table.column(*PAIRS) or 0])[0])  # type: ignore[index]
    if row[at] == "—":
        return Judgement(pairs, "unknown", alpha=alpha, delta=delta, lower_is_better=lower)
    low, high = (math.log(printed(one).value) for one in re.split(" to |〜", row[at]))
    seen = re.search(r"(?:detectable from |\()([\d.,]+) ?%", row[-1])
    share = float(seen[1].replace(",", "")) / 100 if seen else 0.0
    mean = math.log(printed(row[at - 1]).value)
    return Judgement(pairs, "", mean, low, high, alpha, delta, share, lower)


def _context_of_row(
    reader: Reader, workload: str, table: Table, row: tuple[str, ...], at: int
) -> Context:
    """The context that the first columns of a row name."""
    named = dict(zip(table.columns[: at - 3], row, strict=False))
    for context in reader.campaign.contexts(workload):
        if all(
            named.get(reader.factor_text(factor))
            in {None, level, reader.versions.get(level), *reader.level_names(factor, level)}
            for factor, level in context
        ):
            return context
    raise LookupError(f"no context of {row}")


def check_tables(reader: Reader) -> None:
    """Every number of the contrasts' tables, from the trials."""
    for table, workload, metric, new in contrast_tables(reader):
        judged = reader.judged(workload, metric, new)
        at = table.column(*INTERVAL) or 0
        for row in table.rows:
            reader.about = f"{table.caption}: {' | '.join(row)}"
            if row[0] in OVERALL:
                _row(reader, table, row, at, judged.overall)
                counts = re.findall(r"\d+", row[table.column(*PAIRS) or 0])
                pairs = judged.overall.pairs * (len(judged.levels) - len(judged.left_out))
                reader.that(len(counts) < 2 or int(counts[1]) == pairs, f"{pairs} pairs")
                continue
            try:
                context = _context_of_row(reader, workload, table, row, at)
            except LookupError:
                reader.that(False, "no such level")
                continue
            _row(reader, table, row, at, judged.levels[context])
            sides = (judged.old, new)
            over = reader.campaign.over(workload, context) if metric == "query_seconds" else []
            for place, side in zip((at - 3, at - 2), sides, strict=True):
                values = list(reader.campaign.values(workload, context, side, metric).values())
                if not over and not reader.campaign.by_hand:
                    _mean(reader, row[place], values, _unit(table.caption))
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
    elif found.reason != "unknown":
        says_verdict(reader, seen, found)
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
        text = detectable[1] or detectable[2]
        reader.same(text, found.detectable * 100, "detectable", safe="up")
