"""The two campaigns of a comparison: names, verdicts, differences and environments in words."""

from __future__ import annotations

from collections.abc import Callable

from teiten.analysis.model.comparison import Comparison, Difference, UnpairedResult, Weight
from teiten.analysis.model.findings import CampaignAnalysis, VerdictKind
from teiten.model.facts import HostFacts, Severity
from teiten.model.text import Language
from teiten.report.names import Side
from teiten.report.numbers import NOTHING, bytes_text, moment
from teiten.report.sentences import pooled_text, processor, statement
from teiten.report.tables import Column, Row, Table, TableCell, cells
from teiten.report.texts import Texts, caution_text, texts
from teiten.report.view.evidence import environment_rows
from teiten.report.view.kit import Kit


class Pair:
    """Two campaigns with the words for them."""

    def __init__(self, comparison: Comparison, language: Language) -> None:
        self.comparison = comparison
        self.t: Texts = texts(language)
        self.kits = (Kit(comparison.a, language), Kit(comparison.b, language))
        self.machines = "-of-one-machine" if comparison.same_machine else ""
        """The end of the keys of texts that speak of the machines."""
        distinct = distinctions(comparison.a, comparison.b, self.t)
        self.sides = tuple(
            Side(letter, self.t("comparison.side", letter=letter, what=what), letter)
            for letter, what in zip("AB", distinct, strict=True)
        )
        self.columns = (
            Column(self.t("table.what")),
            *(Column(side.long) for side in self.sides),
        )

    def server(self, result: UnpairedResult) -> str:
        """The contrasted level: ``PostgreSQL 18.4``, or both sides' where they differ."""
        old, new = (
            kit.names.side(level).long
            for kit, level in zip(self.kits, (result.side.a, result.side.b), strict=True)
        )
        return old if old == new else self.t("comparison.servers", a=old, b=new)

    def title(self, result: UnpairedResult) -> str:
        """``Range read, PostgreSQL 18.4``"""
        workload = self.kits[0].names.workload(result.workload)
        return self.t("comparison.part", workload=workload, server=self.server(result))

    def sentence(self, result: UnpairedResult) -> str:
        """The verdict over all levels in one sentence, with its interval."""
        t, names, metric = self.t, self.kits[0].names, result.metric
        told_by_itself = metric.is_throughput or result.overall.kind is VerdictKind.MIXED
        words = {
            "old": self.sides[0].long,
            "new": self.sides[1].long,
            "what": self.title(result),
            "subject": "" if told_by_itself else t("sentence.metric", metric=t.metric(metric)),
        }
        verdict = statement(t, "comparison-sentence", result, words, names.context)
        return pooled_text(t, names, result.levels) + verdict


def distinctions(a: CampaignAnalysis, b: CampaignAnalysis, t: Texts) -> tuple[str, str]:
    """Find what tells two machines apart, in the order of what people name first; else the names
    of the campaigns, and the times where those are the same."""
    readers: tuple[Callable[[HostFacts], str], ...] = (
        lambda facts: facts.distribution or facts.system,
        lambda facts: processor(facts.cpu.model),
        lambda facts: t.plural("machine.unnamed", facts.cpu.logical),
        lambda facts: bytes_text(facts.memory.total),
        lambda facts: facts.kernel,
    )
    for read in readers:
        names = read(a.facts), read(b.facts)
        if names[0] != names[1] and all(names):
            return names
    return (a.name, b.name) if a.name != b.name else (moment(a.created_at), moment(b.created_at))


BYTES = frozenset({"memory", "memory-limit"})


def difference_text(t: Texts, difference: Difference) -> str:
    """``scale factor of read: 10 against 20``"""
    return t("comparison.difference", **_words(t, difference))


def _words(t: Texts, difference: Difference) -> dict[str, str]:
    """Name a difference, with the value of either side."""
    values = {"a": difference.a, "b": difference.b}
    for side, value in values.items():
        if difference.code in BYTES and value.isdecimal():
            values[side] = bytes_text(float(value))
        else:
            values[side] = t.either(f"difference-value.{value}", value)
    return {"what": t(f"difference.{difference.code}", subject=difference.subject), **values}


def obstacle_lines(comparison: Comparison, language: Language) -> tuple[str, ...]:
    """List what forbids the comparison, a line each."""
    t = texts(language)
    return tuple(difference_text(t, obstacle) for obstacle in comparison.obstacles)


def difference_table(pair: Pair, weight: Weight) -> Table | None:
    t = pair.t
    rows = tuple(
        cells(*_words(t, difference).values())
        for difference in pair.comparison.differences
        if difference.weight is weight
    )
    caption = t(f"comparison.differences.{weight.value}")
    table = Table(f"differences-{weight.value}", caption, pair.columns, rows, sortable=False)
    return table if rows else None


def environment_table(pair: Pair) -> Table:
    """Both environments side by side; what differs is marked."""
    t = pair.t
    here, there = (dict(environment_rows(kit)) for kit in pair.kits)
    rows = [
        _row(name, here.get(name) or NOTHING, there.get(name) or NOTHING)
        for name in dict.fromkeys((*here, *there))
        if here.get(name) or there.get(name)
    ]
    return Table(
        "environments",
        t("comparison.environments"),
        pair.columns,
        (*rows, *_server_rows(pair)),
        note=t("comparison.environments-note"),
        sortable=False,
    )


def caution_table(pair: Pair) -> Table | None:
    """Tabulate what could have disturbed either campaign, the warnings first; None without any."""
    t = pair.t
    cautions: dict[str, tuple[bool, set[int]]] = {}
    for at, kit in enumerate(pair.kits):
        for caution in kit.analysis.cautions:
            what, _ = caution_text(caution, t.language)
            _, sides = cautions.setdefault(what, (caution.severity is Severity.WARNING, set()))
            sides.add(at)
    if not cautions:
        return None
    ordered = sorted(cautions.items(), key=lambda entry: not entry[1][0])
    rows = tuple(
        cells(what, *(t("difference-value.yes") if at in sides else "" for at in (0, 1)))
        for what, (_, sides) in ordered
    )
    columns = (Column(t("heading.cautions")), *(Column(side.short) for side in pair.sides))
    return Table("cautions", t("comparison.cautions"), columns, rows, sortable=False)


def _server_rows(pair: Pair) -> list[Row]:
    """Version and compiler of each server that both have."""
    names, rows = pair.kits[0].names, []
    for side in dict.fromkeys(result.side for result in pair.comparison.results):
        if names.is_server:
            versions = (
                kit.analysis.server_facts.get(level, {}).get("version") or NOTHING
                for kit, level in zip(pair.kits, (side.a, side.b), strict=True)
            )
            name = pair.t("comparison.server-row", server=names.side(side.a).short)
            rows.append(_row(name, *versions))
    return rows


def _row(name: str, a: str, b: str) -> Row:
    kind = "differs" if a != b else ""
    return (TableCell(name), TableCell(a, kind=kind), TableCell(b, kind=kind))
