"""Several campaigns: what ``compare``, ``history``, ``site`` and ``bisect`` print as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from teiten.analysis.across.bisection import BisectEnding, BisectStep, CommitComparison
from teiten.analysis.model.claims import ClaimStanding
from teiten.analysis.model.comparison import Comparison, Weight
from teiten.analysis.model.history import Axis, ChangeSearch, History, HistoryPoint, LeftOut
from teiten.cli.printed.form import SPREAD, Count, From, Names, Positive, Text, taken
from teiten.cli.printed.outcome import JsonVerdict


@dataclass(frozen=True)
class JsonComparedLevel:
    levels: Annotated[Names, From("context")]
    trials: Annotated[
        tuple[Count, Count],
        "Of A and of B.",
        From(lambda level: (len(level.old_values), len(level.new_values))),
    ]
    median_a: Annotated[float | None, From("old_median")]
    median_b: Annotated[float | None, From("new_median")]
    verdict: Annotated[JsonVerdict, SPREAD]


@dataclass(frozen=True)
class JsonComparedContrast:
    workload: str
    metric: Annotated[str, From("metric.name")]
    level_a: Annotated[str, "Of the contrasted factor.", From("side.a")]
    level_b: Annotated[str, From("side.b")]
    blocks: Annotated[tuple[Count, Count], "Of A and of B."]
    left_out: Annotated[tuple[Names, ...], "Levels that one of them lacks."]
    verdict: Annotated[JsonVerdict, SPREAD, From("overall")]
    levels: tuple[JsonComparedLevel, ...]


@dataclass(frozen=True)
class JsonDifference:
    code: str
    weight: Weight
    subject: Text
    a: str
    b: str


@dataclass(frozen=True)
class JsonComparedClaim:
    id: Annotated[str, From("claim.id")]
    outcome: Annotated[ClaimStanding, From("standing")]
    reason: Annotated[str | None, From("reason.code")]


@dataclass(frozen=True)
class JsonComparison:
    """Ratios are B ÷ A; intervals cover the scatter of trials only."""

    a: Annotated[str, From("a.name")]
    b: Annotated[str, From("b.name")]
    comparable: Annotated[bool, "Both measured the same."]
    factor: Annotated[str, "What A contrasts.", From("a.plan.study.contrast")]
    differences: tuple[JsonDifference, ...]
    results: tuple[JsonComparedContrast, ...]
    claims: tuple[JsonComparedClaim, ...]
    reports: tuple[Path, ...]


def json_comparison(comparison: Comparison, paths: Sequence[Path]) -> JsonComparison:
    """Describe a comparison; ``paths``: its reports."""
    return taken(JsonComparison, comparison, comparable=not comparison.obstacles, reports=paths)


@dataclass(frozen=True)
class JsonChangedCondition:
    code: str
    subject: str
    before: Annotated[str, From("a")]
    after: Annotated[str, From("b")]


@dataclass(frozen=True)
class JsonChange:
    campaign: Annotated[str, "The first one after it."]
    index: Annotated[Count, "Of its point, from 0.", From("first")]
    ratio: Annotated[Positive, "After ÷ before."]
    firm: bool
    differences: tuple[JsonChangedCondition, ...]


@dataclass(frozen=True)
class JsonLine:
    study: str
    profile: str
    workload: str
    factor: Annotated[str, "What its campaigns contrast."]
    level: Annotated[Text, "Of that factor; null of a line through all versions."]
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
    """Describe a history; ``paths``: the files that were written."""
    lines = []
    for line in history.lines:
        changes = (
            taken(JsonChange, change, campaign=line.points[change.first].campaign)
            for change in line.changes
        )
        lines.append(taken(JsonLine, line, changes=changes))
    return taken(JsonHistory, history, lines=lines, pages=paths)


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
