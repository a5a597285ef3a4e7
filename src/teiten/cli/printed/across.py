"""Several campaigns: what ``compare``, ``history``, ``site`` and ``bisect`` print as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from teiten.analysis.across.bisection import BisectEnding, BisectStep, CommitComparison
from teiten.analysis.model.claims import ClaimStanding
from teiten.analysis.model.comparison import Comparison, Weight
from teiten.analysis.model.history import (
    Axis,
    ChangeSearch,
    History,
    HistoryLine,
    HistoryPoint,
    LeftOut,
)
from teiten.cli.printed.form import SPREAD, Count, Names, Positive, taken
from teiten.cli.printed.outcome import JsonVerdict, json_verdict


@dataclass(frozen=True)
class JsonComparedLevel:
    levels: Names
    trials: Annotated[tuple[Count, Count], "Of A and of B."]
    median_a: float | None
    median_b: float | None
    verdict: Annotated[JsonVerdict, SPREAD]


@dataclass(frozen=True)
class JsonComparedContrast:
    workload: str
    metric: str
    level_a: Annotated[str, "Of the contrasted factor."]
    level_b: str
    blocks: Annotated[tuple[Count, Count], "Of A and of B."]
    left_out: Annotated[tuple[Names, ...], "Levels that one of them lacks."]
    verdict: Annotated[JsonVerdict, SPREAD]
    levels: tuple[JsonComparedLevel, ...]


@dataclass(frozen=True)
class JsonDifference:
    code: str
    weight: Weight
    subject: str | None
    a: str
    b: str


@dataclass(frozen=True)
class JsonComparedClaim:
    id: str
    outcome: ClaimStanding
    reason: str | None


@dataclass(frozen=True)
class JsonComparison:
    """Ratios are B ÷ A; intervals cover the scatter of trials only."""

    a: str
    b: str
    comparable: Annotated[bool, "Both measured the same."]
    factor: Annotated[str, "What A contrasts."]
    differences: tuple[JsonDifference, ...]
    results: tuple[JsonComparedContrast, ...]
    claims: tuple[JsonComparedClaim, ...]
    reports: tuple[Path, ...]


def json_comparison(comparison: Comparison, paths: Sequence[Path]) -> JsonComparison:
    return JsonComparison(
        comparison.a.name,
        comparison.b.name,
        not comparison.obstacles,
        comparison.a.plan.study.contrast,
        tuple(
            taken(JsonDifference, difference, subject=difference.subject or None)
            for difference in comparison.differences
        ),
        tuple(
            taken(
                JsonComparedContrast,
                result,
                metric=result.metric.name,
                level_a=result.side.a,
                level_b=result.side.b,
                left_out=tuple(dict(context) for context in result.left_out),
                verdict=json_verdict(result.overall),
                levels=tuple(
                    JsonComparedLevel(
                        dict(level.context),
                        (len(level.old_values), len(level.new_values)),
                        level.old_median,
                        level.new_median,
                        json_verdict(level.verdict),
                    )
                    for level in result.levels
                ),
            )
            for result in comparison.results
        ),
        tuple(
            JsonComparedClaim(
                claim.claim.id, claim.standing, claim.reason.code if claim.reason else None
            )
            for claim in comparison.claims
        ),
        tuple(paths),
    )


@dataclass(frozen=True)
class JsonChangedCondition:
    code: str
    subject: str
    before: str
    after: str


@dataclass(frozen=True)
class JsonChange:
    campaign: Annotated[str, "The first one after it."]
    index: Annotated[Count, "Of its point, from 0."]
    ratio: Annotated[Positive, "After ÷ before."]
    firm: bool
    differences: tuple[JsonChangedCondition, ...]


@dataclass(frozen=True)
class JsonLine:
    study: str
    profile: str
    workload: str
    factor: Annotated[str, "What its campaigns contrast."]
    level: Annotated[str | None, "Of that factor; null of a line through all versions."]
    machine: str
    conditions: str
    search: ChangeSearch
    points: tuple[HistoryPoint, ...]
    changes: tuple[JsonChange, ...]


@dataclass(frozen=True)
class JsonHistory:
    """Values are TPS, geometric means over levels; moments are seconds since the epoch."""

    axis: Axis
    lines: tuple[JsonLine, ...]
    left_out: tuple[LeftOut, ...]
    pages: Annotated[tuple[Path, ...], "Files that were written."]


def json_history(history: History, paths: Sequence[Path]) -> JsonHistory:
    return taken(
        JsonHistory, history, lines=tuple(map(_json_line, history.lines)), pages=tuple(paths)
    )


def _json_line(line: HistoryLine) -> JsonLine:
    changes = (
        taken(
            JsonChange,
            change,
            campaign=line.points[change.first].campaign,
            index=change.first,
            differences=tuple(
                JsonChangedCondition(condition.code, condition.subject, condition.a, condition.b)
                for condition in change.differences
            ),
        )
        for change in line.changes
    )
    return taken(JsonLine, line, level=line.level or None, changes=tuple(changes))


@dataclass(frozen=True)
class JsonSiteCampaign:
    campaign: str
    folder: str


@dataclass(frozen=True)
class JsonSiteLeftOut:
    ledger: str
    why: str


@dataclass(frozen=True)
class JsonSite:
    index: Annotated[Path, "The first page's path."]
    campaigns: Annotated[
        tuple[JsonSiteCampaign, ...], "Newest first; a folder is relative to the site's."
    ]
    lines: Annotated[Count, "Of the history."]
    changes: Annotated[Count, "Marked on all lines."]
    comparisons: Annotated[Count, "Between machines, and of neighbours in time."]
    left_out: Annotated[tuple[JsonSiteLeftOut, ...], "Ledgers that are not in the site, and why."]
    written: Annotated[Count, "Files that were written, as they changed."]
    removed: Annotated[Count, "Files of what is no longer there."]


@dataclass(frozen=True)
class JsonSearch:
    """A search for a commit."""

    search: str
    ending: BisectEnding
    first_bad: Annotated[str | None, "The commit that was found."]
    subject: Annotated[str | None, "The first line of its message."]
    candidates: Annotated[tuple[str, ...], "Commits that are left."]
    effect: CommitComparison | None
    against: Annotated[Literal["parent", "good"] | None, "What the effect compares with."]
    ends: Annotated[CommitComparison | None, "Bad against good."]
    steps: tuple[BisectStep, ...]
    seconds: Annotated[Positive, "Without builds."]
    command: Annotated[str, "Continues the search."]
