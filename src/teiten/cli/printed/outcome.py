"""How campaigns ended: what ``run``, ``resume``, ``ab``, ``report`` and ``null`` print as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from teiten.analysis.model.findings import CampaignAnalysis, ContrastResult, VerdictKind
from teiten.analysis.model.replication import NoiseSource
from teiten.analysis.verdict.sequential import pairs_for
from teiten.cli.printed.form import (
    SPREAD,
    Count,
    From,
    Keyword,
    Names,
    OpenObject,
    Positive,
    T,
    taken,
)
from teiten.cli.text.noise import EFFECTS
from teiten.model.noise import NoiseFloor
from teiten.model.plan import Plan
from teiten.model.progress import Ending
from teiten.model.text import Language
from teiten.report.scope import boots
from teiten.report.sentences import verdict_sentence
from teiten.ways.registry import rules, ways_by_clients

WayName = Annotated[str, Keyword("enum", tuple(rules()))]
PairsAgree = Annotated[
    bool | None,
    "Of paired transactions: whether throughput and the servers' processor time per"
    " transaction can both be true; null of another metric, where it was not counted, and where"
    " throughput has no interval.",
]
Ends = tuple[Positive, Positive | None]
_Share = Annotated[float, Keyword("exclusiveMinimum", 0), Keyword("exclusiveMaximum", 1)]


@dataclass(frozen=True)
class JsonExtreme:
    """A level of a mixed verdict."""

    levels: Annotated[Names, From("context")]
    verdict: Annotated[VerdictKind, From("kind")]
    ratio: Annotated[Positive, From("effect.ratio")]
    interval: Annotated[Ends, From("effect.low", "effect.high")]
    confidence: Annotated[_Share, From("effect.confidence")]


@dataclass(frozen=True)
class JsonVerdict(OpenObject):
    """The statement of pairs of trials on a new side against an old one."""

    verdict: Annotated[
        VerdictKind,
        "METHOD.md, Verdicts: what the interval says; mixed: levels"
        " contradict one another, so that their mean says nothing.",
        From("kind"),
    ]
    conclusive: Annotated[
        bool,
        "False: the profile supports no conclusion, and there is no verdict"
        " whatever stands under 'verdict'.",
    ]
    at_least_delta: Annotated[bool, "Slower or faster, and the whole interval lies beyond δ."]
    ratio: Annotated[
        Positive | None,
        "new ÷ old of the metric; null where nothing can be said.",
        From("effect.ratio"),
    ]
    interval: Annotated[
        Ends | None,
        "Ends of the ratio's interval, low first; null: without bound.",
        From("effect.low", "effect.high"),
    ]
    confidence: Annotated[_Share | None, "Of the interval, as a share.", From("effect.confidence")]
    reason: Annotated[str | None, "Code of why nothing can be said."]
    extremes: Annotated[
        tuple[JsonExtreme, ...],
        "Of a mixed verdict the level whose interval ends lowest and the one"
        " whose interval begins highest, levels that are slower or faster first;"
        " empty otherwise.",
    ]


@dataclass(frozen=True)
class JsonContrast:
    workload: str
    metric: Annotated[str, From("metric.name")]
    old: str
    new: str
    verdict: Annotated[JsonVerdict, SPREAD, From("overall")]
    cpu_agrees: PairsAgree


def json_contrast(
    kind: type[T], analysis: CampaignAnalysis, contrast: ContrastResult, **further: object
) -> T:
    """Describe what is compared, and its verdict, as a ``JsonContrast`` with ``further`` keys."""
    return taken(kind, contrast, cpu_agrees=_cpu_agrees(analysis, contrast), **further)


def _cpu_agrees(analysis: CampaignAnalysis, contrast: ContrastResult) -> bool | None:
    """Whether throughput and the servers' processor time per transaction can both be true, over all
    levels and at each; None of another metric, where processor time was not counted, and where
    throughput has no interval."""
    witness = analysis.cpu_witness(contrast) if contrast.metric.judged else None
    return None if witness is None else witness.agrees and not witness.parting


@dataclass(frozen=True)
class JsonEndedContrast(JsonContrast):
    pairs: Annotated[Count, From("overall.pairs")]


@dataclass(frozen=True)
class JsonOutcome:
    """Printed by ``run`` and ``resume``."""

    campaign: Annotated[str, From("name")]
    complete: bool
    conclusive: Annotated[bool, From("plan.study.conclusive")]
    contrasts: tuple[JsonEndedContrast, ...]
    reports: tuple[Path, ...]


def json_outcome(analysis: CampaignAnalysis, reports: Sequence[Path]) -> JsonOutcome:
    contrasts = (
        json_contrast(JsonEndedContrast, analysis, contrast) for contrast in analysis.contrasts
    )
    return taken(JsonOutcome, analysis, contrasts=contrasts, reports=reports)


@dataclass(frozen=True)
class JsonReportedContrast(JsonContrast):
    sentence: str


@dataclass(frozen=True)
class JsonReport:
    campaign: Annotated[str, From("name")]
    path: Path
    complete: bool
    conclusive: Annotated[bool, From("plan.study.conclusive")]
    verdicts: tuple[JsonReportedContrast, ...]


def json_report(analysis: CampaignAnalysis, language: Language, path: Path) -> JsonReport:
    verdicts = (
        json_contrast(
            JsonReportedContrast,
            analysis,
            contrast,
            sentence=verdict_sentence(analysis, contrast, language),
        )
        for contrast in analysis.contrasts
    )
    return taken(JsonReport, analysis, path=path, verdicts=verdicts)


@dataclass(frozen=True)
class JsonTwoSides:
    """The verdict of TPS, and how it was come by."""

    campaign: str
    verdict: Annotated[JsonVerdict, SPREAD]
    delta: Annotated[Positive, "The smallest difference that matters, as a share."]
    pairs: Count
    seconds: Annotated[Positive, "Of the campaign, with the pilot."]
    metrics: Annotated[Mapping[str, JsonVerdict], "The verdict of each metric, by its name."]
    way: WayName
    way_by_clients: Annotated[
        Mapping[str, WayName],
        "How each number of clients was loaded: pairs beyond the processors are in step.",
    ]
    cpu_agrees: PairsAgree
    duration: Annotated[Positive | None, "Seconds of a trial; null where it was left open."]
    slices: Count
    rounds: bool
    boots: Annotated[
        Count | None, "Starts of the machine that its trials span; null of trials by themselves."
    ]
    pairs_of_a_start: Count
    chosen_by: Annotated[
        NoiseSource | None, "Whence the noise by which pairs and starts were chosen."
    ]
    ending: Annotated[
        Ending | None,
        "Why a sequential campaign ran no further trial; null of a fixed design. 'decided': every"
        " verdict but those of queries that exceeded their time limit, which have none.",
    ]
    reports: tuple[Path, ...]


def json_two_sides(
    analysis: CampaignAnalysis, result: ContrastResult, reports: Sequence[Path]
) -> JsonTwoSides:
    """``result``: the contrast of TPS, which is judged."""
    plan, pilot = analysis.plan, analysis.replication
    return taken(
        JsonTwoSides,
        plan.study.measure,
        campaign=analysis.name,
        verdict=result.overall,
        delta=result.overall.delta,
        pairs=result.overall.pairs,
        seconds=analysis.wall + (pilot.took if pilot else 0.0),
        metrics={contrast.metric.name: contrast.overall for contrast in analysis.contrasts},
        way_by_clients=way_names(plan),
        cpu_agrees=_cpu_agrees(analysis, result),
        boots=boots(analysis),
        pairs_of_a_start=plan.pairs_of_a_start,
        chosen_by=pilot.source if pilot else None,
        ending=analysis.standing.ending,
        reports=reports,
    )


def way_names(plan: Plan) -> dict[str, str]:
    """The way in which each number of clients is loaded."""
    return {str(clients): way.name for clients, way in ways_by_clients(plan).items()}


def _pairs_needed(floor: NoiseFloor) -> dict[str, int | None]:
    return {f"{effect:g}": pairs_for(effect, floor.deviation, floor.alpha) for effect in EFFECTS}


@dataclass(frozen=True)
class JsonNoiseFloor:
    floor: Annotated[NoiseFloor, SPREAD, From("")]
    pairs_needed: Annotated[
        Mapping[str, Count | None],
        "Pairs until a verdict, by the difference as a share; null where none comes.",
        From(_pairs_needed),
    ]


@dataclass(frozen=True)
class JsonNoise:
    """How much equal sides differ."""

    campaign: str
    noise: tuple[JsonNoiseFloor, ...]
    reports: tuple[Path, ...]


def json_noise(name: str, floors: Sequence[NoiseFloor], reports: Sequence[Path]) -> JsonNoise:
    printed = tuple(taken(JsonNoiseFloor, floor) for floor in floors)
    return JsonNoise(name, printed, tuple(reports))
