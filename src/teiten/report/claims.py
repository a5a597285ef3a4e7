"""Published findings in words: what is printed, what was measured, and the outcome."""

from __future__ import annotations

from collections.abc import Callable

from teiten.model.analysis import Interval
from teiten.model.claims import (
    Check,
    CheckKind,
    Claim,
    ClaimOutcome,
    ClaimSource,
    FunctionShare,
    PrintedValue,
    Reason,
)
from teiten.model.units import Share
from teiten.report.numbers import NOTHING, fixed, plain
from teiten.report.sentences import interval_text, ratio_text
from teiten.report.texts import Texts

Side = Callable[[str], str]
"""The short name of a level of the contrasted factor, or of a server."""


def outcome_word(t: Texts, outcome: ClaimOutcome) -> str:
    return t(f"claim-outcome.{outcome.standing.value}")


def reason_text(t: Texts, reason: Reason | None) -> str:
    """Why a claim does not apply, or stays inconclusive; empty without a reason."""
    return "" if reason is None else t(f"claim-reason.{reason.code}", **dict(reason.values))


def statement_text(t: Texts, claim: Claim) -> str:
    """The finding, and where it stands."""
    return t(
        "claim.statement", statement=t.of(claim.statement), source=source_text(t, claim.source)
    )


def printed_text(t: Texts, outcome: ClaimOutcome, side: Side) -> str:
    """The printed numbers with what is recomputed, and the same check on the printed table."""
    claim = outcome.claim
    lines = [_printed_value(t, one) for one in claim.printed]
    if outcome.in_print is not None and claim.published is not None:
        key = "claim.in-print-derived" if claim.published.derived else "claim.in-print"
        lines.append(t(key, check=check_text(t, outcome.in_print, side)))
    lines = lines or [t("claim.no-numbers")]
    return "\n".join([*lines, *([t.of(claim.remark)] if claim.remark else [])])


def lines_about(t: Texts, outcome: ClaimOutcome, *, assessed: bool) -> list[str]:
    """A finding for a terminal: statement, source, then what is known of it, each on a line.

    ``assessed``: against a campaign; else what a campaign would need is said instead.
    """
    facts = [(t("table.printed"), printed_text(t, outcome, str))]
    if not assessed:
        facts.append((t("claim.needs.title"), needs_text(t, outcome.claim)))
    elif outcome.deciding is not None:
        facts.append((t("table.measured"), check_text(t, outcome.deciding, str)))
        facts.append((t("table.bounds"), bounds_text(t, outcome.deciding)))
    if assessed and outcome.reason is not None:
        facts.append((t("table.reason"), reason_text(t, outcome.reason)))
    said = (t("claim.fact", name=name, text=text) for name, text in facts)
    return "\n".join((statement_text(t, outcome.claim), *said)).split("\n")


def source_text(t: Texts, source: ClaimSource) -> str:
    """``PGECons WG1 2021 §4.6, table 4.12``"""
    values = {"report": source.report, "section": source.section}
    if source.table:
        return t("claim.source-table", table=source.table, **values)
    return t("claim.source", **values)


def needs_text(t: Texts, claim: Claim) -> str:
    """What a campaign must have for the finding to apply; levels of clients are left out."""
    needs = [t("claim.needs.workload", workload=claim.workload)]
    if claim.needs.servers:
        needs.append(t("claim.needs.servers", servers=", ".join(claim.needs.servers)))
    if claim.needs.systems:
        needs.append(t("claim.needs.systems", systems=", ".join(claim.needs.systems)))
    if claim.needs.factor:
        needs.append(t("claim.needs.factor", factor=claim.needs.factor))
    if isinstance(claim.predicate, FunctionShare):
        needs.append(t("claim.needs.flame-graph"))
    return t("list.separator").join(needs)


def _printed_value(t: Texts, one: PrintedValue) -> str:
    key = "claim.printed-wrongly" if one.recomputed else "claim.printed"
    return t(key, label=t.of(one.label), value=one.value, recomputed=one.recomputed)


def check_text(t: Texts, check: Check | None, side: Side) -> str:
    """What was compared, the ratio, and its interval where it has one."""
    if check is None:
        return NOTHING
    what = _what(t, check, side)
    if check.ratio is None or check.low is None or check.high is None:
        return t("claim.check", what=what, ratio=NOTHING)
    if check.low == check.high:
        return t("claim.check", what=what, ratio=fixed(check.ratio, 3))
    effect = Interval(check.ratio, check.low, check.high, Share(0.95))
    return t(
        "claim.check-interval",
        what=what,
        ratio=ratio_text(effect),
        interval=interval_text(t, effect),
    )


def bounds_text(t: Texts, check: Check | None) -> str:
    """Where the ratio must lie for the finding to be reproduced."""
    if check is None:
        return NOTHING
    low, high = check.least, check.most
    if low is not None and high is not None:
        return t("interval.plain", low=fixed(low, 3), high=fixed(high, 3))
    if low is not None:
        return t("claim.at-least", bound=plain(round(low, 3)))
    return NOTHING if high is None else t("claim.at-most", bound=plain(round(high, 3)))


def _what(t: Texts, check: Check, side: Side) -> str:
    sides = [side(one) for one in check.sides]
    at = [plain(one) for one in check.at]
    match check.kind:
        case CheckKind.CONTRAST:
            old, new = sides[0], sides[-1]
            if len(at) == 1:
                return t.plural("claim.contrast", round(check.at[0]), old=old, new=new)
            return t("claim.contrast-mean", old=old, new=new, levels=t("list.separator").join(at))
        case CheckKind.LEVELS:
            return t("claim.levels", side=sides[0], first=at[0], second=at[1])
        case CheckKind.LINE:
            return t("claim.line", side=sides[0], first=at[0], middle=at[1], last=at[2])
        case CheckKind.PER_CORE:
            return t("claim.per-core", side=sides[0], first=at[0], second=at[1])
