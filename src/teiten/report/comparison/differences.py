"""The differences of two campaigns as tables and notices, and their environments side by side."""

from __future__ import annotations

from teiten.analysis.model.comparison import Comparison, Difference, Weight
from teiten.model.facts import Severity
from teiten.model.study import SERVER
from teiten.model.text import Language
from teiten.report.comparison.sides import Pair
from teiten.report.numbers import bytes_text
from teiten.report.tables import Column, Row, Table, TableCell, cells
from teiten.report.texts import Texts, caution_text, texts
from teiten.report.view.evidence import environment_rows

BYTES = frozenset({"memory", "memory-limit"})


def difference_text(t: Texts, one: Difference) -> str:
    """``scale factor of read: 10 against 20``"""
    return t(
        "comparison.difference",
        what=_what(t, one),
        a=_value(t, one, one.a),
        b=_value(t, one, one.b),
    )


def obstacle_lines(comparison: Comparison, language: Language) -> tuple[str, ...]:
    """List what forbids the comparison, a line each."""
    t = texts(language)
    return tuple(difference_text(t, obstacle) for obstacle in comparison.obstacles)


def difference_table(pair: Pair, weight: Weight) -> Table | None:
    t = pair.t
    found = [
        difference for difference in pair.comparison.differences if difference.weight is weight
    ]
    if not found:
        return None
    columns = (Column(t("table.what")), *(Column(side.long) for side in pair.sides))
    rows = tuple(
        cells(_what(t, one), _value(t, one, one.a), _value(t, one, one.b)) for one in found
    )
    return Table(
        f"differences-{weight.value}",
        t(f"comparison.differences.{weight.value}"),
        columns,
        rows,
        sortable=False,
    )


def environment_table(pair: Pair) -> Table:
    """Both environments side by side; what differs is marked."""
    t = pair.t
    here, there = (dict(environment_rows(kit)) for kit in pair.kits)
    rows = [
        _row(name, here.get(name) or "—", there.get(name) or "—")
        for name in dict.fromkeys((*here, *there))
        if here.get(name) or there.get(name)
    ]
    return Table(
        "environments",
        t("comparison.environments"),
        (Column(t("table.what")), *(Column(side.long) for side in pair.sides)),
        (*rows, *_server_rows(pair)),
        note=t("comparison.environments-note"),
        sortable=False,
    )


def caution_table(pair: Pair) -> Table | None:
    """Tabulate what could have disturbed either campaign, the warnings first; None without any."""
    t = pair.t
    told: dict[str, tuple[bool, set[int]]] = {}
    for at, kit in enumerate(pair.kits):
        for caution in kit.analysis.cautions:
            what, _ = caution_text(caution, t.language)
            _, sides = told.setdefault(what, (caution.severity is Severity.WARNING, set()))
            sides.add(at)
    if not told:
        return None
    ordered = sorted(told.items(), key=lambda one: not one[1][0])
    rows = tuple(
        cells(what, *(t("difference-value.yes") if at in sides else "" for at in (0, 1)))
        for what, (_, sides) in ordered
    )
    columns = (Column(t("heading.cautions")), *(Column(side.short) for side in pair.sides))
    return Table("cautions", t("comparison.cautions"), columns, rows, sortable=False)


def _server_rows(pair: Pair) -> list[Row]:
    """Version and compiler of each server that both have."""
    rows = []
    sides = dict.fromkeys(result.side for result in pair.comparison.results)
    for side in sides:
        found = [
            kit.analysis.server_facts.get(level, {}).get("version") or "—"
            for kit, level in zip(pair.kits, (side.a, side.b), strict=True)
        ]
        if pair.kits[0].names.contrast == SERVER:
            name = pair.t("comparison.server-row", server=pair.kits[0].names.side(side.a).short)
            rows.append(_row(name, *found))
    return rows


def _row(name: str, a: str, b: str) -> Row:
    kind = "differs" if a != b else ""
    return (TableCell(name), TableCell(a, kind=kind), TableCell(b, kind=kind))


def _what(t: Texts, one: Difference) -> str:
    return t(f"difference.{one.code}", subject=one.subject)


def _value(t: Texts, one: Difference, value: str) -> str:
    if one.code in BYTES and value.isdecimal():
        return bytes_text(float(value))
    return t.either(f"difference-value.{value}", value)
