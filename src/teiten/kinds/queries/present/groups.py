"""Conclusions on groups of queries: sentences, forest and table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from teiten.analysis.model.findings import ContrastResult, Interval, VerdictKind
from teiten.analysis.model.verdict import BY_SIGN
from teiten.kinds.queries.model import QUERY
from teiten.kinds.queries.present.times import (
    context_cells,
    context_columns,
    listed,
    speed_chart,
    speed_rows,
    varied_factors,
)
from teiten.kinds.queries.results import GroupConclusion, QueryContrast, RatioBound, queries_found
from teiten.report.charts.base import Chart
from teiten.report.effects import (
    bound_text_of,
    effect_cells,
    interval_percent,
    is_many_times,
    levels_text,
    percent,
    percent_decimals,
    plain_percent,
    says_nothing,
    shorter_text,
    sure_interval,
    times_text,
)
from teiten.report.numbers import REACH
from teiten.report.sentences import verdict_word
from teiten.report.tables import Row, Table, TableCell, headings
from teiten.report.view.contrasts import forest_row, verdict_cell, verdict_text
from teiten.report.view.kit import Kit

MOST_SENTENCES = 8
"""On the first page; more are left to its chart, and to the table."""
MOST_ROWS = 16
"""In its chart; with more, all queries together under each condition."""
MANY_QUERIES = 4
"""From so many on, they are counted on the first page."""


def contrast_of(kit: Kit, contrast: ContrastResult) -> QueryContrast | None:
    """Find the further results of a contrast of queries; None without any."""
    results = queries_found(kit.analysis).of_workload(contrast.workload)
    known = () if results is None else results.contrasts
    sides = (contrast.old, contrast.new)
    return next((further for further in known if (further.old, further.new) == sides), None)


def points(kit: Kit, contrast: ContrastResult) -> tuple[str, ...]:
    """List the sentences below the first page's: groups, or how many queries gained and lost."""
    named = [kit.names.context(context) for context in contrast.left_out]
    left_out = [kit.t("table.left-out", queries=listed(kit, named))] if named else []
    return (*_said_below(kit, contrast), *left_out)


def _said_below(kit: Kit, contrast: ContrastResult) -> tuple[str, ...]:
    further = contrast_of(kit, contrast)
    if further is None:
        return ()
    if 0 < len(further.groups) <= MOST_SENTENCES:
        return tuple(_sentence(kit, group) for group in further.groups)
    of_all = [group for group in further.groups if not group.group][:MOST_SENTENCES]
    counted = _counted(kit, contrast, further) if len(contrast.levels) >= MANY_QUERIES else ()
    return (*(_sentence(kit, group) for group in of_all), *counted)


def answer_forest(kit: Kit, name: str, contrast: ContrastResult) -> Chart | None:
    """All queries together, and each group where they fit; without groups each query, if few."""
    further = contrast_of(kit, contrast)
    groups = further.groups if further else ()
    if len(groups) > MOST_ROWS:
        groups = tuple(group for group in groups if not group.group)
    rows = speed_rows(kit, contrast)
    if groups or len(contrast.levels) > 2 * MANY_QUERIES:
        rows = [row for row in rows if row.overall]
    labelled = ((_short_label(kit, group), group.verdict) for group in groups)
    rows += filter(None, (forest_row(kit.t, *group, speed=True) for group in labelled))
    return speed_chart(kit, name, contrast, rows, groups=bool(groups))


def group_table(
    kit: Kit, name: str, further: QueryContrast, contrast: ContrastResult
) -> Table | None:
    """Every group with its speed-up and verdict."""
    if not further.groups:
        return None
    t = kit.t
    factors = varied_factors(kit, (group.context for group in further.groups))
    return Table(
        name=name,
        caption=t(
            "table.query-groups.caption",
            old=kit.names.titled(contrast.old),
            new=kit.names.titled(contrast.new),
            workload=kit.names.workload(contrast.workload),
        ),
        columns=(
            *headings(t, "table.query-group"),
            *context_columns(kit, factors),
            *headings(t, "table.queries"),
            *headings(t, "table.speed-up", "table.interval", "table.pairs", numeric=True),
            *headings(t, "table.verdict"),
        ),
        rows=tuple(
            _row(kit, conclusion, at, factors) for at, conclusion in enumerate(further.groups)
        ),
        note=t(
            "table.query-groups.note",
            confidence=levels_text(t, (group.verdict.effect for group in further.groups)),
        ),
    )


def _row(kit: Kit, conclusion: GroupConclusion, at: int, factors: Sequence[str]) -> Row:
    word = verdict_text(kit.t, conclusion.verdict)
    if conclusion.over:
        word = kit.t("query-group.over-word", queries=listed(kit, conclusion.over))
    return (
        TableCell(_title(kit, conclusion), float(at), kind="left"),
        *context_cells(kit, conclusion.context, factors),
        TableCell(listed(kit, conclusion.queries)),
        *effect_cells(kit.t, conclusion.verdict.effect, bound_text(conclusion.bound), speed=True),
        TableCell(str(conclusion.verdict.pairs), conclusion.verdict.pairs),
        verdict_cell(kit.t, conclusion.verdict, word),
    )


def bound_text(bound: RatioBound | None) -> str:
    """``≥ 14``: the speed-up is no less; empty without a bound that says something."""
    if bound is None or _is_out_of_reach(bound):
        return ""
    speed = bound_text_of(1 / bound.ratio, down=bound.at_most)
    return f"≥ {speed}" if bound.at_most else f"≤ {speed}"


