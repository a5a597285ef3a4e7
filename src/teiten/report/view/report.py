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
from teiten.report.sentences import machine_text, notice_of_profile
from teiten.report.tables import Table, cells, headings
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
    ``beside``: the relative address of the campaign's folder, to which trials link; or empty."""
    kit = Kit(analysis, language, beside)
    t = kit.t
    ended = analysis.finished_at
    lines, facts = answers(kit), tuple(front(kit, notes))
    of_kinds = (section for kind in presents_in(kit).values() for section in kind.sections(kit))
    sections = (
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
        about(kit, notes, facts),
    )
    return Page(
        t,
        t.of(notes.title) or t.of(kit.study.title),
        analysis.name,
        (
            t("meta.started", at=moment(analysis.created_at)),
            *([t("meta.finished", at=moment(ended))] if ended else []),
            t("meta.profile", profile=kit.study.profile),
        ),
        with_contents(t("heading.contents"), *parted(t, sections)),
        facts,
        tuple(cover(kit, lines)),
    )


def results(kit: Kit) -> Section:
    """A part for each workload that was measured; of many, first what they have in one table."""
    parts: dict[str, tuple[Block, ...]] = {}
    for at, name in enumerate(kit.workloads_measured()):
        of_kind = present_in(kit, name).results(kit, f"workload-{at + 1}", name)
        parts[name] = with_captions(kit, name, of_kind)
    shown: list[Block] = []
    many = is_many(kit)
    if many:
        together, parts = in_one_table(kit, parts)
        shown += together
    for name, blocks in parts.items():
        shown.append(Heading(3, kit.names.workload(name), part=True))
        for block in blocks:
            is_apart = many and isinstance(block, Gallery)
            shown.append(looked_up(kit.t("paper.charts"), (block,)) if is_apart else block)
    return Section("results", kit.t("section.results"), tuple(shown))


def remarks(kit: Kit, notes: Notes) -> Section:
    """Empty without any."""
    t = kit.t
    shown: tuple[Block, ...] = tuple(Text(t.of(remark)) for remark in notes.remarks)
    if shown:
        shown = (Text(t("notes.whose"), "note"), *shown)
    return Section("remarks", t("section.remarks"), shown)


def about(kit: Kit, notes: Notes, facts: tuple[tuple[str, str], ...]) -> Section:
    """``facts``: as ``front`` tells them. Empty without anything to say."""
    t = kit.t
    shown: list[Block] = [Pairs(facts, "facts")] if facts else []
    if notes.acknowledgements:
        shown.append(Heading(3, t("notes.acknowledgements")))
        shown += [Text(t.of(acknowledgement)) for acknowledgement in notes.acknowledgements]
    if notes.revisions:
        columns = headings(t, "notes.version", "notes.date", "notes.change")
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
    claims = kit.analysis.claims if lines else ()
    published = (Text(summary_of_findings(kit, claims)),) if claims else ()
    shown = (Items(lines), *published) if lines else ()
    return Section("summary", kit.t("section.summary"), shown)


def cover(kit: Kit, lines: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """List quick look, answer in its lines, servers and machine: term and text."""
    t, analysis = kit.t, kit.analysis
    for notice in notice_of_profile(t, kit.study):
        yield t("cover.kind"), notice
    if lines:
        yield t("section.answer"), "\n".join(lines)
    servers = (
        t.aside(f"PostgreSQL {server.version}", server.source.value)
        for _, server in analysis.plan.servers
    )
    yield t("cover.servers"), t("list.separator").join(dict.fromkeys(servers))
    yield t("cover.machine"), machine_text(t, analysis.facts)
