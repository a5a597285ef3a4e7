"""Published findings: what ``claims`` prints as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from teiten.analysis.model.claims import ClaimOutcome, ClaimSource, ClaimStanding
from teiten.cli.printed.form import SPREAD, Count, From, Keyword, Names, Text, taken
from teiten.model.text import Bilingual

_Ends = tuple[float | None, float | None]


def _reason(outcome: ClaimOutcome) -> dict[str, Any] | None:
    reason = outcome.reason
    return None if reason is None else {"code": reason.code, **dict(reason.values)}


@dataclass(frozen=True)
class JsonCheck:
    """A ratio with its interval and its bounds; null where open or unknown."""

    kind: Annotated[str, "The predicate's.", From("kind.value")]
    sides: tuple[str, ...]
    at: Annotated[tuple[float, ...], "Clients, or cores."]
    queries: Annotated[tuple[tuple[str, ...], ...], From("classes")]
    server: Text
    ratio: float | None
    interval: Annotated[_Ends | None, "Low first.", From("low", "high")]
    confidence: Annotated[float | None, "Of the interval."]
    bounds: Annotated[
        _Ends,
        "What the ratio must keep; null is open.",
        From(lambda check: (check.least, check.most)),
    ]
    contradicting: Annotated[
        _Ends, "An interval wholly below the first, or above the second, contradicts; null is open."
    ]
    pairs: Count
    outcome: Annotated[ClaimStanding, From("standing")]


@dataclass(frozen=True)
class JsonClaimNeeds:
    servers: Annotated[tuple[str, ...], From("needs.servers")]
    factor: Annotated[str | None, From("needs.factor")]
    cores: Annotated[int | None, From("needs.cores")]
    levels: Annotated[Names, From("at")]


@dataclass(frozen=True)
class JsonPrintedValue:
    label: Annotated[str, From("label.en")]
    value: str
    recomputed: Text


@dataclass(frozen=True)
class JsonAssessment:
    """Keys that are there with ``--run``."""

    outcome: Annotated[ClaimStanding, From("standing")]
    reason: Annotated[
        dict[str, Any] | None,
        "Its code, and the values of its text.",
        Keyword("required", ("code",)),
        From(_reason),
    ]
    deciding: JsonCheck | None
    checks: tuple[JsonCheck, ...]


@dataclass(frozen=True)
class JsonClaim:
    id: str
    study: str
    promise: Annotated[Text, "The major version whose release notes say it."]
    source: ClaimSource
    statement: Bilingual
    workload: str
    metric: str
    needs: Annotated[JsonClaimNeeds, From("")]
    printed: tuple[JsonPrintedValue, ...]
    in_print: Annotated[JsonCheck | None, "What the printed numbers themselves say."]
    assessment: Annotated[JsonAssessment | None, SPREAD]


def json_claim(outcome: ClaimOutcome, *, assessed: bool) -> JsonClaim:
    """Describe a finding, and with ``assessed`` its outcome in a campaign."""
    assessment = outcome if assessed else None
    return taken(JsonClaim, outcome.claim, in_print=outcome.in_print, assessment=assessment)
