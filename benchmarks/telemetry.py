"""What all telemetry together costs in TPS: sampling and the per-transaction log, on against off.

    python -m benchmarks.telemetry [--pairs 40] [--seconds 4] [--workloads read,update]
                                   [--clusters /dev/shm]

``--clusters``: where the server's data go. A disk whose commits vary by a factor of ten hides every
cost of telemetry; in memory what is left is the CPU's, of which telemetry takes its part.

Both sides of a pair run next to each other on one warm server, in random order, with the study
``observe``'s own scripts in the size of its profile ``quick``. Printed: the ratio of TPS on/off
with a 95 % interval of the log-ratios' trimmed mean (20 % at each end, since single runs on a
shared machine are 25 % low), and beside it the plain mean with its t interval. The worst edge is
what telemetry may cost at most.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import stats
from scipy.stats import mstats

from benchmarks.figures import mean_interval
from benchmarks.servers import new_server, newest, pgbench_run
from teiten.execute.client.log_folder import new_log_folder
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.execute.postgres.marker import remove_marked
from teiten.execute.postgres.templates.build import fill, tables_here
from teiten.execute.probes.sampler import Sampler, open_reader
from teiten.execute.sites.prewarming import prewarm
from teiten.host.facts.disks import block_devices
from teiten.host.system.paths import Workdir, default_workdir
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.process import PgbenchProcess
from teiten.kinds.pgbench.load.sampling import suggested_sampling_rate
from teiten.kinds.pgbench.model import pgbench_of
from teiten.model.installation import Pgbench
from teiten.model.study import Setting, Workload
from teiten.model.text import Bilingual
from teiten.model.units import Seconds
from teiten.study.load import load_study

SETTINGS = (
    ("shared_buffers", "512MB"),
    ("max_wal_size", "4GB"),
    ("checkpoint_timeout", "1h"),
    ("autovacuum", "off"),
    ("full_page_writes", "off"),
)
"""No page is written whole after a checkpoint: one that falls into one side of a pair makes its
transactions dearer, which hides what telemetry costs."""

TRIM = 0.2
"""Of the pairs, at each end."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workloads", default="read,update")
    parser.add_argument("--workdir", type=Path, default=default_workdir())
    parser.add_argument("--clusters", type=Path, help="folder for the server's data")
    arguments = parser.parse_args()
    study = load_study("observe", profile="quick")
    workdir = Workdir(arguments.workdir)
    folder = (arguments.clusters or workdir.clusters) / "teiten-benchmark-telemetry"
    installations = find_installations(workdir)
    pgbench = choose_pgbench(installations)
    reason = Bilingual("benchmark", "benchmark")
    settings = [Setting(name, value, reason, "benchmark") for name, value in SETTINGS]
    for name in arguments.workloads.split(","):
        workload = study.workload(name)
        with new_server(newest(installations), folder, settings) as cluster:
            fill(tables_here(cluster, pgbench), workload.data, print)
            prewarm(lambda: cluster.connect(BENCH_DATABASE))
            bench = Bench(cluster, pgbench, workload, arguments.clients, arguments.seconds)
            try:
                ratios: list[float] = []
                for seed in range(arguments.pairs):
                    ratios.append(bench.pair(seed))
                    if len(ratios) % 25 == 0:
                        print(json.dumps(summary(ratios)), file=sys.stderr, flush=True)
            finally:
                bench.end()
        line = {"workload": name, "log_sampling_rate": bench.rate, **summary(ratios)}
        print(json.dumps(line), flush=True)


class Bench:
    def __init__(
        self, cluster: Cluster, pgbench: Pgbench, workload: Workload, clients: int, seconds: int
    ) -> None:
        self.cluster = cluster
        self.pgbench = pgbench
        self.workload = workload
        self.clients = clients
        self.seconds = seconds
        self.devices = block_devices(cluster.data_directory)
        self.log_folder = new_log_folder()
        self.rate = 1.0
        self.rate = suggested_sampling_rate(self.tps(0, telemetry=False))

    def end(self) -> None:
        if self.log_folder is not None:
            remove_marked(self.log_folder)

    def pair(self, seed: int) -> float:
        """ln(TPS on / TPS off) of two runs in random order with the same seed."""
        order = random.sample([True, False], 2)
        tps = {telemetry: self.tps(seed, telemetry=telemetry) for telemetry in order}
        return math.log(tps[True] / tps[False])

    def tps(self, seed: int, *, telemetry: bool) -> float:
        with self.cluster.connect(BENCH_DATABASE) as connection:
            connection.execute("CHECKPOINT")
        sampler = self.sampler() if telemetry else None
        if sampler is not None:
            sampler.start()
        with tempfile.TemporaryDirectory(prefix="teiten-bench-") as folder:
            process = PgbenchProcess(self.run(Path(folder), seed, self.rate if telemetry else None))
            process.start()
            if sampler is not None:
                sampler.pgbench_pid = process.pid
            result = process.wait()
        if sampler is not None:
            sampler.stop()
        return result.metrics["tps"]

    def sampler(self) -> Sampler:
        return Sampler(
            conninfo=self.cluster.conninfo(BENCH_DATABASE),
            version=self.cluster.installation.version,
            reader=open_reader((self.cluster.pid or 0,), self.devices),
        )

    def run(self, folder: Path, seed: int, rate: float | None) -> PgbenchRun:
        return pgbench_run(
            self.cluster,
            self.pgbench,
            self.clients,
            script=pgbench_of(self.workload).script,
            scale=int(self.workload.data.scale or 1),
            duration=Seconds(self.seconds),
            seed=seed + 1,
            query_mode=pgbench_of(self.workload).query_mode,
            log_sampling_rate=rate,
            folder=folder,
            log_folder=self.log_folder,
        )


def summary(ratios: list[float]) -> dict[str, float]:
    values = np.array(ratios)
    low, high = mstats.trimmed_mean_ci(values, limits=(TRIM, TRIM), alpha=0.05)
    mean, plain_low, plain_high = mean_interval(ratios)
    return {
        "pairs": len(values),
        "ratio_on_off": math.exp(stats.trim_mean(values, TRIM)),
        "low": math.exp(low),
        "high": math.exp(high),
        "plain_ratio": math.exp(mean),
        "plain_low": math.exp(plain_low),
        "plain_high": math.exp(plain_high),
        "pair_deviation": float(values.std(ddof=1)),
    }


if __name__ == "__main__":
    main()
