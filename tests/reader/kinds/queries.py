"""The sentences about workloads of queries: groups, counts, sweeps, workers, blocks."""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import zlib
from collections import Counter
from typing import Any

from teiten.kinds.queries.model import QueriesOptions
from tests.reader.answers import WIDEST, reason_text, verdict_text
from tests.reader.arithmetic import Judgement, always_valid, geometric_mean
from tests.reader.campaign import Context
from tests.reader.document import Part
from tests.reader.language import Book, Check, Groups, as_factor, count
from tests.reader.reader import Reader

BOOK = Book(__name__)
KIND = "queries"
METRIC = "query_seconds"


def options_of(reader: Reader) -> QueriesOptions:
    found = next(one for one in reader.campaign.workloads() if one.kind == KIND)
    assert isinstance(found.options, QueriesOptions)
    return found.options


@BOOK.says()
def length(reader: Reader, groups: Groups, _part: Part) -> None:
    options = options_of(reader)
    reader.equal(groups["runs"], options.runs, "the runs")
    reader.lasts(groups["limit"], options.timeout)


@BOOK.says()
def procedure(reader: Reader, groups: Groups, part: Part) -> None:
    length(reader, groups, part)
    reader.equal(groups["again"], groups["limit"], "the limit")


# --- groups ----------------------------------------------------------------------------------


def compared(reader: Reader, part: Part) -> tuple[str, str, str] | None:
    """Workload, old and new side of the answer above a sentence of the first page."""
    said = list(reader.said_first)
    if not said:
        reader.that(False, "of no answer")
        return None
    workload, new = said[-1]
    if reader.campaign.plan.study.workload(workload).kind != KIND:
        reader.that(False, "unread sentence")
        return None
    return workload, reader.campaign.sides(workload)[0], new


def others_of(reader: Reader, workload: str) -> list[Context]:
    """The levels of the factors beside query and contrast."""
    contexts = reader.campaign.contexts(workload)
    cut = (tuple(pair for pair in context if pair[0] != "query") for context in contexts)
    return list(dict.fromkeys(cut))


def groups_of(reader: Reader, workload: str) -> list[tuple[str, Context, list[str]]]:
    """Title, levels of the others and queries of every group: all together hold at 1 − α."""
    campaign = reader.campaign
    options = campaign.plan.study.workload(workload).options
    assert isinstance(options, QueriesOptions)
    everything = ("all queries", "全クエリ")[reader.language == "ja"]
    others = others_of(reader, workload)
    found = []
    for one in others:
        names = [
            dict(context)["query"]
            for context in campaign.contexts(workload)
            if tuple(pair for pair in context if pair[0] != "query") == one
        ]
        if len(others) > 1:
            found.append((everything, one, names))
        for group in options.groups:
            members = [name for name in names if name in group.queries]
            if members:
                found.append((reader.own(group.title), one, members))
    return found


def contexts_in(reader: Reader, workload: str, others: Context, names: list[str]) -> list[Context]:
    return [
        one
        for one in reader.campaign.contexts(workload)
        if dict(one)["query"] in names
        and tuple(pair for pair in one if pair[0] != "query") == others
    ]


def alpha_of(reader: Reader, workload: str, queries: int) -> float:
    """The α of a mean over so many of a workload's queries: their part of a statement's."""
    return reader.campaign.alpha * queries / len(reader.campaign.contexts(workload))


def group_judged(
    reader: Reader, workload: str, sides: tuple[str, str], others: Context, names: list[str]
) -> Judgement:
    campaign = reader.campaign
    share = alpha_of(reader, workload, len(names))
    pairs, unusable = [], 0
    for context in contexts_in(reader, workload, others, names):
        found, bad = campaign.log_ratios(workload, context, sides, METRIC)
        pairs.append(found)
        unusable += bad
    return campaign.together(pairs, share, lower=True, unusable=unusable)


def over_in(
    reader: Reader, workload: str, sides: tuple[str, str], others: Context, names: list[str]
) -> list[str]:
    """The queries of a group that exceeded their limit on one of the sides."""
    return [
        dict(one)["query"]
        for one in contexts_in(reader, workload, others, names)
        if reader.campaign.over(workload, one, sides)
    ]


def named(reader: Reader, names: list[str]) -> str:
    """At most six by name."""
    shown = reader.separator.join(names[:6])
    more = len(names) - 6
    if more <= 0:
        return shown
    return f"{shown}ほか{more}件" if reader.language == "ja" else f"{shown} and {more} more"


