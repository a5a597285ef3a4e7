"""A campaign's report as a page: its sections in REPORT.md's order.

Part 3: the results of each workload, as its kind presents them.
"""

from __future__ import annotations

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.kinds.contract_present import present_in, presents_in
from teiten.model.text import Language
from teiten.report.appendix import parted
from teiten.report.blocks import Block, Heading, Page, Section, Text, with_contents
from teiten.report.notes import NO_NOTES, Notes
from teiten.report.view.answer import answer
from teiten.report.view.asked import asked
from teiten.report.view.discussion import discussion
from teiten.report.view.evidence import evidence
from teiten.report.view.findings import findings
from teiten.report.view.kit import Kit
from teiten.report.view.notes import about, front, remarks
from teiten.report.view.summary import cover, summary
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
        t("meta.started", at=kit.moment(analysis.created_at)),
        *([t("meta.finished", at=kit.moment(ended))] if ended else []),
        t("meta.profile", profile=kit.study.profile),
    )
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
            summary(kit),
            evidence(kit),
            about(kit, notes),
        ),
    )
    sections = with_contents(t("heading.contents"), first, *others)
    title = t.of(notes.title) or t.of(kit.study.title)
    return Page(
        t, title, analysis.name, meta, sections, tuple(front(kit, notes)), tuple(cover(kit))
    )


def results(kit: Kit) -> Section:
    """A part for each workload that was measured."""
    shown: list[Block] = []
    for at, name in enumerate(kit.workloads_measured()):
        workload = kit.study.workload(name)
        shown += [Heading(3, kit.names.workload(name), part=True)]
        shown += [Text(kit.t.of(workload.description))]
        shown += present_in(kit, name).results(kit, f"workload-{at + 1}", name)
    return Section("results", kit.t("section.results"), tuple(shown))