def _sentence(kit: Kit, conclusion: GroupConclusion) -> str:
    values = {"group": _label(kit, conclusion), "queries": listed(kit, conclusion.queries)}
    key = "query-group.sentence" if conclusion.group else "query-group.sentence-all"
    return kit.t(key, said=_said(kit, conclusion), **values)


def _said(kit: Kit, conclusion: GroupConclusion) -> str:
    t, effect = kit.t, conclusion.verdict.effect
    if conclusion.over:
        limit = t("query-group.over", queries=listed(kit, conclusion.over))
        if conclusion.bound is None or _is_out_of_reach(conclusion.bound):
            return limit
        return _bound_sentence(kit, conclusion.bound, limit)
    if effect is None:
        return t.either(f"reason.{conclusion.verdict.reason}", verdict_word(t, conclusion.verdict))
    if says_nothing(effect) and conclusion.verdict.conclusive:
        return _undecided(kit, conclusion)
    verdict = conclusion.verdict
    decided = verdict.conclusive and verdict.kind in BY_SIGN and verdict.at_least_delta
    return t(
        "query-group.said-beyond" if decided and is_many_times(effect) else "query-group.said",
        effect=effect_text(kit, effect),
        interval=effect_interval_text(kit, effect),
        verdict=verdict_word(t, verdict),
        delta=plain_percent(t, verdict.delta),
    )


def _undecided(kit: Kit, conclusion: GroupConclusion) -> str:
    """Say of an interval that says nothing how many pairs it has, and how many it would take."""
    too_few = kit.t.plural("query-group.too-few", conclusion.verdict.pairs)
    if conclusion.needed is None:
        return too_few
    return kit.t("query-group.needed", said=too_few, pairs=conclusion.needed)


def _is_out_of_reach(bound: RatioBound) -> bool:
    """Whether a bound excludes nothing that a report tells apart: at most more than 1,000 times."""
    return bound.ratio > REACH if bound.at_most else bound.ratio < 1 / REACH


def _bound_sentence(kit: Kit, bound: RatioBound, limit: str) -> str:
    """In the words for the side of 1 on which the bound lies. ``limit``: who exceeded it."""
    is_fast = bound.ratio < 1
    is_least = bound.at_most == is_fast
    factor = bound_text_of(1 / bound.ratio if is_fast else bound.ratio, down=is_least)
    key = f"{'least' if is_least else 'most'}-{'fast' if is_fast else 'long'}"
    return kit.t(f"query-group.bound-{key}", factor=factor, over=limit)


def effect_text(kit: Kit, effect: Interval) -> str:
    """``10.3 times as fast``, ``takes 1.9 times as long``, ``takes 5.2 % less time``."""
    t = kit.t
    if is_many_times(effect):
        if effect.ratio < 1:
            shown = effect.inverse
            return t("effect.times-fast", factor=shorter_text(t, shown.ratio, shown))
        return t("effect.times-long", factor=times_text(effect.ratio, effect))
    share = percent(t, abs(effect.ratio - 1), percent_decimals(effect))
    return t("effect.less-time" if effect.ratio < 1 else "effect.more-time", percent=share)


def effect_interval_text(kit: Kit, effect: Interval) -> str:
    """In the terms of ``effect_text``."""
    t = kit.t
    if not is_many_times(effect):
        return interval_percent(t, effect)
    if effect.ratio < 1:
        shown = effect.inverse
        low, high = (shorter_text(t, end, shown) for end in (shown.low, shown.high))
        return sure_interval(t, shown, low, high, "shorter.with-confidence")
    low, high = (times_text(end, effect) for end in (effect.low, effect.high))
    return sure_interval(t, effect, low, high)


def _counted(kit: Kit, contrast: ContrastResult, further: QueryContrast) -> Iterator[str]:
    """How many queries got which verdict, and the extremes."""
    t = kit.t
    counts = Counter(level.verdict.kind for level in contrast.levels)
    counted = t("list.separator").join(
        t("query-count.of", count=counts[kind], verdict=t(f"query-count.{kind.value}"))
        for kind in VerdictKind
        if counts[kind]
    )
    queries = {dict(level.context).get(QUERY) for level in contrast.levels}
    key = "sentence" if len(queries) == len(contrast.levels) else "sentence-cases"
    yield t(f"query-count.{key}", count=len(contrast.levels), listed=counted)
    extremes = {extreme.context for extreme in contrast.overall.extremes}
    effects = {level.context: level.verdict.effect for level in contrast.levels}
    for key, context in (("gain", further.gain), ("loss", further.loss)):
        if context is None or context in extremes or (effect := effects.get(context)) is None:
            continue
        query = kit.names.context(context)
        yield t(f"query-count.{key}", query=query, effect=effect_text(kit, effect))


def _label(kit: Kit, conclusion: GroupConclusion) -> str:
    """``1 month``, with the levels of the other factors where there are several."""
    context = kit.names.varied_levels(kit.names.told.get(conclusion.context, conclusion.context))
    title = _title(kit, conclusion)
    return kit.t("query-group.label", title=title, context=context) if context else title


def _short_label(kit: Kit, conclusion: GroupConclusion) -> str:
    """Label a group in a chart: its title, and levels without the names of their factors."""
    shown = kit.names.told.get(conclusion.context, conclusion.context)
    levels = [kit.names.level(*pair) for pair in shown if pair[0] not in kit.names.single]
    return kit.t("list.separator").join((_title(kit, conclusion), *levels))


def _title(kit: Kit, conclusion: GroupConclusion) -> str:
    return kit.t.of(conclusion.title) if conclusion.title else kit.t("level.overall-queries")
