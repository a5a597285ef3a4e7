"""Procedures in the report: each method against the first, then what it took, step by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import log
from statistics import median

from teiten.analysis.model.findings import ContrastResult, VerdictKind
from teiten.analysis.model.observations import without
from teiten.kinds.contract_present import OwnAnswer, TrialColumn
from teiten.kinds.procedure.metrics import (
    BACKEND_CPU,
    PROCEDURE_TIME,
    PROCEDURE_WAL,
    ROWS_RATE,
    SIZE_CHANGE,
)
from teiten.kinds.procedure.model import METHOD, NAME, Method, procedure_of
from teiten.kinds.procedure.present.growth import boxed, growth_answer, growth_blocks
from teiten.kinds.procedure.results import StepOfTrial, steps_of
from teiten.model.metrics import Metric
from teiten.model.study import Workload
from teiten.report.blocks import Block, Details, Further, Statement, gallery, looked_up
from teiten.report.charts.bars import QueryAxes, QueryBar, is_logarithmic, query_bars
from teiten.report.charts.base import Chart, coloured
from teiten.report.charts.lines import SeriesColumn
from teiten.report.effects import effect_cells, percent
from teiten.report.names import step_text
from teiten.report.numbers import MINUS, NOTHING, bytes_text, significant
from teiten.report.sentences import answer_parts, verdict_kind, verdict_word
from teiten.report.tables import Column, Row, Table, TableCell, cells, number_cell, without_unknown
from teiten.report.view.contrasts import of_workload, verdict_cell
from teiten.report.view.kit import Kit, TrialGroup
from teiten.report.view.series import series_of
from teiten.report.view.usual import UsualPresent, contrasts_of, tables_of

OF_BACKEND = ("cpu", "read", "written", "wal")
BESIDE = ("program_cpu", "server_cpu", "to_recover")
"""Names of the figures that steps have of programs that they run."""
MOST_NAMED = 3
"""Undecided methods of a workload that are named; of more their number is given."""


class ProcedurePresent(UsualPresent):
    columns = (
        TrialColumn(PROCEDURE_TIME.name, 1000.0),
        TrialColumn(BACKEND_CPU.name, 1000.0),
        TrialColumn(ROWS_RATE.name),
    )
    series = (SeriesColumn("backend-cpu", "backend", "cpu_share", 100.0),)

    def duration(self, kit: Kit, workload: Workload) -> str:
        return kit.t("design.duration.procedure")

    def procedure(self, kit: Kit, workload: Workload) -> str:
        return kit.t("procedure.procedure")

    def own_answer(self, kit: Kit) -> OwnAnswer | None:
        """A table for each workload, of contrasted methods; else how times grow with partitions."""
        if kit.study.contrast != METHOD:
            return growth_answer(kit)
        blocks: list[Block] = []
        undecided: list[str] = []
        measured = (kit.study.workload(name) for name in kit.workloads_measured())
        mine = (workload.name for workload in measured if workload.kind == NAME)
        for at, workload in enumerate(mine, start=1):
            every = contrasts_of(kit, workload)
            contrasts = [contrast for contrast in every if contrast.metric == PROCEDURE_TIME]
            if contrasts:
                blocks += [_clearest(kit, contrasts), _against(kit, at, contrasts)]
                undecided += _undecided(kit, workload, contrasts)
        return OwnAnswer(tuple(blocks), tuple(undecided))

    def results(self, kit: Kit, prefix: str, workload: str) -> Iterable[Block]:
        groups = kit.of_workload(workload)
        if kit.study.contrast == METHOD:
            times, processors = (
                gallery((_bars(kit, f"{prefix}-{metric.name}", groups, metric),))
                for metric in (PROCEDURE_TIME, BACKEND_CPU)
            )
            yield from times
            yield Further(processors)
        yield from growth_blocks(kit, prefix, workload)
        taken = _taken(kit, f"{prefix}-methods", groups)
        steps = _by_step(kit, f"{prefix}-steps", groups)
        yield looked_up(kit.t("paper.steps"), (taken,)) if taken.tall else taken
        yield looked_up(kit.t("paper.steps"), (steps,)) if steps.tall else Further((steps,))
        yield from series_of(kit, prefix, workload)
        contrasts = tuple(tables_of(kit, prefix, workload, self.column))
        if contrasts:
            yield Further((Details(kit.t("procedure.contrasts"), contrasts),))


def _title(kit: Kit, workload: str, method: str) -> str:
    return kit.t.of(_method(kit, workload, method).title)


def _method(kit: Kit, workload: str, name: str) -> Method:
    return procedure_of(kit.study.workload(workload)).method(name)


def _clearest(kit: Kit, contrasts: Sequence[ContrastResult]) -> Statement:
    """The answer by the two methods that most surely differ most, with each one's longest step."""
    shown = max(contrasts, key=_apart)
    verdict, _, _ = answer_parts(kit.t, kit.names, kit.analysis, shown)
    points = (_dominating(kit, shown.workload, method) for method in (shown.old, shown.new))
    return Statement(
        kit.names.workload(shown.workload),
        verdict_kind(shown.overall),
        verdict_word(kit.t, shown.overall),
        verdict,
        None,
        tuple(filter(None, points)),
    )


