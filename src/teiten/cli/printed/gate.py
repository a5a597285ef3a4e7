"""The answer of a gate as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from teiten.analysis.verdict.gate import GateOutcome, GateReason
from teiten.cli.gate.answer import GateAnswer, further_pairs
from teiten.cli.printed.form import Count, From, Names, Positive, taken
from teiten.cli.printed.outcome import JsonVerdict


@dataclass(frozen=True)
class JsonNeeded:
    """Further work until a workload is decided."""

    pairs: Annotated[Count, "Further starts, or rounds."]
    seconds: Positive


@dataclass(frozen=True)
class JsonGateVerdicts:
    levels: Annotated[Names, "Empty over all levels.", From("context")]
    head: JsonVerdict
    control: JsonVerdict


@dataclass(frozen=True)
class JsonGateLine:
    workload: str
    outcome: GateOutcome
    reason: Annotated[GateReason | None, "Why it cannot be told; null where it can."]
    head: Annotated[JsonVerdict, "The head against the base.", From("head.overall")]
    control: Annotated[
        JsonVerdict, "The base against itself, from the same starts.", From("control.overall")
    ]
    pairs: Annotated[Count, From("head.overall.pairs")]
    decisive: Annotated[
        tuple[JsonGateVerdicts, ...],
        "What the outcome follows from: over all levels, or at each that decides.",
    ]
    needed: Annotated[JsonNeeded | None, "null where it is decided, or where nobody knows."]


@dataclass(frozen=True)
class JsonGate:
    """Whether a change made a workload slower."""

    campaign: Annotated[str, From("analysis.name")]
    outcome: Annotated[
        GateOutcome,
        "Over all workloads. Exit codes: regression 5, none 0, cannot-tell 6.",
    ]
    delta: Annotated[Positive, "The smallest difference that matters, as a share."]
    servers: Annotated[Names, "The server of each side."]
    seconds: Annotated[Positive, "Of the campaign, without builds.", From("analysis.wall")]
    workloads: tuple[JsonGateLine, ...]
    reports: tuple[Path, ...]


def json_gate(answer: GateAnswer, reports: Sequence[Path]) -> JsonGate:
    """Describe the answer; ``reports``: where those of its campaign are."""
    lines = []
    for line in answer.lines:
        needed = further_pairs(answer, line) if line.reason is GateReason.UNDECIDED else None
        lines.append(taken(JsonGateLine, line, needed=needed))
    return taken(JsonGate, answer, workloads=lines, reports=reports)
