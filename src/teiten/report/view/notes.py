"""Notes that people added to a report, where published reports have them: remarks after the
results, authors, licence, acknowledgements and revisions at the end."""

from __future__ import annotations

from collections.abc import Iterator

from teiten.report.blocks import Block, Heading, Pairs, Section, Text
from teiten.report.notes import Notes
from teiten.report.tables import Column, Table, cells
from teiten.report.view.kit import Kit


def remarks(kit: Kit, notes: Notes) -> Section:
    """Empty without any."""
    t = kit.t
    shown: tuple[Block, ...] = tuple(Text(t.of(remark)) for remark in notes.remarks)
    if shown:
        shown = (Text(t("notes.whose"), "note"), *shown)
    return Section("remarks", t("section.remarks"), shown)


def about(kit: Kit, notes: Notes) -> Section:
    """Empty without anything to say."""
    t = kit.t
    shown: list[Block] = []
    facts = tuple(front(kit, notes))
    if facts:
        shown.append(Pairs(facts, "facts"))
    if notes.acknowledgements:
        shown.append(Heading(3, t("notes.acknowledgements")))
        shown += [Text(t.of(acknowledgement)) for acknowledgement in notes.acknowledgements]
    if notes.revisions:
        columns = tuple(Column(t(f"notes.{name}")) for name in ("version", "date", "change"))
        rows = tuple(
            cells(revision.version, revision.date, t.of(revision.text))
            for revision in notes.revisions
        )
        shown.append(Table("revisions", t("notes.revisions"), columns, rows, sortable=False))
    return Section("about", t("section.about"), tuple(shown), appendix=True)


def front(kit: Kit, notes: Notes) -> Iterator[tuple[str, str]]:
    """Organisation, authors and licence."""
    t = kit.t
    if notes.organisation:
        yield t("notes.organisation"), t.of(notes.organisation)
    if notes.authors:
        told = (
            t("notes.author", name=author.name, organisation=author.organisation)
            if author.organisation
            else author.name
            for author in notes.authors
        )
        yield t("notes.authors"), t("list.separator").join(told)
    if notes.licence:
        yield t("notes.licence"), t.of(notes.licence)
