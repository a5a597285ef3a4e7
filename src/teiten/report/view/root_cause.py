"""Part 4: why, in the code: flame graphs, functions, and what changed per transaction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from teiten.analysis.model.discussion import Counted, Origin, PerTransaction, Taken
from teiten.analysis.model.stacks import (
    Explained,
    FunctionCost,
    LevelStacks,
    StacksContrast,
    Unexplained,
)
from teiten.analysis.model.verdict import Estimate
from teiten.report.blocks import (
    Block,
    Details,
    FlameGraph,
    Items,
    Text,
    Unfolded,
    looked_up,
)
from teiten.report.effects import (
    change_decimals,
    change_interval,
    percent,
)
from teiten.report.flame_graph import (
    COLOURS,
    LESS,
    MORE,
    Frame,
    difference,
    flame_graph,
    greatest_difference,
    tree,
)
from teiten.report.numbers import NOTHING, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells, headings
from teiten.report.view.kit import Kit

MOST_FUNCTIONS = 25
MICRO, MILLI = 1e6, 1e3
POINTS = 100
MILLI_FROM = 0.02
"""Seconds of CPU per transaction from which milliseconds are read more easily."""
CERTAIN = "verdict certain"


@dataclass(frozen=True)
class Unit:
    """In which a table shows CPU time."""

    name: str
    factor: float


def root_causes(kit: Kit, prefix: str, workload: str) -> Iterator[Block]:
    """Show the causes at every contrast and level of a workload, in the study's order: of the first
    in which something differs what is said and the difference, the appendix has the others."""
    profiled = {
        (contrast.context, contrast.old, contrast.new): contrast
        for contrast in kit.analysis.stacks.contrasts
        if contrast.workload == workload
    }
    taken = {
        (table.context, table.old, table.new): table
        for table in kit.analysis.per_transaction
        if table.workload == workload
    }
    keys = dict.fromkeys((*taken, *profiled))
    differing = {
        key for key, table in taken.items() if any(row.change.certain for row in table.rows)
    }
    telling = [key for key in keys if key in profiled or key in differing]
    if keys and not telling:
        yield Text(kit.t("root.nothing"))
    for at, key in enumerate(keys):
        name = f"{prefix}-cause-{at + 1}"
        rest = tuple(_cause(kit, name, profiled.get(key), taken.get(key)))
        context, old, new = key
        sides = {"old": kit.names.titled(old), "new": kit.names.titled(new)}
        title = kit.t("root.title", level=kit.names.context(context), **sides)
        if key in telling[:1]:
            first = tuple(block for block in rest if not _is_looked_up(block, name))
            rest = tuple(block for block in rest if block not in first)
            yield Details(title, first, Unfolded.STRONG, "cause", opened=True)
        if rest:
            cause = Details(title, rest, Unfolded.STRONG, "cause")
            yield looked_up(kit.t("paper.causes"), (cause,))


def _is_looked_up(block: Block, name: str) -> bool:
    """One side's flame graph, or the table of functions, once the difference was seen."""
    if isinstance(block, FlameGraph):
        return block.folded
    return isinstance(block, Table) and block.name == f"{name}-functions"


def _cause(
    kit: Kit, name: str, profile: StacksContrast | None, rows: PerTransaction | None
) -> Iterator[Block]:
    if profile:
        yield Items(_sentences(kit, profile), "findings")
        yield from _drawings(kit, name, profile)
        yield _functions(kit, f"{name}-functions", profile)
    if rows:
        yield _taken(kit, f"{name}-taken", rows)


def _sentences(kit: Kit, contrast: StacksContrast) -> tuple[str, ...]:
    """Compute what the report of 2021 said by hand of one function; or say why it is not said."""
    t, unit = kit.t, _unit(kit, contrast)
    difference = contrast.change.mean * unit.factor
    digits = change_decimals(contrast.change, unit.factor)
    interval = change_interval(t, contrast.change, unit.factor)
    values = {
        "old": kit.names.side(contrast.old).long,
        "new": kit.names.side(contrast.new).long,
        "amount": f"{fixed(abs(difference), digits)} {unit.name}",
        "signed": f"{fixed(difference, digits, signed=True)} {unit.name}",
        "interval": f"{interval} {unit.name}" if interval else NOTHING,
        "confidence": kit.confidence,
    }
    direction = "more" if difference > 0 else "less"
    match contrast.explained:
        case Explained() as explained:
            sentence = t(f"root.explained-{direction}", **values, **_part(kit, explained))
        case Unexplained.SPREAD:
            sentence = t(f"root.spread-{direction}", **values)
        case reason:
            sentence = t(f"root.{reason.value}", **values)
    own = contrast.most_itself
    if own is None:
        return (sentence,)
    return sentence, t("root.own", **_part(kit, own))


