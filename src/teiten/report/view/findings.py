"""Part 5: published findings: claim, printed, measured, outcome, and the curves of both."""

from __future__ import annotations

from dataclasses import replace

from teiten.analysis.model.claims import ClaimOutcome, ClaimStanding
from teiten.kinds.contract_present import presents_in
from teiten.report.blocks import Block, Details, Further, Gallery, Section, Text, Unfolded
from teiten.report.charts.base import Chart
from teiten.report.claim_words import (
    Side,
    bounds_text,
    check_text,
    outcome_word,
    printed_text,
    reason_text,
    side_of,
    statement_text,
)
from teiten.report.tables import Column, Row, Table, TableCell, cells
from teiten.report.view.kit import Kit


def findings(kit: Kit) -> Section:
    """Empty where the study replicates no published finding."""
    of_kinds = [one.published(kit) for one in presents_in(kit).values()]
    charts = tuple(chart for charts, _ in of_kinds for chart in charts)
    tables = tuple(table for _, tables in of_kinds for table in tables)
    return findings_section(kit, kit.analysis.claims, charts, tables)


def findings_section(
    kit: Kit,
    found: tuple[ClaimOutcome, ...],
    charts: tuple[Chart, ...] = (),
    tables: tuple[Table, ...] = (),
) -> Section:
    """With the charts and tables that set printed and measured beside one another; in the appendix,
    where the profile judges no finding."""
    shown: tuple[Block, ...] = ()
    if found:
        gallery = (Gallery(charts),) if charts else ()
        compared = (*gallery, *tables, *claim_tables(kit, found))
        judged = kit.study.conclusive and kit.study.replicates
        shown = (
            Text(summary_of_findings(kit, found)),
            *(compared if judged else (Further(compared),)),
        )
    return Section("findings", kit.t("section.findings"), shown)


def claim_tables(kit: Kit, found: tuple[ClaimOutcome, ...]) -> tuple[Block, ...]:
    """The findings that apply; the others stand in the appendix."""
    applied = [one for one in found if one.applies]
    elsewhere = [one for one in found if one.standing is ClaimStanding.NOT_APPLICABLE]
    tables: list[Block] = [_outcomes(kit, applied)] if applied else []
    if elsewhere:
        title = kit.t.plural("claim.elsewhere", len(elsewhere))
        table = _not_applicable(kit, elsewhere)
        tables.append(Further((Details(title, (table,), Unfolded.UNTITLED),)))
    return tuple(tables)


def summary_of_findings(kit: Kit, found: tuple[ClaimOutcome, ...]) -> str:
    """Count the outcomes."""
    counts = kit.t("list.separator").join(
        kit.t("claim.count", outcome=kit.t(f"claim-outcome.{standing.value}"), count=count)
        for standing in ClaimStanding
        if (count := sum(one.standing is standing for one in found))
    )
    return kit.t("claim.summary", count=len(found), counts=counts)


def _outcomes(kit: Kit, found: list[ClaimOutcome]) -> Table:
    t = kit.t
    columns = tuple(
        Column(t(f"table.{name}")) for name in ("finding", "printed", "measured", "bounds")
    )
    return Table(
        "claims",
        t("table.claims.caption"),
        (*columns, Column(t("table.outcome"))),
        tuple(_outcome_row(kit, one) for one in found),
        note=t("table.claims.note"),
    )


def _outcome_row(kit: Kit, one: ClaimOutcome) -> Row:
    t = kit.t
    reason = reason_text(t, one.reason)
    word = outcome_word(t, one)
    return cells(
        statement_text(t, one.claim),
        printed_text(t, one, _side_of(kit, one)),
        _measured(kit, one),
        bounds_text(t, one.deciding),
        TableCell(
            t("claim.because", outcome=word, reason=reason) if reason else word,
            kind=f"verdict {one.standing.value}",
        ),
    )


def _measured(kit: Kit, one: ClaimOutcome) -> str:
    """The deciding check, and of how many it is one."""
    deciding = one.deciding
    if deciding is not None and deciding.server:
        deciding = replace(deciding, server=kit.names.server(deciding.server).short)
    text = check_text(kit.t, deciding, _side_of(kit, one))
    if len(one.checks) < 2:
        return text
    kept = sum(check.standing is ClaimStanding.REPRODUCED for check in one.checks)
    return kit.t("claim.of-checks", check=text, kept=kept, count=len(one.checks))


def _side_of(kit: Kit, one: ClaimOutcome) -> Side:
    """A finding without a contrast is checked on each server."""
    if one.claim.contrast is not None:
        return side_of(one.claim, kit.short)
    return lambda level: kit.names.server(level).short


def _not_applicable(kit: Kit, found: list[ClaimOutcome]) -> Table:
    t = kit.t
    return Table(
        "claims-elsewhere",
        t("table.claims.elsewhere"),
        tuple(Column(t(f"table.{name}")) for name in ("finding", "printed", "needs")),
        tuple(
            cells(
                statement_text(t, one.claim),
                printed_text(t, one, _side_of(kit, one)),
                TableCell(reason_text(t, one.reason), kind="muted"),
            )
            for one in found
        ),
    )
