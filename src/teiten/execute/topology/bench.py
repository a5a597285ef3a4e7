"""What all trials of a campaign share on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.templates import TemplateStore
from teiten.host.paths import Workdir
from teiten.host.users import ServerUser
from teiten.model.plan import Plan, PlannedTrial

BENCH_DATABASE = "bench"


@dataclass
class Bench:
    """The plan, the folders, and what one trial leaves for the next."""

    plan: Plan
    campaign: Path
    workdir: Workdir
    user: ServerUser
    templates: TemplateStore
    tell_progress: Callable[[float, float, float], None]
    """Second, transactions per second, mean latency (s) of the second that just ended."""
    sampling_rates: dict[str, float]
    """By ``sampling_key``: decided once, so that both sides of a contrast log alike."""
    devices: tuple[str, ...]
    kept: dict[str, Cluster] = field(default_factory=dict)
    """By template fingerprint: stopped clusters whose data no trial has changed."""

    def sampling_key(self, trial: PlannedTrial) -> str:
        levels = trial.cell.context(self.plan.study.contrast)
        return " ".join((trial.cell.workload, *(f"{name}={level}" for name, level in levels)))

    def evidence_folder(self, trial: PlannedTrial, attempt: int) -> Path:
        return self.campaign / "evidence" / f"trial-{trial.number:04d}.{attempt}"
