"""Part 5: published findings: claim, printed, measured, outcome, and the curves of both."""

from __future__ import annotations

from dataclasses import replace

from teiten.analysis.model.claims import ClaimOutcome, ClaimStanding
from teiten.kinds.contract_present import presents_in
from teiten.report.blocks import Block, Details, Further, Section, Text, Unfolded, gallery
from teiten.report.claim_words import (
    bounds_text,
    check_text,
    outcome_cell,
    printed_text,
    reason_text,
    side_of,
    statement_text,
)
from teiten.report.tables import Row, Table, TableCell, cells, headings
from teiten.report.view.kit import Kit


def findings(kit: Kit) -> Section:
    """Empty where the study replicates no published finding."""
    of_kinds = [kind.published(kit) for kind in presents_in(kit).values()]
    charts = gallery(chart for charts, _ in of_kinds for chart in charts)
    tables = (table for _, tables in of_kinds for table in tables)
    return findings_section(kit, kit.analysis.claims, (*charts, *tables))


def findings_section(
    kit: Kit, outcomes: tuple[ClaimOutcome, ...], beside: tuple[Block, ...] = ()
) -> Section:
    """Published findings, with ``beside``, which sets printed and measured beside one another; in
    the appendix, where the profile judges no finding."""
    shown: tuple[Block, ...] = ()
    if outcomes:
        compared = (*beside, *claim_tables(kit, outcomes))
        judged = kit.study.conclusive and kit.study.replicates
        shown = (
            Text(summary_of_findings(kit, outcomes)),
            *(compared if judged else (Further(compared),)),
        )
    return Section("findings", kit.t("section.findings"), shown)


def claim_tables(kit: Kit, outcomes: tuple[ClaimOutcome, ...]) -> tuple[Block, ...]:
    """The findings that apply; the others stand in the appendix."""
    applied = [outcome for outcome in outcomes if outcome.applies]
    elsewhere = [outcome for outcome in outcomes if not outcome.applies]
    tables: list[Block] = [_outcomes(kit, applied)] if applied else []
    if elsewhere:
        title = kit.t.plural("claim.elsewhere", len(elsewhere))
        table = _not_applicable(kit, elsewhere)
        tables.append(Further((Details(title, (table,), Unfolded.UNTITLED),)))
    return tuple(tables)


def summary_of_findings(kit: Kit, outcomes: tuple[ClaimOutcome, ...]) -> str:
    """Count the outcomes."""
    counts = kit.t("list.separator").join(
        kit.t("claim.count", outcome=kit.t(f"claim-outcome.{standing.value}"), count=count)
        for standing in ClaimStanding
        if (count := sum(outcome.standing is standing for outcome in outcomes))
    )
    return kit.t.plural("claim.summary", len(outcomes), counts=counts)


def _outcomes(kit: Kit, outcomes: list[ClaimOutcome]) -> Table:
    t, names = kit.t, ("finding", "printed", "measured", "bounds", "outcome")
    return Table(
        "claims",
        t("table.claims.caption"),
        headings(t, *(f"table.{name}" for name in names)),
        tuple(_outcome_row(kit, outcome) for outcome in outcomes),
        note=t("table.claims.note"),
        prose=True,
    )


def _outcome_row(kit: Kit, outcome: ClaimOutcome) -> Row:
    return cells(
        statement_text(kit.t, outcome.claim),
        printed_text(kit.t, outcome, side_of(outcome.claim, kit.names)),
        _measured(kit, outcome),
        bounds_text(kit.t, outcome.deciding),
        outcome_cell(kit.t, outcome),
    )


def _measured(kit: Kit, outcome: ClaimOutcome) -> str:
    """The deciding check, and of how many it is one."""
    deciding = outcome.deciding
    if deciding is not None and deciding.server:
        deciding = replace(deciding, server=kit.names.server(deciding.server).short)
    text = check_text(kit.t, deciding, side_of(outcome.claim, kit.names))
    if len(outcome.checks) < 2:
        return text
    kept = sum(check.standing is ClaimStanding.REPRODUCED for check in outcome.checks)
    return kit.t("claim.of-checks", check=text, kept=kept, count=len(outcome.checks))


def _not_applicable(kit: Kit, outcomes: list[ClaimOutcome]) -> Table:
    t = kit.t
    return Table(
        "claims-elsewhere",
        t("table.claims.elsewhere"),
        headings(t, "table.finding", "table.printed", "table.needs"),
        tuple(
            cells(
                statement_text(t, outcome.claim),
                printed_text(t, outcome, side_of(outcome.claim, kit.names)),
                TableCell(reason_text(t, outcome.reason), kind="muted"),
            )
            for outcome in outcomes
        ),
        prose=True,
    )
