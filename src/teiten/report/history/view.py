"""A history as data: a chart and tables for each line, and what is on none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from statistics import geometric_mean

from teiten.analysis.model.comparison import Difference
from teiten.analysis.model.history import (
    Axis,
    ChangePoint,
    ChangeSearch,
    History,
    HistoryLine,
    HistoryPoint,
    LeftOut,
)
from teiten.model.text import Language, joined_sentences
from teiten.report.blocks import (
    Block,
    Details,
    Download,
    Downloads,
    Heading,
    Items,
    Page,
    Pairs,
    Section,
    Text,
    WithoutScripts,
)
from teiten.report.charts.base import Columns, as_columns
from teiten.report.charts.points import LinePoint, history_line
from teiten.report.effects import confidence_percent, percent
from teiten.report.history.points import (
    Reports,
    line_id,
    line_titles,
    points_table,
    single_points_table,
    value_text,
)
from teiten.report.numbers import moment
from teiten.report.tables import Table, TableCell, cells, headings
from teiten.report.texts import Texts, texts

FIELDS = (
    "line", "machine", "conditions", "study", "profile", "workload", "campaign", "started",
    "factor", "level", "version", "tps", "low", "high", "blocks", "levels", "change_before",
)  # fmt: skip

NO_REPORTS: Reports = {}
OPEN = 4
"""Lines without a change that stand open where no line has any: two workloads on two servers."""
Titled = tuple[str, HistoryLine]
"""Title of a line on its page, and the line."""


def history_page(history: History, language: Language, reports: Reports = NO_REPORTS) -> Page:
    """Everything computed and worded; what is left is layout."""
    t = texts(language)
    campaigns = {point.campaign for line in history.lines for point in line.points}
    titles = line_titles(t, history.lines)
    titled = tuple(zip(titles, history.lines, strict=True))
    left_out = _left_out(t, history)
    about = t.plural("history.campaigns", len(campaigns))
    if not history.drawn:
        # what a history is for, and nothing else, while no line has a second campaign
        answer = Section("answer", t("section.answer"), (Text(t("history.only-one")), *left_out))
        return Page(t, t("history.title"), about, (), (answer,), made_key="history.made")
    order = t(f"history.by-{history.axis.value}")
    about = t("history.about", campaigns=about, order=order)
    method = tuple(
        t(f"history.method-{part}") for part in ("points", "changes", "swings", "groups")
    )
    shown = [*_lines(t, titled, history.axis, reports)]
    single = [(title, line) for title, line in titled if len(line.points) == 1]
    if single:  # there is nothing to draw yet
        table = single_points_table(t, single, reports)
        shown += [Heading(3, t("history.single"), part=True), table]
    download = Downloads((Download("history.csv", _columns(history)),))
    sections = (
        Section("answer", t("section.answer"), tuple(_answer(t, titled))),
        Section("results", t("section.results"), tuple(shown)),
        Section("evidence", t("history.method"), (Items(method), *left_out, download)),
    )
    return Page(t, t("history.title"), about, (), sections, made_key="history.made")


def _answer(t: Texts, titled: Sequence[Titled]) -> Iterator[Block]:
    """Show the sentences on lines that changed; those on the others open from their count."""
    searched = [pair for pair in titled if pair[1].search is ChangeSearch.DONE]
    changed = [pair for pair in searched if pair[1].changes]
    steady = [pair for pair in searched if not pair[1].changes]
    short = [pair for pair in titled if pair[1].search is ChangeSearch.TOO_FEW]
    if changed:
        yield _said(t, changed)
    if steady:
        yield Details(
            t.plural("history.steady", len(steady)),
            (_said(t, steady),),
            kind="folded",
            opened=_alone(changed, steady),
        )
    if short:
        listed = tuple(
            t(
                "history.short-line",
                line=title,
                campaigns=t.plural("history.campaigns", len(line.points)),
            )
            for title, line in short
        )
        yield Details(
            short_text(t, len(short)), (Items(listed),), kind="folded", opened=not searched
        )
    yield WithoutScripts(t("notice.no-script"))


def _said(t: Texts, titled: Sequence[Titled]) -> Pairs:
    remarks = tuple(
        (title, joined_sentences(line_sentences(line, t.language))) for title, line in titled
    )
    return Pairs(remarks, "remarks")


def _alone(changed: Sequence[Titled], others: Sequence[Titled]) -> bool:
    """Whether lines without a change stand open: a page would else show nothing."""
    return not changed and len(others) <= OPEN


def short_text(t: Texts, count: int) -> str:
    """Say that so many lines have too few campaigns for changes to be looked for."""
    return t.plural("history.short", count)


def line_sentences(line: HistoryLine, language: Language) -> tuple[str, ...]:
    """Tell a line's changes, that none was found, or that it has too few campaigns."""
    t = texts(language)
    if line.search is ChangeSearch.TOO_FEW:
        return (t.plural("history.too-few", len(line.points)),)
    if not line.changes:
        return (
            t(
                "history.no-change",
                count=len(line.points),
                confidence=confidence_percent(t, line.confidence),
            ),
        )
    return tuple(_change_sentence(t, line, change) for change in line.changes)