Group = tuple[str, tuple[str, str], Context, list[str]]


def group_of(reader: Reader, groups: Groups, part: Part) -> Group | None:
    """What a sentence on a group is about; None where there is no such group."""
    about = compared(reader, part)
    if about is None:
        return None
    workload, old, new = about
    wanted = groups["group"]
    for title, others, names in groups_of(reader, workload):
        labels = {title}
        labels |= (
            {f"{title}{reader.separator}{text}" for text in reader.context_texts(workload, others)}
            if others
            else set()
        )
        if wanted in labels and (
            "queries" not in groups or groups["queries"] == named(reader, names)
        ):
            return workload, (old, new), others, names
    reader.that(False, "no such group of queries")
    return None


def effects(check: Check) -> Check:
    """A sentence with every way in which an effect is told, and an interval in the same terms.

    ``{effect}``, ``{interval}``: where they stand. The form is the way.
    """
    ((_, *intervals),) = BOOK.texts("interval")
    for name, *texts in BOOK.texts("effects"):
        for way, *effect in BOOK.texts("effect") if name == check.__name__ else ():
            kind = {"fast": ":f>", "long": ":n>"}.get(way, ":p>")
            terms = list(intervals)
            if way == "fast":  # the part that is left: of the greater factor the smaller one
                terms[1] = terms[1].replace("<low:k>〜<high:k>", "<high:k>〜<low:k>")
            said = [
                text.replace("{effect}", one).replace("{interval}", interval.replace(":k>", kind))
                for text, one, interval in zip(texts, effect, terms, strict=True)
            ]
            BOOK.add(name, way, dict(zip(("en", "ja"), said, strict=True)), check)
    return check


def effect_is(reader: Reader, groups: Groups, found: Judgement) -> None:
    """That effect and interval of a sentence are those of the numbers, in one unit."""
    way = groups["form"]
    if found.reason:
        reader.that(False, f"there is no effect ({found.reason})")
        return
    ratio = math.exp(found.mean)
    reader.that((ratio < 1) == (way in {"fast", "less"}) or ratio == 1, f"new/old is {ratio:.6g}")
    if way in {"fast", "long"}:
        sign = -1 if way == "fast" else 1
        values = {
            "factor": sign * found.mean,
            "low": min(sign * found.low, sign * found.high),
            "high": max(sign * found.low, sign * found.high),
        }
        for name, value in values.items():
            if name in groups:
                factor = as_factor(groups[name])
                reader.same(factor, math.exp(min(value, 700)), name, slack=reader.slack)
    else:
        reader.same(groups["percent"], abs(ratio - 1) * 100, "percent", slack=reader.slack * 100)
        for name, value in (("low", found.low), ("high", found.high)):
            if name in groups:
                reader.same(
                    groups[name], math.expm1(min(value, 700)) * 100, name, slack=reader.slack * 100
                )
                reader.that(groups[name][0] in "+−>0", "an end without its sign")
    if "confidence" in groups:
        reader.same(groups["confidence"], found.confidence * 100, "confidence")


@effects
def group_effect(reader: Reader, groups: Groups, part: Part) -> None:
    about = group_of(reader, groups, part)
    if about is None:
        return
    workload, sides, others, names = about
    if reader.campaign.by_hand:
        return
    reader.that(not over_in(reader, *about), "a query exceeded its limit")
    found = group_judged(reader, workload, sides, others, names)
    effect_is(reader, groups, found)
    reader.equal(groups["verdict"], verdict_text(reader, found), "the verdict")


@BOOK.says(of="item")
def group_wide(reader: Reader, groups: Groups, part: Part) -> None:
    """An interval that says nothing, and how many pairs would decide."""
    about = group_of(reader, groups, part)
    if about is None or reader.campaign.by_hand:
        return
    found = group_judged(reader, *about)
    reader.that(not found.reason and found.low <= 0 <= found.high, "it says something")
    reader.that(found.high - found.low > math.log(WIDEST), "it is not wide")
    reader.equal(groups["count"], found.pairs, "the pairs")
    if "pairs" in groups:
        alpha = 1 - found.confidence
        unit = always_valid(1.0, found.pairs, alpha, 1)
        room = max(abs(found.mean), math.log1p(found.delta) - abs(found.mean))
        widths = [
            (found.high - found.low) / 2 / unit * always_valid(1.0, pairs, alpha, 1)
            for pairs in (count(groups["pairs"]) - 1, count(groups["pairs"]))
        ]
        reader.that(widths[1] < room * (1 + 1e-9), "so many do not decide")
        fewer = count(groups["pairs"]) == found.pairs + 1 or widths[0] > room * (1 - 1e-9)
        reader.that(fewer, "fewer decide")


