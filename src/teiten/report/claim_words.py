"""Published findings in words: what is printed, what was measured, and the outcome."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from teiten.analysis.model.claims import (
    FIRST,
    LAST,
    Check,
    Claim,
    ClaimOutcome,
    ClaimSource,
    PrintedValue,
    PublishedCurves,
    Reason,
)
from teiten.model.study import GUC_PREFIX
from teiten.report.effects import interval_of_ratio, ratio_text, sure_interval
from teiten.report.names import Names, step_text
from teiten.report.numbers import NOTHING, fixed, measured, plain
from teiten.report.tables import TableCell
from teiten.report.texts import Texts

Side = Callable[[str], str]
"""The short name of a level of the contrasted factor, or of a server."""


@dataclass(frozen=True)
class Words:
    """Words in which the kinds of checks are told (``analysis.model.claims.ClaimWords``)."""

    texts: Texts
    of_side: Side = str

    def __call__(self, key: str, **values: object) -> str:
        return self.texts(key, **values)

    def plural(self, key: str, count: int, **values: object) -> str:
        return self.texts.plural(key, count, **values)

    def side(self, level: str) -> str:
        return self.of_side(level)

    def part(self, name: str) -> str:
        return self.texts.either(f"part.{_key(name)}", step_text(self.texts, name))

    def number(self, value: float) -> str:
        return plain(value)

    def metric(self, name: str) -> str:
        kind, _, parts = name.partition(":")
        named = self.texts.either(f"metric.{kind}", kind)
        return named.format_map({"of": self.part(parts.partition(":")[0])})


def outcome_word(t: Texts, outcome: ClaimOutcome) -> str:
    return t(f"claim-outcome.{outcome.standing.value}")


def reason_text(t: Texts, reason: Reason | None) -> str:
    """Why a claim does not apply, stays inconclusive or is contradicted; empty without a reason."""
    return "" if reason is None else t(f"claim-reason.{reason.code}", **dict(reason.values))


def outcome_cell(t: Texts, outcome: ClaimOutcome) -> TableCell:
    """The outcome with its reason, where it has one."""
    reason, word = reason_text(t, outcome.reason), outcome_word(t, outcome)
    text = t("claim.because", outcome=word, reason=reason) if reason else word
    return TableCell(text, kind=f"verdict {outcome.standing.value}")


def statement_text(t: Texts, claim: Claim) -> str:
    """The finding, and where it stands."""
    return t(
        "claim.statement", statement=t.of(claim.statement), source=source_text(t, claim.source)
    )


def printed_text(t: Texts, outcome: ClaimOutcome, side: Side) -> str:
    """The printed numbers with what is recomputed, and the same check on the printed table."""
    claim = outcome.claim
    lines = [_printed_value(t, value) for value in claim.printed]
    if outcome.in_print is not None and claim.published is not None:
        derived = isinstance(claim.published, PublishedCurves) and claim.published.derived
        key = "claim.in-print-derived" if derived else "claim.in-print"
        check = check_text(
            t, outcome.in_print, lambda curve: t.either(f"curve.{_key(curve)}", "") or side(curve)
        )
        lines.append(t(key, check=check))
    lines = lines or [t("claim.no-numbers")]
    return "\n".join([*lines, *([t.of(claim.remark)] if claim.remark else [])])


def _key(name: str) -> str:
    """``monthly-serial`` of ``monthly, serial``: a name as a key of texts."""
    return re.sub(r"\W+", "-", name)


def lines_about(t: Texts, outcome: ClaimOutcome, names: Names | None) -> list[str]:
    """A finding for a terminal: statement, source, then what is known of it, each on a line.
    ``names``: of the campaign against which it is assessed; without one, its needs are said.
    """
    side, assessed = side_of(outcome.claim, names), names is not None
    facts = [(t("table.printed"), printed_text(t, outcome, side))]
    if not assessed:
        facts.append((t("claim.needs.title"), needs_text(t, outcome.claim)))
    elif outcome.deciding is not None:
        facts.append((t("table.measured"), check_text(t, outcome.deciding, side)))
        facts.append((t("table.bounds"), bounds_text(t, outcome.deciding)))
    if assessed and outcome.reason is not None:
        facts.append((t("table.reason"), reason_text(t, outcome.reason)))
    lines = (t("claim.fact", name=name, text=text) for name, text in facts)
    return "\n".join((statement_text(t, outcome.claim), *lines)).split("\n")


def place_text(t: Texts, source: ClaimSource) -> str:
    """The table, or else the section: for where there is little room."""
    if source.table:
        return t("claim.place-table", table=_tables(t, source))
    return _section(t, source)


def _tables(t: Texts, source: ClaimSource) -> str:
    """The numbers of tables, which findings list with commas, as the language lists them."""
    return source.table.replace(", ", t("list.separator"))


def _section(t: Texts, source: ClaimSource) -> str:
    """``§4.6``, or the section's name in quotes; the report's own ``#8`` as it is."""
    section = source.section
    if section.startswith("#"):
        return section
    return t(f"claim.section{'' if section[:1].isdecimal() else '-named'}", section=section)


