"""The change since the campaign before it, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from teiten.analysis.model.history import CampaignStep, LineStep
from teiten.analysis.model.verdict import Interval
from teiten.report.effects import change, interval_percent, percent_decimals
from teiten.report.history.points import level_text, moment, value_text
from teiten.report.texts import Texts

MOST = 3
"""Lines that changed and are told one by one; more of them are counted."""


def step_sentence(t: Texts, step: CampaignStep) -> str:
    """``Since night-2 (…): TPS of Range read, server 18: −3.1 % (95 % interval …); on 3 other
    lines no change can be told. …``"""
    changed = [line for line in step.lines if _direction(line)]
    return t(
        "history.since",
        campaign=step.before.campaign,
        at=moment(step.before.at),
        changes=_counted(t, step) if len(changed) > MOST else _each(t, step, changed),
        scope=t(f"history.since-scope-{'all' if _conclusive(step) else 'no-conclusion'}"),
    )


def _each(t: Texts, step: CampaignStep, changed: Sequence[LineStep]) -> str:
    """Tell the lines that changed; a single line in any case, and others by their number."""
    if len(step.lines) == 1:
        return _line(t, step.lines[0])
    left = len(step.lines) - len(changed)
    rest = t.plural("history.since-rest", left) if changed else t("history.since-none", count=left)
    return t("list.strong").join([*map(partial(_line, t), changed), *([rest] if left else [])])


def _line(t: Texts, step: LineStep) -> str:
    what = t("comparison.part", workload=t.of(step.line.title), server=level_text(t, step.line))
    versions = (
        ""
        if step.before.version == step.after.version
        else t("history.since-versions", before=step.before.version, after=step.after.version)
    )
    if step.effect is None:
        before, after = (value_text(t, point) for point in (step.before, step.after))
        return t("history.since-values", what=what, before=before, after=after, versions=versions)
    return t(
        f"history.since-{'open' if _direction(step) == 0 else 'changed'}",
        what=what,
        percent=change(t, step.effect.ratio, percent_decimals(step.effect)),
        interval=interval_percent(t, step.effect),
        versions=versions,
    )


def _counted(t: Texts, step: CampaignStep) -> str:
    directions = [_direction(line) for line in step.lines]
    return t(
        "history.since-counted",
        count=len(directions),
        higher=directions.count(1),
        lower=directions.count(-1),
        open=directions.count(0),
    )


def _direction(step: LineStep) -> int:
    """Tell on which side of no change the whole interval lies: 1 above, −1 below, 0 on neither."""
    effect: Interval | None = step.effect
    if effect is None:
        return 0
    return int(effect.low > 1) - int(effect.high < 1)


def _conclusive(step: CampaignStep) -> bool:
    return step.before.conclusive and step.after.conclusive