def _part(kit: Kit, explained: Explained) -> dict[str, str]:
    digits = change_decimals(explained.change, POINTS)
    return {
        "function": explained.function,
        "part": percent(kit.t, explained.part, 0),
        "before": percent(kit.t, explained.before, digits),
        "after": percent(kit.t, explained.after, digits),
        "points": change_interval(kit.t, explained.change, POINTS),
    }


def _unit(kit: Kit, contrast: StacksContrast) -> Unit:
    if max(contrast.old_cost, contrast.new_cost) >= MILLI_FROM:
        return Unit(kit.t("root.unit-ms"), MILLI)
    return Unit(kit.t("root.unit-us"), MICRO)


def _change_cell(kit: Kit, change: Estimate, factor: float) -> TableCell:
    """The difference with its interval, marked where that excludes 0."""
    value = change.mean * factor
    if change.low is None:
        return TableCell(significant(value, signed=True), value)
    shown = fixed(value, change_decimals(change, factor), signed=True)
    text = kit.t("root.change", value=shown, interval=change_interval(kit.t, change, factor))
    return TableCell(text, value, kind=CERTAIN if change.certain else "")


def _functions(kit: Kit, name: str, contrast: StacksContrast) -> Table:
    t, unit = kit.t, _unit(kit, contrast)
    old, new = kit.short(contrast.old), kit.short(contrast.new)
    sides = (old, new, t("root.difference"))
    numbers = [t(f"root.{kind}", side=side) for kind in ("self", "total") for side in sides]
    numbers.append(t("root.share", side=sides[-1]))
    columns = (*headings(t, "root.function"), *(Column(title, numeric=True) for title in numbers))
    shown = _shown(contrast)
    whole = _three(kit, unit, contrast.old_cost, contrast.new_cost, contrast.change)
    rows = tuple(_function_row(kit, unit, contrast, function) for function in shown)
    return Table(
        name,
        t("root.functions-caption", unit=unit.name),
        columns,
        rows,
        total=(*cells(t("root.whole"), "", "", ""), *whole, TableCell("")),
        note=t(
            "root.functions-note",
            shown=len(shown),
            compared=contrast.compared,
            pairs=contrast.pairs,
            confidence=kit.confidence,
        ),
        tall=len(shown) > 15,
    )


def _shown(contrast: StacksContrast) -> list[FunctionCost]:
    """Those that explain most, by their own code or with what they call, and those named."""
    named = {
        explained.function
        for explained in (contrast.explained, contrast.most_itself)
        if isinstance(explained, Explained)
    }
    by_total = sorted(contrast.functions, key=lambda function: -abs(function.total_change.mean))
    chosen = {function.name for function in (*contrast.functions[:15], *by_total[:10])} | named
    return [function for function in contrast.functions if function.name in chosen][:MOST_FUNCTIONS]


def _function_row(kit: Kit, unit: Unit, contrast: StacksContrast, function: FunctionCost) -> Row:
    where = contrast.new if function.only_new else contrast.old if function.only_old else ""
    label = kit.t("root.only", name=function.name, side=kit.short(where)) if where else ""
    return (
        TableCell(label or function.name, kind="code"),
        *_three(kit, unit, function.old_self, function.new_self, function.self_change),
        *_three(kit, unit, function.old_total, function.new_total, function.total_change),
        _change_cell(kit, function.share_change, POINTS),
    )


def _three(kit: Kit, unit: Unit, old: float, new: float, change: Estimate) -> Row:
    return (
        *(TableCell(significant(value * unit.factor), value) for value in (old, new)),
        _change_cell(kit, change, unit.factor),
    )