def source_text(t: Texts, source: ClaimSource) -> str:
    """``PGECons WG1 2021 §4.6, table 4.12``"""
    values = {"report": source.report, "section": _section(t, source)}
    if source.table:
        return t("claim.source-table", table=_tables(t, source), **values)
    return t("claim.source", **values)


def needs_text(t: Texts, claim: Claim) -> str:
    """List what a campaign must have for the finding to apply, without levels of clients."""
    needs = [t("claim.needs.workload", workload=claim.workload)]
    if claim.needs.servers:
        needs.append(t("claim.needs.servers", servers=t.listed(claim.needs.servers)))
    if claim.needs.systems:
        systems = t.listed(claim.needs.systems)
        needs.append(t("claim.needs.systems", systems=systems) if claim.needs.compared else systems)
    if claim.needs.factor:
        needs.append(t("claim.needs.factor", factor=claim.needs.factor))
    if claim.needs.cores > 1:
        needs.append(t("claim.needs.cores", cores=claim.needs.cores))
    contrast = claim.contrast
    of_sides = (*contrast.old_at, *contrast.new_at) if contrast else ()
    for factor, level in (*claim.at, *dict.fromkeys(of_sides)):
        key = f"claim.needs.{level}" if level in (FIRST, LAST) else "claim.needs.level"
        needs.append(t(key, factor=factor, level=level))
    needs += claim.predicate.needs(Words(t))
    return t.listed(needs)


def side_of(claim: Claim, names: Names | None) -> Side:
    """Name a claim's sides as a campaign does, if any; a parameter's number with its name."""
    side = names.any_level if names else str
    factor = claim.contrast.factor if claim.contrast else ""
    if not factor.startswith(GUC_PREFIX):
        return side
    name = factor.removeprefix(GUC_PREFIX)
    return lambda level: f"{name} = {level}" if level.isdecimal() else side(level)


def _printed_value(t: Texts, value: PrintedValue) -> str:
    key = "claim.printed"
    if value.recomputed:
        key = "claim.not-printed" if value.value == NOTHING else "claim.printed-wrongly"
    return t(key, label=t.of(value.label), value=value.value, recomputed=value.recomputed)


def check_text(t: Texts, check: Check | None, side: Side) -> str:
    """Tell what was compared, the ratio, and its interval where it has one."""
    if check is None:
        return NOTHING
    what = what_is_checked(t, check, side)
    check = as_told(check)
    if check.kind.bound is not None:
        return what
    effect = check.effect
    if effect is None:
        return t("claim.check", what=what, ratio=NOTHING)
    if effect.low == effect.high:
        return t("claim.check", what=what, ratio=fixed(effect.ratio, 3))
    ratio, interval = ratio_text(effect), interval_of_ratio(t, effect)
    if check.kind.is_amount:
        numbers = (effect.ratio, effect.low, effect.high)
        half = (effect.high - effect.low) / 2
        ratio, low, high = (measured(number, half) for number in numbers)
        interval = sure_interval(t, effect, low, high)
    return t("claim.check-interval", what=what, ratio=ratio, interval=interval)


def as_told(check: Check) -> Check:
    """Times of queries are told as speed-ups, old by new, as the reports print them."""
    if not check.kind.speed_up or check.metric:
        return check
    least, most, low, high = (
        None if end is None else 1 / end if end else math.inf
        for end in (check.most, check.least, check.high, check.low)
    )
    ratio = None if not check.ratio else 1 / check.ratio
    return replace(check, ratio=ratio, low=low, high=high, least=least, most=most)


def bounds_text(t: Texts, check: Check | None) -> str:
    """Where the ratio must lie for the finding to be reproduced."""
    if check is None:
        return NOTHING
    check = as_told(check)
    low, high = check.least, check.most
    if check.kind.bound is not None:
        return t(check.kind.bound(check))
    if low is not None and high is not None:
        bounds = t("interval.plain", low=fixed(low, 3), high=fixed(high, 3))
    elif low is not None:
        bounds = t("claim.at-least", bound=plain(round(low, 3)))
    elif high is not None:
        bounds = t("claim.at-most", bound=plain(round(high, 3)))
    else:
        return NOTHING
    below, above = check.contradicting
    if below != low and below is not None:
        return t("claim.contradicted-below", bounds=bounds, end=plain(round(below, 3)))
    if above != high and above is not None:
        return t("claim.contradicted-above", bounds=bounds, end=plain(round(above, 3)))
    return bounds


def what_is_checked(t: Texts, check: Check, side: Side) -> str:
    """Tell what a ratio compares, and on which server where the check names one."""
    what = check.kind.wording(check, Words(t, side))
    return t("claim.on-server", server=check.server, what=what) if check.server else what
