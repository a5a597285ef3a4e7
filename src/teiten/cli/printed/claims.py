"""Published findings: what ``claims`` prints as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from teiten.analysis.model.claims import Check, ClaimOutcome, ClaimSource, ClaimStanding
from teiten.cli.printed.form import SPREAD, Count, Keyword, Names, taken
from teiten.model.text import Bilingual

_Ends = tuple[float | None, float | None]


@dataclass(frozen=True)
class JsonCheck:
    """A ratio with its interval and its bounds; null where open or unknown."""

    kind: Annotated[str, "The predicate's."]
    sides: tuple[str, ...]
    at: Annotated[tuple[float, ...], "Clients, or cores."]
    queries: tuple[tuple[str, ...], ...]
    server: str | None
    ratio: float | None
    interval: Annotated[_Ends | None, "Low first."]
    confidence: Annotated[float | None, "Of the interval."]
    bounds: Annotated[_Ends, "What the ratio must keep; null is open."]
    pairs: Count
    outcome: ClaimStanding


@dataclass(frozen=True)
class JsonClaimNeeds:
    servers: tuple[str, ...]
    factor: str | None
    cores: int | None
    levels: Names


@dataclass(frozen=True)
class JsonPrintedValue:
    label: str
    value: str
    recomputed: str | None


@dataclass(frozen=True)
class JsonAssessment:
    """Keys that are there with ``--run``."""

    outcome: ClaimStanding
    reason: Annotated[
        dict[str, Any] | None,
        "Its code, and the values of its text.",
        Keyword("required", ("code",)),
    ]
    deciding: JsonCheck | None
    checks: tuple[JsonCheck, ...]


@dataclass(frozen=True)
class JsonClaim:
    id: str
    study: str
    promise: Annotated[str | None, "The major version whose release notes say it."]
    source: ClaimSource
    statement: Bilingual
    workload: str
    metric: str
    needs: JsonClaimNeeds
    printed: tuple[JsonPrintedValue, ...]
    in_print: Annotated[JsonCheck | None, "What the printed numbers themselves say."]
    assessment: Annotated[JsonAssessment | None, SPREAD]


def json_claim(outcome: ClaimOutcome, *, assessed: bool) -> JsonClaim:
    claim = outcome.claim
    return taken(
        JsonClaim,
        claim,
        promise=claim.promise or None,
        needs=taken(JsonClaimNeeds, claim.needs, levels=dict(claim.at)),
        printed=tuple(
            JsonPrintedValue(value.label.en, value.value, value.recomputed or None)
            for value in claim.printed
        ),
        in_print=_check(outcome.in_print),
        assessment=json_assessment(outcome) if assessed else None,
    )


def json_assessment(outcome: ClaimOutcome) -> JsonAssessment:
    reason = outcome.reason
    return JsonAssessment(
        outcome.standing,
        None if reason is None else {"code": reason.code, **dict(reason.values)},
        _check(outcome.deciding),
        tuple(check for check in map(_check, outcome.checks) if check),
    )


def _check(check: Check | None) -> JsonCheck | None:
    if check is None:
        return None
    return taken(
        JsonCheck,
        check,
        kind=check.kind.value,
        queries=check.classes,
        server=check.server or None,
        interval=None if check.low is None else (check.low, check.high),
        confidence=check.confidence,
        bounds=(check.least, check.most),
        outcome=check.standing,
    )
