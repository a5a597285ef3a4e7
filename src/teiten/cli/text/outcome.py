"""The outcome of a campaign as one table: what, old, new, ratio with interval, verdict; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

from rich.cells import cell_len

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, LevelResult, Verdict
from teiten.cli.text.layout import longest, padded, wrap
from teiten.report.effects import (
    levels_text,
    percent_decimals,
    plain_percent,
    ratio_in_reach,
    ratio_text,
)
from teiten.report.numbers import NOTHING, spaced
from teiten.report.sentences import verdict_word
from teiten.report.view.contrasts import by_interval
from teiten.report.view.kit import Kit, factor_of

MOST_LEVELS = 12
"""Levels of one line: of more the terminal has the mean and the number, the report all of them."""
NARROWEST = 16
"""Cells that are left to the verdict, however narrow the terminal is."""
GAP = "  "
SIDES = (1, 2)
"""The columns of old and new."""
Line = tuple[str, str, str, str, str]


def outcome_lines(analysis: CampaignAnalysis, width: int | None) -> Iterator[str]:
    """A table for each pair of sides and metric that is judged, with a line for each workload and
    level; of tables with the same note the last has it. ``width``: the cells of a line; None for as
    many as it takes, as in a pipe."""
    kit = Kit(analysis, "en")
    tables: dict[tuple[str, str, str], list[ContrastResult]] = defaultdict(list)
    for contrast in analysis.contrasts:
        if contrast.metric.judged:
            tables[contrast.old, contrast.new, contrast.metric.name].append(contrast)
    notes = [_note(kit, alike) for alike in tables.values()]
    for alike, (note, following) in zip(tables.values(), pairwise((*notes, "")), strict=True):
        last = [] if note == following else [note] if width is None else wrap(note, width)
        for line in (*_table(kit, alike, width), *last):
            yield spaced(line)  # for grep


def _table(kit: Kit, contrasts: Sequence[ContrastResult], width: int | None) -> Iterator[str]:
    first = contrasts[0]
    sides = (kit.names.side(first.old).short, kit.names.side(first.new).short)
    header = (kit.metric_title(first.metric), *sides, "new/old (interval)", "verdict")
    numbers = [line for contrast in contrasts for line in _lines(kit, contrast)]
    lines = [header, *numbers]
    widths = [max(cell_len(line[at]) for line in lines) for at in range(len(header))]
    if width is not None:
        word = max(cell_len(word) for line in lines for word in line[0].split()) + len(GAP)
        least = min(widths[-1], NARROWEST)
        if word + sum(widths[1:4]) + len(GAP) * 4 + least > width:
            for at in SIDES:
                widths[at] = max(longest(header[at]), *(cell_len(line[at]) for line in numbers))
        beside = sum(widths[1:4]) + len(GAP) * 4
        widths[0] = min(widths[0], max(word, width - beside - least))
        widths[-1] = min(widths[-1], max(least, width - beside - widths[0]))
    for line in lines:
        yield from _fitted(line, widths)


def _lines(kit: Kit, contrast: ContrastResult) -> Iterator[Line]:
    title, levels = kit.names.workload(contrast.workload), contrast.levels
    if len(levels) == 1:
        yield _line(kit, title, contrast, levels[0], contrast.overall)
    elif len(levels) > MOST_LEVELS:
        yield _line(kit, f"{title}, {len(levels)} levels", contrast, None, contrast.overall)
    else:
        yield _line(kit, title, contrast, None, contrast.overall)
    for level in _levels_shown(contrast):
        label = f"{GAP}{kit.names.context(level.context)}"
        yield _line(kit, label, contrast, level, level.verdict)


def _levels_shown(contrast: ContrastResult) -> tuple[LevelResult, ...]:
    """The levels that have lines of their own below their mean."""
    return contrast.levels if 1 < len(contrast.levels) <= MOST_LEVELS else ()


def _line(
    kit: Kit, label: str, contrast: ContrastResult, level: LevelResult | None, verdict: Verdict
) -> Line:
    value = by_interval(factor_of(contrast.metric))
    old, new = (value(level, side).text for side in (0, 1)) if level else ("", "")
    word = verdict_word(kit.t, verdict).replace("at least ", "≥")  # slower by ≥5 %
    if not verdict.conclusive:  # the ratio beside it is what was measured
        word = kit.t("verdict.no-conclusion")
    return (label, old, new, _ratio(verdict), word)


def _ratio(verdict: Verdict) -> str:
    """``1.037 (1.011–1.063)``"""
    effect = verdict.effect
    if effect is None:
        return NOTHING
    digits = percent_decimals(effect) + 2
    low, high = (ratio_in_reach(end, digits) for end in (effect.low, effect.high))
    return f"{ratio_text(effect)} ({low}–{high})"


def _fitted(line: Line, widths: Sequence[int]) -> Iterator[str]:
    """The line, whose cells go on below themselves."""
    indent = " " * (len(line[0]) - len(line[0].lstrip()))
    labels = [indent + part for part in wrap(line[0].strip(), widths[0] - len(indent))]
    further = (wrap(cell, cells) for cell, cells in zip(line[1:], widths[1:], strict=True))
    for parts in zip_longest(labels, *further, fillvalue=""):
        cells = (padded(part, widths[at], right=at in SIDES) for at, part in enumerate(parts))
        yield GAP.join(cells).rstrip()


def _note(kit: Kit, contrasts: Sequence[ContrastResult]) -> str:
    """Say how sure the intervals are, and what the words mean, once below the table."""
    levels = [level for contrast in contrasts for level in _levels_shown(contrast)]
    over_all = levels_text(kit.t, (contrast.overall.effect for contrast in contrasts))
    at_each = levels_text(kit.t, (level.verdict.effect for level in levels))
    several = any(len(contrast.levels) > 1 for contrast in contrasts)
    parts = [f"{over_all}{' over all levels' * several}"] if over_all else []
    parts += [f"{at_each} at each"] if at_each else []
    sure = f"intervals of {' and '.join(parts)}; " if parts else ""
    delta = plain_percent(kit.t, contrasts[0].overall.delta)
    return f"{sure}what is below δ = {delta} does not matter here"
