"""The lines of an atlas: verdicts of campaigns that compare versions, told by workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teiten.analysis.model.atlas import AtlasLine, AtlasPoint
from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, VerdictKind
from teiten.model.study import SERVER


def atlas_of(campaigns: Mapping[str, CampaignAnalysis]) -> Iterator[AtlasLine]:
    """Yield a line for each workload of the campaigns that contrast servers.

    ``campaigns``: by their names in the collection.
    """
    for name, analysis in campaigns.items():
        if _compares_servers(analysis):
            yield from _lines(name, analysis)


def undecided_blocks(analysis: CampaignAnalysis) -> Iterator[int]:
    """Foretell for each open verdict of the atlas how many further blocks decide it; verdicts that
    no number of blocks is foretold to decide are left out."""
    for contrast in analysis.contrasts if _compares_servers(analysis) else ():
        verdict = contrast.overall
        is_open = contrast.metric.judged and verdict.kind is VerdictKind.INCONCLUSIVE
        if is_open and contrast.forecast is not None:
            yield max(1, contrast.forecast - verdict.pairs)


def _compares_servers(analysis: CampaignAnalysis) -> bool:
    return analysis.plan.study.contrast == SERVER


def _lines(name: str, analysis: CampaignAnalysis) -> Iterator[AtlasLine]:
    versions = {level: server.version for level, server in analysis.plan.servers}
    lines: dict[tuple[str, str], list[ContrastResult]] = {}
    for contrast in analysis.contrasts:
        if contrast.metric.judged:
            lines.setdefault((contrast.workload, contrast.old), []).append(contrast)
    for (workload, old), contrasts in lines.items():
        yield AtlasLine(
            name,
            workload,
            analysis.plan.study.workload(workload).title,
            contrasts[0].metric,
            versions[old],
            tuple(AtlasPoint(versions[contrast.new], contrast.overall) for contrast in contrasts),
        )