@BOOK.says(of="item")
def group_nothing(reader: Reader, groups: Groups, part: Part) -> None:
    """Why nothing is said of a group."""
    about = group_of(reader, groups, part)
    if about is None:
        return
    over = over_in(reader, *about)
    said = groups["said"]
    if over:
        expected = named(reader, over) + (
            "が制限時間を超えた" if reader.language == "ja" else " exceeded the time limit"
        )
        reader.equal(said, expected, "what exceeded its limit")
        reader.that(bound_of(reader, *about) is None, "a bound is known")
        return
    found = group_judged(reader, *about)
    reader.equal(said, reason_text(reader, found.reason) if found.reason else "?", "the reason")


def bound_of(
    reader: Reader, workload: str, sides: tuple[str, str], others: Context, names: list[str]
) -> tuple[float, bool] | None:
    """The end of the interval with the limit in the place of times that exceeded it, as a
    logarithm of new/old, and whether that is at most so; None where both sides exceeded it."""
    campaign = reader.campaign
    contexts = contexts_in(reader, workload, others, names)
    exceeded = {side for context in contexts for side in campaign.over(workload, context, sides)}
    if len(exceeded) != 1:
        return None
    pairs = []
    for context in contexts:
        both = []
        for side in sides:
            times = {
                block: value
                for block, value in campaign.values(workload, context, side, METRIC).items()
                if value > 0
            }
            limits = campaign.values(workload, context, side, "over_timeout")
            both.append(times | limits)
        pairs.append(
            {
                block: math.log(both[1][block] / both[0][block])
                for block in both[0].keys() & both[1].keys()
            }
        )
    share = alpha_of(reader, workload, len(names))
    found = campaign.together(pairs, share, lower=True)
    if found.reason:
        return None
    at_most = exceeded == {sides[0]}
    return (found.high if at_most else found.low), at_most


@BOOK.says()
def bounded(reader: Reader, groups: Groups, part: Part) -> None:
    """least-fast, most-fast, least-long or most-long"""
    about = group_of(reader, groups, part)
    if about is None:
        return
    expected = named(reader, over_in(reader, *about))
    reader.equal(groups["over"], expected, "what exceeded its limit")
    if reader.campaign.by_hand:
        return
    found = bound_of(reader, *about)
    if found is None:
        reader.that(False, "no bound is known")
        return
    log, at_most = found
    right = (
        ("least-fast" if at_most else "most-fast")
        if log < 0
        else ("most-long" if at_most else "least-long")
    )
    reader.equal(groups["form"], right, "the bound")
    safe = "down" if right.startswith("least") else "up"
    reader.same(groups["factor"], math.exp(abs(log)), "the bound", safe=safe)


@BOOK.says()
def left_out(reader: Reader, groups: Groups, part: Part) -> None:
    if part.section == 1:
        about = compared(reader, part)
        workload = about[0] if about else None
    else:
        workload = reader.workload_of(part.part)
    if workload is None:
        reader.that(False, "of no workload")
        return
    contexts = [
        one for one in reader.campaign.contexts(workload) if reader.campaign.over(workload, one)
    ]
    for context in contexts:
        known = any(one in groups["queries"] for one in reader.context_texts(workload, context))
        cut = "and" in groups["queries"] or "ほか" in groups["queries"]
        reader.that(known or cut, f"{context} exceeded its limit")
    names = groups["queries"].split(reader.separator)
    texts = {text for context in contexts for text in reader.context_texts(workload, context)}
    whole = reader.separator.join(names)
    cleaned = re.sub(r" and \d+ more|ほか\d+件", "", whole)
    rest = cleaned
    for text in sorted(texts, key=len, reverse=True):
        rest = rest.replace(text, "")
    reader.that(not rest.strip("、, "), f"{rest} did not exceed its limit")
    more = re.search(r" and (\d+) more|ほか(\d+)件", whole)
    if more:
        reader.equal(more[1] or more[2], len(contexts) - 6, "how many more")


