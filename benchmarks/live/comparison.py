"""One complete comparison by ``teiten run``, and what it said."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.live.study import Size, study_text
from benchmarks.method.recorded import recorded_pairs
from benchmarks.running import teiten
from teiten.cli.campaign.read import analyse_campaign
from teiten.host.system.paths import Workdir
from teiten.ledger.store import Ledger


@dataclass(frozen=True)
class Outcome:
    """A line of the record."""

    kind: str
    """``null``, ``effect`` or ``truth``."""
    rows: int
    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int
    log_ratios: tuple[float, ...]
    seconds: float


def compare(
    kind: str, rows: int, size: Size, workdir: Workdir, measure: Mapping[str, object]
) -> Outcome:
    """Run a campaign, read its verdict, delete it. Raises CalledProcessError where it fails."""
    with tempfile.TemporaryDirectory(prefix="teiten-live-") as folder:
        study = Path(folder) / "known-effect.toml"
        study.write_text(study_text(size, rows, measure), encoding="utf-8")
        name = json.loads(teiten(workdir.root, "--quiet", "run", str(study), "--json"))["campaign"]
    with Ledger.open(workdir.campaigns / name, read_only=True) as ledger:
        analysis = analyse_campaign(ledger, series=False)
    throughput = next(contrast for contrast in analysis.contrasts if contrast.metric.name == "tps")
    effect = throughput.overall.effect
    (pairs,) = recorded_pairs(workdir.campaigns / name, least=1).values()
    teiten(workdir.root, "--quiet", "rm", name, "--yes")
    return Outcome(
        kind=kind,
        rows=rows,
        verdict=throughput.overall.kind.value,
        ratio=effect.ratio if effect else None,
        low=effect.low if effect else None,
        high=effect.high if effect else None,
        pairs=throughput.overall.pairs,
        log_ratios=tuple(float(new - old) for new, old in pairs),
        seconds=analysis.wall,
    )
