"""Part 1: the answer, its cost, what was excluded, and what could not be decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from teiten.analysis.model.findings import ContrastResult, LevelResult, Verdict, VerdictKind
from teiten.model.metrics import PRIMARY, QUERY_TIME
from teiten.model.trial import Outcome
from teiten.report.blocks import Block, Pairs, Section, Statement, Text, WithoutScripts
from teiten.report.charts.base import Chart
from teiten.report.charts.forest import ForestRow, ForestWords, forest
from teiten.report.sentences import (
    interval_text,
    machine_text,
    plain_percent,
    ratio_text,
    sentence,
    verdict_word,
)
from teiten.report.texts import Texts, problem_text
from teiten.report.view.design import stopped
from teiten.report.view.kit import Kit
from teiten.report.view.queries.groups import answer_forest, points
from teiten.report.view.queries.sweep import chart as sweep_chart_of
from teiten.report.view.queries.sweep import fastest_level, sweeps_of
from teiten.report.view.queries.sweep import findings as sweep_findings

MOST_OPEN = 10
"""More undecided levels are counted, and named in the results only."""


def answer(kit: Kit) -> Section:
    """The first section."""
    t = kit.t
    remarks = (
        *stopped(kit),
        (t("answer.cost"), _cost(kit)),
        (t("answer.excluded"), _excluded(kit)),
        (t("answer.undecided"), _undecided(kit)),
    )
    statements = (_statement(kit, at, one) for at, one in enumerate(_asked(kit)))
    return answer_section(t, _notices(kit), statements, remarks)


def answer_section(
    t: Texts,
    notices: Iterable[str],
    statements: Iterable[Statement],
    remarks: Iterable[tuple[str, str]],
) -> Section:
    """``notices``: said before everything else: no conclusion, incomplete. ``remarks``: cost,
    excluded, undecided: term and text."""
    shown: tuple[Block, ...] = (
        *(Text(one, "notice") for one in notices),
        *statements,
        WithoutScripts(t("notice.no-script")),
        Pairs(tuple(remarks), "remarks"),
    )
    return Section("answer", t("section.answer"), shown, headed=False)


def primary(kit: Kit) -> tuple[ContrastResult, ...]:
    """The contrasts of the metric that the question is about: TPS, else each workload's first."""
    found = tuple(one for one in kit.analysis.contrasts if one.metric.name in PRIMARY)
    if found:
        return found
    first: dict[tuple[str, str, str], ContrastResult] = {}
    for one in kit.analysis.contrasts:
        first.setdefault((one.workload, one.old, one.new), one)
    return tuple(first.values())


def _asked(kit: Kit) -> tuple[ContrastResult, ...]:
    """What the first page answers: each contrast, but of a sweep only that of its fastest level."""
    found = []
    for one in primary(kit):
        swept = sweeps_of(kit, one.workload) if one.metric is QUERY_TIME else None
        if swept is None or one.new == fastest_level(swept):
            found.append(one)
    return tuple(found)


def _notices(kit: Kit) -> tuple[str, ...]:
    analysis, t = kit.analysis, kit.t
    notices = []
    if not kit.study.conclusive:
        notices.append(t("notice.no-conclusion", profile=kit.study.profile))
    if analysis.missing and kit.study.measure.sequential is not None:
        notices.append(t("notice.undecided-yet"))
    elif analysis.missing:
        notices.append(
            t.plural("notice.missing", analysis.missing, planned=len(analysis.plan.trials))
        )
    return tuple(notices)


def _statement(kit: Kit, at: int, contrast: ContrastResult) -> Statement:
    t, names = kit.t, kit.names
    machine = machine_text(t, kit.analysis.facts)
    sides = t(
        "contrast.sides", new=names.side(contrast.new).short, old=names.side(contrast.old).short
    )
    return Statement(
        names.workload(contrast.workload),
        contrast.overall.kind.value,
        verdict_word(t, contrast.overall),
        sentence(t, names, contrast, machine),
        *_shown(kit, at, contrast, sides),
    )


def _shown(
    kit: Kit, at: int, contrast: ContrastResult, sides: str
) -> tuple[Chart | None, tuple[str, ...]]:
    """The chart beside the sentence, and what is said below it."""
    name = f"forest-{at + 1}"
    if contrast.metric is not QUERY_TIME:
        return _forest(kit, at, contrast, sides), ()
    swept = sweeps_of(kit, contrast.workload)
    if swept is not None:
        return sweep_chart_of(kit, name, swept), sweep_findings(kit, swept)
    return answer_forest(kit, name, contrast), points(kit, contrast)