COUNTED = {
    "faster": ("faster", "速い"),
    "slower": ("slower", "遅い"),
    "equivalent": ("equivalent", "同等"),
    "small": ("different, but below δ", "差はあるがδ未満"),
    "inconclusive": ("undecided", "判定できない"),
}


def counts(reader: Reader, groups: Groups, part: Part, *, cases: bool) -> None:
    about = compared(reader, part)
    if about is None:
        return
    workload, _, new = about
    judged = reader.judged(workload, METRIC, new)
    reader.equal(groups["count"], len(judged.levels), "the queries")
    queries = {dict(level)["query"] for level in judged.levels}
    reader.that((len(queries) == len(judged.levels)) != cases, "queries or cases")
    ja = reader.language == "ja"
    words = Counter(COUNTED[level.word][ja] for level in judged.levels.values())
    if ja:
        said = {
            name: int(number)
            for name, number in re.findall(r"(.+?)(\d+)件(?:、|$)", groups["listed"])
        }
    else:
        found = re.findall(r"(\d+) (.+?)(?=, \d|$)", groups["listed"])
        said = {name: int(number) for number, name in found}
    reader.that(said == dict(words), f"it is {dict(words)}")


@BOOK.says()
def counted(reader: Reader, groups: Groups, part: Part) -> None:
    counts(reader, groups, part, cases=False)


@BOOK.says()
def counted_cases(reader: Reader, groups: Groups, part: Part) -> None:
    counts(reader, groups, part, cases=True)


@effects
def extreme(reader: Reader, groups: Groups, part: Part) -> None:
    """The greatest gain or loss among the decided queries."""
    about = compared(reader, part)
    if about is None:
        return
    workload, _, new = about
    word = "faster" if groups["which"] in {"gain", "改善"} else "slower"
    judged = reader.judged(workload, METRIC, new)
    decided = {one: found for one, found in judged.levels.items() if found.word == word}
    if not decided:
        reader.that(False, f"none is {word}")
        return
    context = reader.context_of(workload, groups["query"])
    farthest = max(decided, key=lambda one: abs(decided[one].mean))
    reader.that(context == farthest, f"it is {farthest}")
    effect_is(reader, groups, decided[farthest])


# --- sweeps ----------------------------------------------------------------------------------


@effects
def fastest(reader: Reader, groups: Groups, part: Part) -> None:
    _fastest(reader, groups, part, first_wins=False)


@effects
def fastest_first(reader: Reader, groups: Groups, part: Part) -> None:
    _fastest(reader, groups, part, first_wins=True)


def _fastest(reader: Reader, groups: Groups, part: Part, *, first_wins: bool) -> None:
    """Of all levels, the first one among them, the one with the least time."""
    workload = workload_here(reader, part)
    if workload is None:
        reader.that(False, "of no workload")
        return
    campaign = reader.campaign
    context = reader.context_of(workload, groups["query"])
    level, first = groups["level"], groups["first"]
    reader.equal(groups["varied"], reader.factor_text(campaign.contrast), "the factor")
    reader.equal(first, campaign.sides(workload)[0], "the first level")
    if context is None or level not in campaign.sides(workload):
        reader.that(False, "no such query or level")
        return
    ratios = {
        side: found.mean
        for side in campaign.sides(workload)[1:]
        if not (found := reader.judged(workload, METRIC, side).levels[context]).reason
        and not campaign.over(workload, context, [side])
    }
    found = reader.judged(workload, METRIC, level).levels[context]
    effect_is(reader, groups, found)
    if found.reason:
        return
    least = min(ratios, key=lambda one: ratios[one])
    reader.that(ratios.get(level, 1.0) <= ratios[least] + 1e-12, f"{least} takes less time")
    if first_wins:
        reader.that(ratios[least] >= 0, f"{least} is faster than the first")
    else:
        reader.that(found.mean <= 0, "the first level is faster")
    reader.sweep = (workload, context)


def steps(reader: Reader) -> list[tuple[str, Judgement]]:
    """Each level of the sweep that the sentence before was about, against the level before it."""
    if reader.sweep is None:
        reader.that(False, "of no sweep")
        return []
    workload, context = reader.sweep
    campaign = reader.campaign
    levels = campaign.sides(workload)
    alpha = alpha_of(reader, workload, 1)
    found = []
    for old, new in itertools.pairwise(levels):
        pairs, bad = campaign.log_ratios(workload, context, (old, new), METRIC)
        judgement = campaign.together([pairs], alpha, lower=True, unusable=bad)
        if campaign.over(workload, context, (old, new)):
            judgement = Judgement(len(pairs), "over-timeout")
        found.append((new, judgement))
    return found