def _apart(contrast: ContrastResult) -> tuple[bool, float]:
    effect = contrast.overall.effect
    decided = contrast.overall.is_given and contrast.overall.kind is not VerdictKind.INCONCLUSIVE
    return decided, abs(log(effect.ratio)) if effect else 0.0


def _dominating(kit: Kit, workload: str, method: str) -> str:
    """Name the step that takes most of a method's time; empty where it is timed by one alone."""
    shares = _shares(kit, workload, method)
    if not shares:
        return ""
    step = max(shares, key=lambda name: shares[name])
    share = percent(kit.t, shares[step], 0)
    title = _title(kit, workload, method)
    values = {"method": title, "step": step_text(kit.t, step), "share": share}
    return kit.t("table.methods.dominating", **values)


def _against(kit: Kit, at: int, contrasts: Sequence[ContrastResult]) -> Table:
    """Each method against its reference, both with the parts that they are timed by."""
    t = kit.t
    references = [contrast.old for contrast in contrasts]
    rows = tuple(
        _verdict(kit, contrast, repeated=contrast.old in references[:at])
        for at, contrast in enumerate(contrasts)
    )
    return Table(
        f"answer-methods-{at}",
        of_workload(kit, t("table.methods.caption"), contrasts[0].workload),
        (
            Column(t("factor.method")),
            Column(t("table.verdict")),
            Column(t("table.methods.times"), numeric=True),
            Column(t("table.interval"), numeric=True),
            Column(t("table.methods.against")),
            Column(t("table.pairs"), numeric=True),
        ),
        rows,
        note=t("table.methods.note") if at == 1 else "",
    )


def _verdict(kit: Kit, contrast: ContrastResult, *, repeated: bool) -> Row:
    """``repeated``: a row above has the parts of the same reference."""
    effect, overall = contrast.overall.effect, contrast.overall
    return (
        TableCell(_with_parts(kit, contrast.workload, contrast.new)),
        verdict_cell(kit.t, overall),
        *effect_cells(kit.t, effect),
        TableCell((_title if repeated else _with_parts)(kit, contrast.workload, contrast.old)),
        TableCell(str(overall.pairs), overall.pairs),
    )


def _with_parts(kit: Kit, workload: str, method: str) -> str:
    """A method's title; of several steps with the share that each has of their time."""
    parts = (
        kit.t("table.methods.part", step=step_text(kit.t, name), share=percent(kit.t, share, 0))
        for name, share in _shares(kit, workload, method).items()
    )
    return kit.t.aside(_title(kit, workload, method), kit.t("list.separator").join(parts))


def _shares(kit: Kit, workload: str, method: str) -> dict[str, float]:
    """Share of each step in the time of a method of several; empty of any other."""
    groups = (group for group in kit.of_workload(workload) if _method_of(kit, group) == method)
    times = _times(step for group in groups for step in _all_steps(group))
    return {name: share for name, (_, share) in times.items()} if len(times) > 1 else {}


def _times(steps: Iterable[StepOfTrial]) -> dict[str, tuple[float, float]]:
    """The median seconds of each step, and their share of those of all steps."""
    seconds: dict[str, list[float]] = {}
    for step in steps:
        seconds.setdefault(step.name, []).append(step.seconds)
    medians = {name: median(values) for name, values in seconds.items()}
    total = sum(medians.values())
    return {name: (value, value / total if total else 0.0) for name, value in medians.items()}


def _undecided(kit: Kit, workload: str, contrasts: Sequence[ContrastResult]) -> Iterator[str]:
    open_ones = [
        contrast for contrast in contrasts if contrast.overall.kind is VerdictKind.INCONCLUSIVE
    ]
    name = kit.names.workload(workload)
    if len(open_ones) > MOST_NAMED:
        key = "all" if len(open_ones) == len(contrasts) else "many"
        count, of = len(open_ones), len(contrasts)
        yield kit.t(f"procedure.undecided-{key}", workload=name, count=count, of=of)
    elif open_ones:
        listed = kit.t.listed(_title(kit, workload, open_one.new) for open_one in open_ones)
        yield kit.t("procedure.undecided", workload=name, methods=listed)


def _method_of(kit: Kit, group: TrialGroup) -> str:
    return {**dict(group.context), kit.study.contrast: group.side}.get(METHOD, "")


