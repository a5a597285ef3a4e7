"""A campaign's report as a page: its sections in REPORT.md's order.

Part 3: the results of each workload, as its kind presents them. The summary before the appendix,
the lines of a title page, and notes that people added, where published reports have them: remarks
after the results, authors, licence, acknowledgements and revisions at the end.
"""

from __future__ import annotations

from collections.abc import Iterator

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.kinds.contract_present import present_in, presents_in
from teiten.model.text import Language
from teiten.report.blocks import (
    Block,
    Gallery,
    Heading,
    Items,
    Page,
    Pairs,
    Section,
    Text,
    looked_up,
    with_contents,
)
from teiten.report.notes import NO_NOTES, Notes
from teiten.report.numbers import moment
from teiten.report.parts import parted
from teiten.report.sentences import machine_text
from teiten.report.tables import Column, Table, cells
from teiten.report.view.answer import answer, answers
from teiten.report.view.asked import asked
from teiten.report.view.contrasts import with_captions
from teiten.report.view.discussion import discussion
from teiten.report.view.evidence import evidence
from teiten.report.view.findings import findings, summary_of_findings
from teiten.report.view.kit import Kit
from teiten.report.view.overview import in_one_table, is_many
from teiten.report.view.why import why


def view(
    analysis: CampaignAnalysis, language: Language, notes: Notes = NO_NOTES, beside: str = ""
) -> Page:
    """Everything computed and worded, the appendix behind the body; what is left is layout.
    ``beside``: the relative address of
    the campaign's folder, to which trials link; empty for no links."""
    kit = Kit(analysis, language, beside)
    t = kit.t
    ended = analysis.finished_at
    meta = (
        t("meta.started", at=moment(analysis.created_at)),
        *([t("meta.finished", at=moment(ended))] if ended else []),
        t("meta.profile", profile=kit.study.profile),
    )
    lines = answers(kit)
    of_kinds = (section for kind in presents_in(kit).values() for section in kind.sections(kit))
    first, *others = parted(
        t,
        (
            answer(kit),
            asked(kit),
            results(kit),
            discussion(kit),
            remarks(kit, notes),
            why(kit),
            *of_kinds,
            findings(kit),
            summary(kit, lines),
            evidence(kit),
            about(kit, notes),
        ),
    )
    sections = with_contents(t("heading.contents"), first, *others)
    title = t.of(notes.title) or t.of(kit.study.title)
    return Page(
        t, title, analysis.name, meta, sections, tuple(front(kit, notes)), tuple(cover(kit, lines))
    )


def results(kit: Kit) -> Section:
    """A part for each workload that was measured; of many, first what they have in one table."""
    parts: dict[str, tuple[Block, ...]] = {}
    for at, name in enumerate(kit.workloads_measured()):
        of_kind = present_in(kit, name).results(kit, f"workload-{at + 1}", name)
        parts[name] = with_captions(kit, name, of_kind)
    shown: list[Block] = []
    if is_many(kit):
        together, parts = in_one_table(kit, parts)
        shown += together
    for name, blocks in parts.items():
        shown.append(Heading(3, kit.names.workload(name), part=True))
        shown += (_off_the_body(kit, block) for block in blocks) if is_many(kit) else blocks
    return Section("results", kit.t("section.results"), tuple(shown))


def _off_the_body(kit: Kit, block: Block) -> Block:
    """Charts stand in the appendix, other blocks where they are."""
    if isinstance(block, Gallery):
        return looked_up(kit.t("paper.charts"), (block,))
    return block


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
        authors = (
            t("notes.author", name=author.name, organisation=author.organisation)
            if author.organisation
            else author.name
            for author in notes.authors
        )
        yield t("notes.authors"), t("list.separator").join(authors)
    if notes.licence:
        yield t("notes.licence"), t.of(notes.licence)


def summary(kit: Kit, lines: tuple[str, ...]) -> Section:
    """Sum up the answer in its lines; empty without any."""
    title = kit.t("section.summary")
    if not lines:
        return Section("summary", title, ())
    claims = kit.analysis.claims
    published = (Text(summary_of_findings(kit, claims)),) if claims else ()
    return Section("summary", title, (Items(lines), *published))


def cover(kit: Kit, lines: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """List quick look, answer in its lines, servers and machine: term and text."""
    t, study, analysis = kit.t, kit.study, kit.analysis
    if not study.conclusive:
        yield t("cover.kind"), t("notice.no-conclusion", profile=study.profile)
    elif not study.replicates:
        yield t("cover.kind"), t("notice.quick-look", profile=study.profile)
    if lines:
        yield t("section.answer"), "\n".join(lines)
    servers = (
        t.aside(f"PostgreSQL {server.version}", server.source.value)
        for _, server in analysis.plan.servers
    )
    yield t("cover.servers"), t("list.separator").join(dict.fromkeys(servers))
    yield t("cover.machine"), machine_text(t, analysis.facts)