def measured_levels(reader: Reader) -> list[str]:
    assert reader.sweep is not None
    workload, context = reader.sweep
    campaign = reader.campaign
    return [
        side
        for side in campaign.sides(workload)
        if campaign.values(workload, context, side, METRIC)
        or campaign.over(workload, context, [side])
    ]


@BOOK.says()
def last_gain(reader: Reader, groups: Groups, _part: Part) -> None:
    gains = [level for level, found in steps(reader) if found.word == "faster"]
    reader.that(gains[-1:] == [groups["level"]], f"steps that gain: {gains}")
    reader.that(reader.sweep is None or gains[-1:] != measured_levels(reader)[-1:], "the end gains")


@BOOK.says()
def gain_to_the_end(reader: Reader, groups: Groups, _part: Part) -> None:
    gains = [level for level, found in steps(reader) if found.word == "faster"]
    reader.that(gains[-1:] == [groups["level"]], f"steps that gain: {gains}")
    reader.that(reader.sweep is None or gains[-1:] == measured_levels(reader)[-1:], "not the end")


@BOOK.says()
def no_gain(reader: Reader, _groups: Groups, _part: Part) -> None:
    gains = [level for level, found in steps(reader) if found.word == "faster"]
    reader.that(not gains, f"steps that gain: {gains}")


def workload_here(reader: Reader, part: Part) -> str | None:
    """The workload that a part is about: of the answer above it, or of the heading."""
    if part.section == 1 and reader.said_first:
        return list(reader.said_first)[-1][0]
    return reader.workload_of(part.part)


def first_level(reader: Reader, text: str, part: Part) -> None:
    workload = workload_here(reader, part)
    reader.that(
        workload is not None and reader.campaign.sides(workload)[0] == text,
        "not the level that the others are compared with",
    )


@BOOK.says()
def sweep_chart(reader: Reader, groups: Groups, part: Part) -> None:
    first_level(reader, groups["first"], part)


@BOOK.says()
def sweep_note(reader: Reader, groups: Groups, part: Part) -> None:
    first_level(reader, groups["first"], part)
    workload = workload_here(reader, part)
    if workload is not None:
        alpha = alpha_of(reader, workload, 1)
        reader.same(groups["confidence"], (1 - alpha) * 100, "the level")


@BOOK.says()
def sweep_source(reader: Reader, groups: Groups, _part: Part) -> None:
    source_is(reader, groups["source"])
    rule = rule_of(reader, groups["source"])
    if rule is not None:
        reader.equal(groups["workers"].removeprefix("≤ "), rule, "the workers by the rule")


# --- workers ---------------------------------------------------------------------------------


def plans_of(reader: Reader) -> dict[tuple[str, Context, str], list[dict[str, Any]]]:
    """The recorded plans by workload, context and side, with those that were not executed."""
    found: dict[tuple[str, Context, str], list[dict[str, Any]]] = {}
    campaign = reader.campaign
    for one in campaign.plan.trials:
        trial = campaign.counted.get(one.number)
        facts = getattr(trial, "facts", {})
        if "plan" in facts:
            document = json.loads(zlib.decompress(base64.b64decode(facts["plan"])))
            key = (
                one.cell.workload,
                one.cell.context(campaign.contrast),
                one.cell.level(campaign.contrast) or "",
            )
            found.setdefault(key, []).append(document[0])
    return found


def gathers(plan: dict[str, Any]) -> list[dict[str, Any]]:
    node = plan["Plan"]
    found, rest = [], [node]
    while rest:
        one = rest.pop()
        if one["Node Type"].startswith("Gather"):
            found.append(one)
        rest += one.get("Plans", [])
    return found


def relations_of(reader: Reader) -> dict[str, dict[str, dict[str, Any]]]:
    """The recorded relations by the fingerprint of their template."""
    return {
        event.detail["fingerprint"]: {each["name"]: each for each in event.detail["relations"]}
        for event in reader.campaign.events
        if event.kind == "relations"
    }


def source_is(reader: Reader, text: str) -> None:
    """``lineorder, 59.2 GiB``: that such a relation was recorded."""
    reader.that(
        any(
            size_text(reader, one) == text
            for table in relations_of(reader).values()
            for one in relations_with_parts(table)
        ),
        "no such table or index",
    )


