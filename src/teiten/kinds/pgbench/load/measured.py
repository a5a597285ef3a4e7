"""The measurements of a trial: its slices, one after the other, and all of them together."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teiten.execute.executor import Facts
from teiten.execute.load import Gathered
from teiten.execute.probes.sampler import Sampling
from teiten.kinds.pgbench.load.process import ERRORS_FILE, OUTPUT_FILE, PgbenchResult
from teiten.kinds.pgbench.load.slices import pooled_latencies, pooled_metrics, pooled_series
from teiten.kinds.pgbench.metrics import LATENCY_MEAN, TPS
from teiten.model.facts import Caution
from teiten.model.metrics import STORAGE_READ, STORAGE_WRITTEN, with_wal_per_transaction
from teiten.model.storage import READ, WRITTEN, is_of_storage
from teiten.model.trial import Problem
from teiten.model.units import Seconds


@dataclass(frozen=True)
class Slice:
    """One slice that was measured; a trial that is not cut has one."""

    started_at: float
    """Seconds since the epoch."""
    result: PgbenchResult
    sampling: Sampling


@dataclass
class MeasuredSlices:
    """The slices of one trial, in the order in which they ran."""

    slices: list[Slice] = field(default_factory=list)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of pgbench's runs, of all slices."""
        return tuple(problem for one in self.slices for problem in one.result.problems)

    @property
    def cpu_seconds(self) -> float:
        """CPU seconds of pgbench in all slices."""
        return sum(one.result.cpu_seconds for one in self.slices)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about missing telemetry, each once."""
        return tuple(
            dict.fromkeys(caution for each in self.slices for caution in each.sampling.cautions)
        )

    def gather(self, gathered: Gathered, duration: Seconds, *, trimmed: bool) -> None:
        """One number per metric, one set of series, one histogram, and the facts.

        ``duration``: planned seconds of a slice; ``trimmed``: see ``workload.slices``.
        """
        results = [one.result for one in self.slices]
        latencies = pooled_latencies([result.latencies for result in results])
        metrics = pooled_metrics(
            [{**one.sampling.metrics, **one.result.metrics} for one in self.slices],
            latencies,
            trimmed=trimmed,
        )
        metrics = with_wal_per_transaction(metrics) | _of_storages(metrics)
        gathered.metrics = metrics
        gathered.series = pooled_series(
            [(one.result.series, *one.sampling.series) for one in self.slices], duration
        )
        gathered.histogram = latencies.encode() if latencies is not None else ""
        gathered.facts |= {
            "command": results[0].command,
            "pgbench_output": "\n".join(result.output for result in results),
            "pgbench_cpu_seconds": self.cpu_seconds,
        }
        if len(self.slices) > 1:
            gathered.facts["slices"] = [_facts(one) for one in self.slices]


def _of_storages(metrics: Mapping[str, float]) -> dict[str, float]:
    """Compute what all storage classes transferred for a transaction, where there are any."""
    tps = metrics.get(TPS.name, 0.0)
    found = {}
    for name, column in ((STORAGE_READ.name, READ), (STORAGE_WRITTEN.name, WRITTEN)):
        rates = [value for each, value in metrics.items() if is_of_storage(each, column)]
        if rates and tps > 0:
            found[name] = sum(rates) / tps
    return found


def join_outputs(folders: Sequence[Path], evidence: Path) -> None:
    """One file of each of pgbench's streams in ``evidence``, and the script that all of them ran,
    in the place of a folder for each slice."""
    for name in (OUTPUT_FILE, ERRORS_FILE):
        parts = [folder / name for folder in folders if (folder / name).exists()]
        if parts:
            (evidence / name).write_bytes(b"\n".join(part.read_bytes() for part in parts))
    for path in folders[0].iterdir() if folders[0].is_dir() else ():
        if path.name not in (OUTPUT_FILE, ERRORS_FILE):
            path.replace(evidence / path.name)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _facts(one: Slice) -> Facts:
    names = (TPS.name, LATENCY_MEAN.name)
    measured = {name: one.result.metrics.get(name) for name in names}
    return {"started_at": one.started_at, **measured}