def _forest(kit: Kit, at: int, contrast: ContrastResult, sides: str) -> Chart | None:
    t = kit.t
    several = len(contrast.levels) > 1
    rows = [_forest_row(kit, t("level.overall"), contrast.overall, True)]
    rows += [
        _forest_row(kit, kit.names.context(level.context), level.verdict, False)
        for level in contrast.levels
        if several
    ]
    drawn = [row for row in rows if row is not None]
    if not drawn:
        return None
    metric = t.either(f"metric.{contrast.metric.name}", contrast.metric.name)
    delta = plain_percent(t, contrast.overall.delta)
    words = ForestWords(
        axis=t("chart.forest.axis", metric=metric, sides=sides),
        title=t(
            "chart.forest.title" if kit.names.by_version else "chart.forest.title-variant",
            workload=kit.names.workload(contrast.workload),
            metric=metric,
        ),
        note=t("chart.forest.note", delta=delta),
        ratio=kit.names.ratio,
        verdict=t("table.verdict"),
    )
    return forest(f"forest-{at + 1}", drawn, contrast.overall.delta, words)


def _forest_row(kit: Kit, label: str, verdict: Verdict, overall: bool) -> ForestRow | None:
    effect = verdict.effect
    if effect is None:
        return None
    text = f"{ratio_text(effect)}  ({interval_text(kit.t, effect)})"
    return ForestRow(
        label, effect.ratio, effect.low, effect.high, text, verdict_word(kit.t, verdict), overall
    )


def _cost(kit: Kit) -> str:
    analysis = kit.analysis
    return kit.t(
        "answer.cost.text",
        trials=len(analysis.due),
        attempts=len(analysis.trials),
        blocks=len({trial.block for trial in analysis.due}),
        measured=kit.duration(analysis.measured),
        wall=kit.duration(analysis.wall),
    )


def _excluded(kit: Kit) -> str:
    t, trials = kit.t, kit.analysis.trials
    out = [trial for trial in trials if trial.outcome is not Outcome.COUNTED]
    if not out:
        return t("answer.excluded.none")
    reasons = Counter(
        problem_text(problem, t.language)
        for trial in out
        for problem in {one.code: one for one in trial.problems}.values()
    )
    listed = t("list.separator").join(
        t("answer.excluded.reason", count=count, reason=reason)
        for reason, count in reasons.most_common()
    )
    text = t.plural("answer.excluded.some", len(out), attempts=len(trials), reasons=listed)
    lost = {one.number for one in out} - {
        one.number for one in trials if one.outcome is Outcome.COUNTED
    }
    return text + (t.plural("answer.excluded.lost", len(lost)) if lost else "")


def _undecided(kit: Kit) -> str:
    t = kit.t
    parts = []
    for contrast in _asked(kit):
        open_levels = [
            kit.names.context(level.context) for level in contrast.levels if is_open(level)
        ]
        if contrast.overall.kind is VerdictKind.INCONCLUSIVE:
            open_levels.insert(0, t("level.overall"))
        if len(open_levels) > MOST_OPEN:
            workload = _of_several(kit, contrast)
            count = sum(map(is_open, contrast.levels))
            parts.append(
                t(
                    "answer.undecided-many",
                    workload=workload,
                    count=count,
                    of=len(contrast.levels),
                )
            )
        elif open_levels:
            parts.append(
                t(
                    "answer.undecided.workload",
                    workload=_of_several(kit, contrast),
                    levels=t("list.separator").join(open_levels),
                )
            )
    return t("list.strong").join(parts) if parts else t("answer.undecided.none")


def _of_several(kit: Kit, contrast: ContrastResult) -> str:
    """The workload, and which side where several are compared with the old one."""
    workload = kit.names.workload(contrast.workload)
    sides = {one.new for one in _asked(kit) if one.workload == contrast.workload}
    if len(sides) < 2:
        return workload
    return kit.t("answer.workload-of-side", workload=workload, side=kit.short(contrast.new))


def is_open(level: LevelResult) -> bool:
    return level.verdict.kind is VerdictKind.INCONCLUSIVE
