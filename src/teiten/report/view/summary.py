"""The summary before the appendix, and the lines of a title page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from teiten.analysis.model.findings import ContrastResult
from teiten.report.blocks import Items, Section, Text
from teiten.report.effects import interval_of_ratio, ratio_text
from teiten.report.sentences import machine_text, verdict_word
from teiten.report.view.answer import primary
from teiten.report.view.findings import summary_of_findings
from teiten.report.view.kit import Kit

MOST_LINES = 12
"""Comparisons with a line each; with more, those of each verdict are counted."""


def summary(kit: Kit) -> Section:
    """Sum up each workload in a line; empty where the campaign supports no conclusion."""
    title = kit.t("section.summary")
    contrasts = primary(kit)
    if not kit.study.conclusive or not contrasts:
        return Section("summary", title, ())
    lines = tuple(_line(kit, contrast) for contrast in contrasts)
    shown = Items(lines) if len(lines) <= MOST_LINES else Text(_counted(kit, contrasts))
    claims = kit.analysis.claims
    published = (Text(summary_of_findings(kit, claims)),) if claims else ()
    return Section("summary", title, (shown, *published))


def _line(kit: Kit, contrast: ContrastResult) -> str:
    """``Range read: faster, 18.4 ÷ 17.10 = 1.020 (95 % interval 1.015 to 1.024)``"""
    t, effect = kit.t, contrast.overall.effect
    values = {
        "workload": kit.names.workload(contrast.workload),
        "word": verdict_word(t, contrast.overall),
        "sides": t("contrast.sides", new=kit.short(contrast.new), old=kit.short(contrast.old)),
    }
    if effect is None:
        return t("summary.line-without", **values)
    interval = interval_of_ratio(t, effect)
    return t("summary.line", ratio=ratio_text(effect), interval=interval, **values)


def _counted(kit: Kit, contrasts: tuple[ContrastResult, ...]) -> str:
    words = Counter(verdict_word(kit.t, contrast.overall) for contrast in contrasts)
    listed = (kit.t("summary.count", word=word, count=count) for word, count in words.most_common())
    return kit.t(
        "summary.counted", count=len(contrasts), words=kit.t("list.separator").join(listed)
    )


def cover(kit: Kit) -> Iterator[tuple[str, str]]:
    """List quick look, answer, servers and machine: term and text."""
    t, study, analysis = kit.t, kit.study, kit.analysis
    if not study.conclusive:
        yield t("cover.kind"), t("notice.no-conclusion", profile=study.profile)
    elif not study.replicates:
        yield t("cover.kind"), t("notice.quick-look", profile=study.profile)
    contrasts = primary(kit)
    if study.conclusive and contrasts:
        lines = [_line(kit, contrast) for contrast in contrasts]
        yield t("section.answer"), "\n".join(lines) if len(lines) <= 4 else _counted(kit, contrasts)
    servers = (
        t.aside(f"PostgreSQL {server.version}", server.source.value)
        for _, server in analysis.plan.servers
    )
    yield t("cover.servers"), t("list.separator").join(dict.fromkeys(servers))
    yield t("cover.machine"), machine_text(t, analysis.facts)