def _change_sentence(t: Texts, line: HistoryLine, change: ChangePoint) -> str:
    sentence = t(
        "history.rise" if change.ratio > 1 else "history.fall",
        percent=percent(t, abs(change.ratio - 1), 1),
        campaign=line.points[change.first].campaign,
        at=moment(line.points[change.first].at),
        version=line.points[change.first].version,
        differences=_differences(t, change.differences),
    )
    return sentence if change.firm else t("history.maybe-swing", change=sentence)


def _lines(t: Texts, titled: Sequence[Titled], axis: Axis, reports: Reports) -> Iterator[Block]:
    """Lines that changed, and the others from their count, for those who ask for them."""
    changed: list[Titled] = []
    others: list[Titled] = []
    drawn: dict[str, tuple[Block, ...]] = {}
    for at, (title, line) in enumerate(titled, start=1):
        if line.is_drawn:
            (changed if line.changes else others).append((title, line))
            drawn[title] = tuple(_line(t, f"line-{at}", (title, line), axis, reports))
    if drawn:
        yield Text(t("history.chart-note"), "note")
        yield Text(t("history.points-note"), "note")
    for title, _ in changed:
        yield from drawn[title]
    if others:
        yield Details(
            t.plural("history.others", len(others)),
            tuple(block for title, _ in others for block in drawn[title]),
            kind="folded",
            opened=_alone(changed, others),
        )


def _line(t: Texts, name: str, titled: Titled, axis: Axis, reports: Reports) -> Iterator[Block]:
    title, line = titled
    yield Heading(3, title, part=True, name=line_id(line))
    yield Text(line.facts.distribution or line.facts.system, "note")
    yield Items(line_sentences(line, t.language), "findings")
    yield history_line(t, name, tuple(_points(t, line, axis)), axis.value)
    yield points_table(t, f"{name}-points", line, reports)


def _points(t: Texts, line: HistoryLine, axis: Axis) -> Iterator[LinePoint]:
    seen: Counter[str] = Counter()
    changes = {change.first: change for change in line.changes}
    for start, end in line.segments:
        mean = geometric_mean(point.value for point in line.points[start:end])
        for at in range(start, end):
            point = line.points[at]
            label = _label(point, axis)
            seen[label] += 1
            change = changes.get(at)
            yield LinePoint(
                label if seen[label] == 1 else f"{label} #{seen[label]}",
                point.value,
                point.low,
                point.high,
                mean,
                percent(t, change.ratio - 1, 1, signed=True) if change else "",
                point.campaign,
                point.version,
                value_text(t, point),
            )


def _label(point: HistoryPoint, axis: Axis) -> str:
    moment = datetime.fromtimestamp(point.at, UTC)
    if axis is Axis.VERSION:
        return f"{point.version} · {moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M} · {point.version}"


def _differences(t: Texts, differences: tuple[Difference, ...]) -> str:
    """Tell what differs around a change."""
    if not differences:
        return t("history.no-differences")
    texts_of_each = (
        t(
            "history.difference",
            what=t(f"difference.{difference.code}", subject=difference.subject),
            before=difference.a,
            after=difference.b,
        )
        for difference in differences
    )
    return t("history.differences", differences=t("list.strong").join(texts_of_each))


def _left_out(t: Texts, history: History) -> tuple[Table, ...]:
    """The ledgers that are on no line, with the reason; no table without any."""
    table = Table(
        "left-out",
        t("history.left-out"),
        headings(t, "history.ledger", "history.why"),
        tuple(
            cells(TableCell(ledger.path, kind="code"), _why(t, ledger))
            for ledger in history.left_out
        ),
        sortable=False,
    )
    return (table,) if history.left_out else ()


def _why(t: Texts, ledger: LeftOut) -> str:
    """The reason in the language of the page where there is a text for it."""
    if not ledger.code:
        return ledger.why
    metric = t.either(f"metric.{ledger.metric}", ledger.metric)
    return t(f"history.without.{ledger.code}", metric=metric)


def _columns(history: History) -> Columns:
    rows = [
        (
            *(at, line.machine, line.conditions, line.study, line.profile, line.workload),
            *(point.campaign, point.at, line.factor, point.level, point.version),
            *(point.value, point.low, point.high, point.blocks, point.levels),
            place in firsts,
        )
        for at, line in enumerate(history.lines, start=1)
        for firsts in ({change.first for change in line.changes},)
        for place, point in enumerate(line.points)
    ]
    return as_columns(FIELDS, rows)