def _in_words(kit: Kit, group: TrialGroup) -> tuple[str, str]:
    """The method by its title, and what else is varied."""
    others = without(group.context, METHOD)
    varied = kit.names.context(others)
    if kit.study.contrast != METHOD:
        levels = varied if others else ""
        varied = kit.t("list.separator").join(filter(None, (levels, kit.short(group.side))))
    return _title(kit, group.workload, _method_of(kit, group)), varied


def _bars(kit: Kit, name: str, groups: Sequence[TrialGroup], metric: Metric) -> Chart | None:
    """The median of each method, a bar for each level of what else is varied."""
    bars = []
    for group in groups:
        values = [1000 * value for value in group.values(metric.name)]
        if values:
            method, level = _in_words(kit, group)
            text = f"{significant(median(values))} ms"
            bars.append(QueryBar("", method, level, median(values), min(values), max(values), text))
    if not bars:
        return None
    drawn = "dots" if is_logarithmic([bar.value for bar in bars]) else "bars"
    axes = QueryAxes(
        x=kit.metric_title(metric),
        queries=tuple(dict.fromkeys(bar.query for bar in bars)),
        sides=coloured(dict.fromkeys(bar.side for bar in bars)),
        panels=("",),
        side=kit.t("table.level"),
        query=kit.t("factor.method"),
    )
    title, note = kit.t.title(f"metric.{metric.name}"), kit.t(f"chart.methods.{drawn}")
    return query_bars(name, title, note, bars, axes)


def _taken(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Table:
    """Medians of what each method took."""
    t = kit.t
    rows = tuple(
        cells(
            *_in_words(kit, group),
            number_cell(group.median(PROCEDURE_TIME.name), _milliseconds),
            number_cell(group.median(ROWS_RATE.name), significant),
            number_cell(group.median(BACKEND_CPU.name), _milliseconds),
            number_cell(group.median(PROCEDURE_WAL.name), bytes_text),
            number_cell(group.median(SIZE_CHANGE.name), bytes_text),
        )
        for group in groups
    )
    keys = ("time", "rate", "cpu", "wal", "size")
    columns, rows = without_unknown(
        (Column(t("factor.method")), Column(t("table.level")), *_columns(kit, keys)), rows
    )
    texts = [cell.text for row in rows for cell in row]
    note = t("table.taken.note")
    note += t("table.taken.note-size") if any(text.startswith(MINUS) for text in texts) else ""
    note += t("table.taken.note-unknown") if NOTHING in texts else ""
    return boxed(Table(name, t("table.taken.caption"), columns, rows, note=note))


def _by_step(kit: Kit, name: str, groups: Sequence[TrialGroup]) -> Table:
    """Medians of each step, with its share of all of them."""
    t = kit.t
    every = [step for group in groups for step in _all_steps(group)]
    beside = [key for key in BESIDE if any(getattr(step, key) is not None for step in every)]
    rows = tuple(row for group in groups for row in _steps(kit, group, beside))
    columns = (
        *(Column(t(f"table.{key}")) for key in ("steps.method", "level", "steps.step")),
        *_columns(kit, ("time", "share", *OF_BACKEND)),
        *_columns(kit, (key.replace("_", "-") for key in beside)),
    )
    note = t("table.steps.note")
    note += t("table.steps.note-programs") if "program_cpu" in beside else ""
    note += t("table.steps.note-crash") if "to_recover" in beside else ""
    return boxed(Table(name, t("table.steps.caption"), columns, rows, note=note))


def _columns(kit: Kit, keys: Iterable[str]) -> Iterator[Column]:
    return (Column(kit.t(f"table.taken.{key}"), numeric=True) for key in keys)


def _all_steps(group: TrialGroup) -> Iterator[StepOfTrial]:
    return (step for trial in group.trials for step in steps_of(trial.facts))


def _steps(kit: Kit, group: TrialGroup, beside: Sequence[str]) -> Iterator[Row]:
    """``beside``: further figures, of what the backend does not do itself."""
    steps = list(_all_steps(group))
    for name, (seconds, share) in _times(steps).items():
        same = [step for step in steps if step.name == name]
        yield cells(
            *_in_words(kit, group),
            step_text(kit.t, name),
            TableCell(_milliseconds(seconds), seconds),
            TableCell(percent(kit.t, share, 0), share),
            *(_of_steps(same, figure) for figure in (*OF_BACKEND, *beside)),
        )


def _of_steps(steps: Sequence[StepOfTrial], name: str) -> TableCell:
    values = [float(value) for step in steps if (value := getattr(step, name)) is not None]
    shown = _milliseconds if name.endswith("cpu") else bytes_text
    return number_cell(median(values) if values else None, shown)


def _milliseconds(seconds: float) -> str:
    return significant(seconds * 1000)


PRESENT = ProcedurePresent()
