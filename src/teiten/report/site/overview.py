"""Each study of a site in a row: its values, drawn at the size of a word, and the last change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from markupsafe import Markup

from teiten.analysis.model.history import CampaignStep, ChangeSearch, HistoryLine
from teiten.report.charts.points import reach
from teiten.report.history.points import line_id, line_name, step_sentence, value_text
from teiten.report.history.view import line_sentences
from teiten.report.site.entry import SiteEntry
from teiten.report.texts import Texts


@dataclass(frozen=True)
class StudyRow:
    """A study of a site, worded."""

    study: str
    title: str
    campaigns: str
    """How many, and the day of the newest."""
    drawing: Markup | None
    """None of a study without a line of two campaigns."""
    line: str
    """The line that is drawn, in words; empty for none."""
    place: str
    """The id of that line in the history."""
    last: str
    """The last change, or that there is none."""


def study_rows(
    t: Texts,
    entries: Sequence[SiteEntry],
    lines: Sequence[HistoryLine],
    steps: Mapping[str, CampaignStep],
) -> Iterator[StudyRow]:
    """Rows of the studies of ``entries``, newest campaign first. ``steps``: as ``steps_of``."""
    for study in dict.fromkeys(entry.study for entry in entries):
        of_study = [entry for entry in entries if entry.study == study]
        newest = of_study[0]
        line = _line_to_show([line for line in lines if line.study == study])
        drawn = line if line is not None and line.is_drawn else None
        moment = datetime.fromtimestamp(newest.created_at, UTC)
        yield StudyRow(
            study,
            t.of(newest.title),
            t.plural("site.campaigns", len(of_study), day=f"{moment:%Y-%m-%d}"),
            sparkline(drawn, _told(t, drawn)) if drawn else None,
            line_name(t, drawn) if drawn else "",
            line_id(drawn) if drawn else "",
            _last(t, line, steps),
        )


def _line_to_show(lines: Sequence[HistoryLine]) -> HistoryLine | None:
    """Choose the line that changed last, else the longest; among equals the first."""
    changed = [line for line in lines if line.changes]
    if changed:
        return max(changed, key=lambda line: line.points[line.changes[-1].first].at)
    return max(lines, key=lambda line: len(line.points), default=None)


def _last(t: Texts, line: HistoryLine | None, steps: Mapping[str, CampaignStep]) -> str:
    if line is None:
        return t("site.on-no-line")
    if line.search is ChangeSearch.DONE:
        return line_sentences(line, t.language)[-1]
    step = steps.get(line.points[-1].path)
    return t("site.single") if step is None else step_sentence(t, step)


def _told(t: Texts, line: HistoryLine) -> str:
    by_value = sorted(line.points, key=lambda point: point.value)
    shown = {
        "first": line.points[0],
        "last": line.points[-1],
        "least": by_value[0],
        "most": by_value[-1],
    }
    return t(
        "site.spark",
        line=line_name(t, line),
        count=len(line.points),
        **{name: value_text(t, point) for name, point in shown.items()},
    )


WIDTH, HEIGHT, EDGE = 176, 40, 5
"""Pixels; EDGE: what is free at either end of the line."""
DRAWING = Markup(
    '<svg class="spark" role="img" viewBox="0 0 {} {}" width="{}" height="{}" aria-label="{}">'
    "<title>{}</title>{}</svg>"
)
RULE = Markup('<path class="{}" d="M{:.1f} {:.1f}V{:.1f}"/>')
CURVE = Markup('<polyline points="{}"/>')
DOT = Markup('<circle{} cx="{:.1f}" cy="{:.1f}" r="{}"/>')
NEWEST = Markup(' class="newest"')


def sparkline(line: HistoryLine, words: str) -> Markup:
    """Points with their intervals, and the changes; as in the history's chart the axis does not
    begin at zero. ``words``: the same in words."""
    shapes = Markup("").join(_shapes(line))
    return DRAWING.format(WIDTH, HEIGHT, WIDTH, HEIGHT, words, words, shapes)


def _shapes(line: HistoryLine) -> Iterator[Markup]:
    low, high = reach(line.points)
    step = (WIDTH - 2 * EDGE) / max(1, len(line.points) - 1)

    def across(place: float) -> float:
        return EDGE + place * step

    def down(value: float) -> float:
        """An end of an interval beyond the axis is at its end."""
        inside = min(high, max(low, value))
        return EDGE + (HEIGHT - 2 * EDGE) * (high - inside) / (high - low)

    for change in line.changes:
        yield RULE.format("change", across(change.first - 0.5), 0, HEIGHT)
    for place, point in enumerate(line.points):
        if point.low is not None and point.high is not None:
            yield RULE.format("interval", across(place), down(point.low), down(point.high))
    corners = [(across(place), down(point.value)) for place, point in enumerate(line.points)]
    yield CURVE.format(" ".join(f"{x:.1f},{y:.1f}" for x, y in corners))
    for x, y in corners[:-1]:
        yield DOT.format("", x, y, 1.5)
    yield DOT.format(NEWEST, *corners[-1], 3)