def _drawings(kit: Kit, name: str, contrast: StacksContrast) -> tuple[FlameGraph, ...]:
    t, unit = kit.t, _unit(kit, contrast)
    both = tree(contrast.old_stacks, contrast.new_stacks)
    values = {"old": kit.names.side(contrast.old).long, "new": kit.names.side(contrast.new).long}
    title = t("flame.difference-title", **values)

    def words(frame: Frame) -> tuple[str, str]:
        name = frame.name or t("flame.whole")
        change = significant((frame.new - frame.old) * unit.factor, signed=True)
        hint = t(
            "flame.difference-hint",
            name=name,
            change=f"{change} {unit.name}",
            old=kit.short(contrast.old),
            new=kit.short(contrast.new),
            before=significant(frame.old * unit.factor),
            after=f"{significant(frame.new * unit.factor)} {unit.name}",
        )
        return f"{name} {change}", hint

    strongest = f"{significant(greatest_difference(both) * unit.factor)} {unit.name}"
    values |= {"unit": unit.name, "strongest": strongest}
    new = kit.names.titled(contrast.new)
    first = FlameGraph(
        f"{name}-difference",
        title,
        t("flame.difference-note", pairs=contrast.pairs, **values),
        difference(both, title, words),
        difference(both, title, words, alone=True),
        folded=False,
        legend=((MORE, t("flame.more", side=new)), (LESS, t("flame.less", side=new))),
    )
    levels = {
        level.side: level
        for level in kit.analysis.stacks.levels
        if (level.workload, level.context) == (contrast.workload, contrast.context)
    }
    return first, *(
        _side_drawing(kit, f"{name}-{word}", unit, levels[side])
        for word, side in (("old", contrast.old), ("new", contrast.new))
    )


def _side_drawing(kit: Kit, name: str, unit: Unit, level: LevelStacks) -> FlameGraph:
    title = kit.t("flame.side-title", side=kit.names.side(level.side).long)
    note = kit.t(
        "flame.side-note" if level.kernel else "flame.side-note-user",
        samples=f"{level.samples:,}",
        windows=level.windows,
        cost=f"{significant(level.cost * unit.factor, 4)} {unit.name}",
        unresolved=percent(kit.t, level.unresolved, 1),
    )

    def words(frame: Frame) -> tuple[str, str]:
        name = frame.name or kit.t("flame.whole")
        cost = f"{significant(frame.old * unit.factor)} {unit.name}"
        share = percent(kit.t, frame.old / level.cost, 1)
        return name, kit.t("flame.hint", name=name, cost=cost, share=share)

    draw = partial(flame_graph, tree(level.stacks, {}), title, words)
    legend = tuple((colour, kit.t(f"flame.{kind}")) for kind, colour in COLOURS.items())
    return FlameGraph(name, title, note, draw(), draw(alone=True), folded=True, legend=legend)


def _taken(kit: Kit, name: str, transaction: PerTransaction) -> Table:
    t = kit.t
    sides = (kit.short(transaction.old), kit.short(transaction.new))
    columns = (
        *headings(t, "table.what", "taken.unit"),
        *(Column(side, numeric=True) for side in sides),
        *headings(t, "root.difference", "table.pairs", numeric=True),
    )
    by_perf = any(row.origin is Origin.PROFILE for row in transaction.rows)
    note = t(
        "taken.note",
        rows=len(transaction.rows),
        confidence=kit.confidence,
    )
    return Table(
        name,
        t("taken.caption"),
        columns,
        tuple(_taken_row(kit, row) for row in transaction.rows),
        note=note + (t("taken.note-perf") if by_perf else "") + kit.of_nodes,
        sortable=False,  # rows of bytes, seconds and counts have no order by value
    )


def _taken_row(kit: Kit, row: Taken) -> Row:
    unit, factor = taken_unit(kit, row)
    return (
        TableCell(taken_label(kit, row)),
        TableCell(unit),
        *(TableCell(significant(value * factor), value) for value in (row.old, row.new)),
        _change_cell(kit, row.change, factor),
        TableCell(str(row.pairs), row.pairs),
    )


def taken_label(kit: Kit, row: Taken) -> str:
    """Name what was counted per transaction; what was counted in the window of perf is marked."""
    t = kit.t
    label = t("taken.wait", event=row.name) if row.is_wait else t(f"taken.{row.name}")
    return t("taken.by-perf", label=label) if row.origin is Origin.PROFILE else label


def taken_unit(kit: Kit, row: Taken) -> tuple[str, float]:
    """The shown unit, and the factor to it."""
    return {
        Counted.SECONDS: (kit.t("root.unit-us"), MICRO),
        Counted.BYTES: ("B", 1.0),
        Counted.COUNT: ("", 1.0),
    }[row.kind]