def relations_with_parts(table: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    members = Counter(one["parent"] for one in table.values() if one["parent"])
    return [{**one, "members": members.get(name, 0)} for name, one in table.items()]


def size_text(reader: Reader, one: dict[str, Any]) -> str:
    separator = reader.separator
    if one["members"]:
        word = "パーティション" if reader.language == "ja" else " partitions"
        return f"{one['name']}{separator}{one['members']}{word}"
    size, units = one["pages"] * 8192.0, ["B", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1024 and len(units) > 1:
        size /= 1024
        units.pop(0)
    text = f"{size:.0f}" if size >= 100 else f"{size:.{2 - math.floor(math.log10(size))}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{one['name']}{separator}{text} {units[0]}"


def rule_of(reader: Reader, source: str) -> int | None:
    """How many workers the size of a relation gives, by PostgreSQL's rule and its defaults."""
    for table in relations_of(reader).values():
        for one in relations_with_parts(table):
            if size_text(reader, one) == source:
                if one["members"]:
                    return int(one["members"]).bit_length()
                least = 64 if one["kind"] == "i" else 1024
                return threefold(one["pages"], least)
    return None


def threefold(pages: int, least: int) -> int:
    workers = 0
    while pages >= least:
        workers, least = workers + 1, least * 3
    return workers


def query_of_side(reader: Reader, text: str) -> list[list[dict[str, Any]]]:
    """The plans of ``q1.1 (monthly)``."""
    found = re.fullmatch(r"(.+?) ?\(([^()]+)\)", text)
    if found is None:
        reader.that(False, "no query and side")
        return []
    query, side = found[1], reader.side_of(found[2])
    plans = [
        shown
        for (workload, context, level), shown in plans_of(reader).items()
        if level == side and query in reader.context_texts(workload, context)
    ]
    reader.that(bool(plans), "no plan of it")
    return plans


def _numbers(reader: Reader, groups: Groups) -> list[tuple[int, int | None]]:
    """Workers planned and launched in the plans of a query on a side."""
    plans = query_of_side(reader, f"{groups['query']} ({groups['side']})")
    return [
        (one["Workers Planned"], one.get("Workers Launched"))
        for shown in plans
        for plan in shown
        for one in gathers(plan)
    ]


@BOOK.says()
def differs(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.that(groups["planned"] != groups["expected"], "no difference")
    planned = {str(one) for one, _ in _numbers(reader, groups)}
    reader.that(groups["planned"] in planned, f"planned are {planned}")
    source_is(reader, groups["source"])
    rule = rule_of(reader, groups["source"])
    if rule is not None:
        limit = limit_of(reader, groups)
        reader.equal(groups["expected"], min(rule, limit), "what the rule expects")


def limit_of(reader: Reader, groups: Groups) -> int:
    """max_parallel_workers_per_gather, as the trials of a query on a side recorded it."""
    campaign, side = reader.campaign, reader.side_of(groups["side"])
    found = {
        int(planner["max_parallel_workers_per_gather"])
        for trial in campaign.plan.trials
        if trial.cell.level(campaign.contrast) == side
        and groups["query"]
        in reader.context_texts(trial.cell.workload, trial.cell.context(campaign.contrast))
        and (planner := getattr(campaign.counted.get(trial.number), "facts", {}).get("planner"))
    }
    reader.that(len(found) == 1, f"the limits are {found}")
    return min(found, default=0)


@BOOK.says()
def starved(reader: Reader, groups: Groups, _part: Part) -> None:
    said = (count(groups["planned"]), count(groups["launched"]))
    known = _numbers(reader, groups)
    reader.that(said in known and said[0] > said[1], f"planned and launched are {known}")


@BOOK.says()
def limited(reader: Reader, groups: Groups, part: Part) -> None:
    starved(reader, groups, part)
    limits = {
        min(int(planner["max_parallel_workers"]), int(planner["max_worker_processes"]))
        for trial in reader.campaign.trials
        if (planner := getattr(trial, "facts", {}).get("planner"))
    }
    reader.that(count(groups["limit"]) in limits, f"the limits are {limits}")


def typical_gathers(reader: Reader, part: Part) -> list[dict[str, Any]]:
    """The first Gather of each query and side of the workload above: of a plan that was executed,
    where there is one."""
    workload = reader.workload_of(part.part)
    shown = [plans for (of, _, _), plans in plans_of(reader).items() if of == workload]
    typical = [
        next((plan for plan in plans if "Execution Time" in plan), plans[0]) for plans in shown
    ]
    return [found[0] for one in typical if (found := gathers(one))]


@BOOK.says()
def all_follow(reader: Reader, groups: Groups, part: Part) -> None:
    reader.equal(groups["count"], len(typical_gathers(reader, part)), "the parallel plans")
    known = known_in_table(reader, part)
    reader.that(known in {None, count(groups["count"])}, f"known are {known}")


@BOOK.says()
def one_follows(reader: Reader, groups: Groups, part: Part) -> None:
    reader.equal(groups["count"], 1, "one plan")
    all_follow(reader, groups, part)


@BOOK.says()
def more_differ(reader: Reader, groups: Groups, part: Part) -> None:
    parallel = typical_gathers(reader, part)
    named_ones = sum(
        "planned, where the rule" in one.text or "で、想定数は" in one.text
        for one in reader.document.parts
        if one.part == part.part
    )
    reader.that(count(groups["of"]) <= len(parallel), f"there are {len(parallel)}")
    reader.that(count(groups["count"]) + named_ones <= count(groups["of"]), "too many")


@BOOK.says()
def some_follow(reader: Reader, groups: Groups, part: Part) -> None:
    reader.equal(groups["of"], len(typical_gathers(reader, part)), "the parallel plans")
    known = known_in_table(reader, part)
    reader.that(known in {None, count(groups["count"])}, f"known are {known}")
    reader.that(count(groups["count"]) < count(groups["of"]), "all are known")


def known_in_table(reader: Reader, part: Part) -> int | None:
    """How many plans have an expected number in the table of the workers."""
    for table in reader.document.tables:
        if table.part == part.part and table.topic == part.topic:
            cells = [cell for row in table.rows for cell in row if cell.count(" / ") == 2]
            return sum(not cell.startswith("—") for cell in cells)
    return None


@BOOK.says()
def executed_launched(reader: Reader, _groups: Groups, part: Part) -> None:
    found = typical_gathers(reader, part)
    known = [one for one in found if "Workers Launched" in one]
    reader.that(0 < len(known) < len(found), "all were executed, or none")
    for one in known:
        launched = one["Workers Launched"]
        reader.that(launched == one["Workers Planned"], f"{launched} were launched")


@BOOK.says()
def all_launched(reader: Reader, _groups: Groups, part: Part) -> None:
    for one in typical_gathers(reader, part):
        launched = one.get("Workers Launched")
        reader.that(launched is not None, "a plan does not say how many were launched")
        reader.that(launched == one["Workers Planned"], f"{launched} were launched")


@BOOK.says()
def more_starved(reader: Reader, groups: Groups, part: Part) -> None:
    few = [
        one
        for one in typical_gathers(reader, part)
        if one.get("Workers Launched", math.inf) < one["Workers Planned"]
    ]
    reader.equal(groups["count"], len(few) - 6, "plans with fewer workers")


@BOOK.says()
def serial(reader: Reader, groups: Groups, _part: Part) -> None:
    text = re.sub(r" and \d+ more$|ほか\d+件$", "", groups["queries"])
    named_ones = re.findall(r"(.+?\))(?:, |、|$)", text)
    reader.that(bool(named_ones), "none is named")
    for one in named_ones:
        for shown in query_of_side(reader, one):
            reader.that(not gathers(shown[0]), f"{one} is parallel")
            found = re.fullmatch(r"(.+?) ?\(([^()]+)\)", one)
            assert found is not None
            limit = limit_of(reader, {"query": found[1], "side": found[2]})
            reader.that(limit > 0, "no workers were permitted")


@BOOK.says()
def fewer(reader: Reader, groups: Groups, part: Part) -> None:
    """A slower query whose plan begins elsewhere, where the size gives fewer workers."""
    workload = workload_here(reader, part)
    new = reader.side_of(groups["new"])
    context = reader.context_of(workload or "", groups["query"]) if workload else None
    if workload is None or new is None or context is None:
        reader.that(False, "no such query or side")
        return
    found = reader.judged(workload, METRIC, new).levels[context]
    reader.that(found.word == "slower", "it is not slower")
    reader.same(groups["factor"], math.exp(found.mean), "how many times as long")
    for side in ("new", "old"):
        rule = rule_of(reader, groups[f"{side}_source"])
        reader.that(rule is not None, "no such table or index")
        least = min(rule or 0, limit_of(reader, {**groups, "side": groups[side]}))
        reader.equal(groups[f"{side}_planned"], least, "what the size gives")
    if "noun" in groups:
        one = groups["new_planned"] == "1"
        reader.equal(groups["noun"], "worker" if one else "workers", "number")


# --- captions --------------------------------------------------------------------------------


@BOOK.says(of="caption")
def caption(reader: Reader, groups: Groups, part: Part) -> None:
    """One whose names are those of this campaign."""
    sides = [reader.side_of(groups[one]) for one in ("new", "old") if one in groups]
    reader.that(None not in sides, "another side")
    if "new" in groups:
        levels = reader.campaign.levels(reader.campaign.contrast)
        reader.that(sides[1] == levels[0] and sides[0] in levels[1:], "not new against old")
    if "workload" in groups:
        reader.that(reader.workload_of(groups["workload"]) is not None, "another workload")
    if "which" in groups:
        extremes_are(reader, groups, part)


def extremes_are(reader: Reader, groups: Groups, part: Part) -> None:
    """That a query is the one with the greatest gain or loss of one of the contrasts."""
    word = "faster" if groups["which"] in {"gain", "改善"} else "slower"
    workload = reader.workload_of(part.part)
    if workload is None:
        reader.that(False, "of no workload")
        return
    found = set()
    for new in reader.campaign.sides(workload)[1:]:
        levels = reader.judged(workload, METRIC, new).levels
        decided = {one: abs(each.mean) for one, each in levels.items() if each.word == word}
        if decided:
            found.add(max(decided, key=lambda one: decided[one]))
    context = reader.context_of(workload, groups["query"])
    reader.that(context in found, f"it is {found}")


@BOOK.says()
def speed_band(reader: Reader, groups: Groups, _part: Part) -> None:
    reader.same(groups["delta"], reader.measure.delta * 100, "δ")


@BOOK.says()
def dots(reader: Reader, groups: Groups, part: Part) -> None:
    _times_note(reader, groups, part, logarithmic=True)


@BOOK.says()
def bars(reader: Reader, groups: Groups, part: Part) -> None:
    _times_note(reader, groups, part, logarithmic=False)


def _times_note(reader: Reader, groups: Groups, part: Part, *, logarithmic: bool) -> None:
    campaign = reader.campaign
    reader.same(groups["confidence"], (1 - campaign.plan.study.measure.alpha) * 100, "α")
    workload = reader.workload_of(part.part)
    if workload is None:
        return
    shown = []
    for context in campaign.contexts(workload):
        for side in campaign.sides(workload):
            limits = campaign.values(workload, context, side, "over_timeout")
            times = campaign.values(workload, context, side, METRIC)
            values = [one for one in times.values() if one > 0]
            if limits:
                shown.append(next(iter(limits.values())))
            elif values:
                shown.append(geometric_mean(values))
    if shown:
        beyond = max(shown) > 20 * min(shown)
        near = abs(max(shown) / min(shown) - 20) < 1e-6
        reader.that(
            near or beyond == logarithmic, f"they differ {max(shown) / min(shown):.3g} times"
        )


def fastest_is_answered(reader: Reader) -> None:
    """Of a sweep the first page answers for the fastest level of its first query."""
    for workload, new in reader.said_first:
        campaign = reader.campaign
        levels = campaign.sides(workload)
        options = campaign.plan.study.workload(workload).kind
        if options != KIND or len(levels) < 4 or not all(level.isdecimal() for level in levels):
            continue
        for context in campaign.contexts(workload):
            times = {
                side: list(campaign.values(workload, context, side, METRIC).values())
                for side in levels
                if not campaign.over(workload, context, [side])
            }
            measured = {side: geometric_mean(one) for side, one in times.items() if one}
            if not measured and not any(
                campaign.over(workload, context, [side]) for side in levels
            ):
                continue
            relative = {
                side: found.mean
                if not (found := reader.judged(workload, METRIC, side).levels[context]).reason
                else math.log(mean / measured[levels[0]])
                if levels[0] in measured
                else None
                for side, mean in measured.items()
                if side != levels[0]
            }
            known = {side: one for side, one in relative.items() if one is not None}
            if known and len(known) == len(relative):
                least = min(known.values())
                reader.that(known.get(new, math.inf) <= least + 1e-12, f"{known} is the order")
            break
