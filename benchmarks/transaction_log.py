"""What the per-transaction log costs, and what its reader can take.

    python -m benchmarks.transaction_log [--pairs 40] [--seconds 1] [--clients 4]

1. A script of one meta-command, which touches the server not at all: pgbench's CPU time per
   transaction with and without a log, so the cost of a line, free of the machine's noise.
2. select-only with prepared statements, the shortest transaction that pgbench has and so the worst
   case, in blocks: without a log, with a log of all transactions, and with -r, in random order.
   Each is compared with "without" of its block, as ratios with 95 % t intervals: of TPS, and of the
   CPU time of server, pgbench and reader together per transaction. On a machine whose cores are
   all busy the second is what TPS comes down to, and other programs disturb it less.
3. The reader alone on a log of 5 million lines: transactions per CPU second, and its memory.

The server is one of its own, of the newest installation that is found.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.figures import mean_interval
from benchmarks.pairs.servers import SCALE, fill
from benchmarks.servers import cpu_seconds, new_server, newest, passable_folder, pgbench_run
from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.log_folder import LogFile
from teiten.execute.client.pgbench_log import recording
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.host.system.paths import Workdir, default_workdir
from teiten.kinds.pgbench.load.output import PgbenchResult
from teiten.kinds.pgbench.load.process import PgbenchProcess
from teiten.model.installation import Pgbench
from teiten.model.study import Script
from teiten.model.units import MIB, Seconds

Arm = tuple[float | None, tuple[str, ...]]
"""The log's sampling rate, and further options."""
WITHOUT = "without"
EMPTY_SCRIPT = Script("nothing.sql", False, "\\set nothing 1\n")
EMPTY_ARMS: dict[str, Arm] = {
    WITHOUT: (None, ()),
    "log of all": (1.0, ()),
    "log of 1 %": (0.01, ()),
    "-r": (None, ("-r",)),
}
SELECT_ONLY = Script("select-only", True, "")
ARMS = {arm: EMPTY_ARMS[arm] for arm in (WITHOUT, "log of all", "-r")}


@dataclass(frozen=True)
class Run:
    result: PgbenchResult
    server_cpu_seconds: float
    reader_cpu_seconds: float
    """Of this process, which reads the log."""


Results = dict[str, list[Run]]
Number = Callable[[Run], float]


def tps(run: Run) -> float:
    return run.result.metrics["tps"]


def pgbench_cpu(run: Run) -> float:
    """CPU seconds of pgbench per transaction."""
    return run.result.cpu_seconds / run.result.metrics["transactions"]


def all_cpu(run: Run) -> float:
    """CPU seconds of server, pgbench and reader per transaction."""
    of_both = run.server_cpu_seconds + run.result.cpu_seconds
    return (of_both + run.reader_cpu_seconds) / run.result.metrics["transactions"]


RATIOS = {"tps_ratio": tps, "cpu_ratio": all_cpu, "pgbench_cpu_ratio": pgbench_cpu}


def main() -> None:
    arguments = parse_arguments()
    workdir = Workdir(arguments.workdir)
    installations = find_installations(workdir)
    pgbench = choose_pgbench(installations)
    with passable_folder("teiten-bench-") as folder:
        reader = measure_reader(folder)
        with new_server(newest(installations), folder / "cluster") as cluster:
            fill(cluster, pgbench)
            bench = Bench(pgbench, cluster, folder / "run", arguments.seconds)
            empty = bench.blocks(5, EMPTY_ARMS, EMPTY_SCRIPT, clients=1)
            results = bench.blocks(arguments.pairs, ARMS, SELECT_ONLY, clients=arguments.clients)
    report = {
        "pgbench": str(pgbench.version),
        "clients": arguments.clients,
        "pairs": arguments.pairs,
        "seconds": arguments.seconds,
        "empty script": {arm: cost_of_a_line(empty, arm) for arm in EMPTY_ARMS},
        "select-only": {arm: compare(results, arm) for arm in ARMS},
        "reader": reader,
    }
    print(json.dumps(report, indent=2))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workdir", type=Path, default=default_workdir())
    return parser.parse_args()


@dataclass(frozen=True)
class Bench:
    pgbench: Pgbench
    cluster: Cluster
    folder: Path
    seconds: int

    def blocks(self, count: int, arms: dict[str, Arm], script: Script, *, clients: int) -> Results:
        """Each arm once a block, in random order; one more block at the start warms up."""
        results: Results = {arm: [] for arm in arms}
        for block in range(count + 1):
            for arm in random.sample(list(arms), len(arms)):
                result = self.run(arms[arm], script, clients, seed=block)
                if block:
                    results[arm].append(result)
        return results

    def run(self, arm: Arm, script: Script, clients: int, seed: int) -> Run:
        rate, options = arm
        run = pgbench_run(
            self.cluster,
            self.pgbench,
            clients,
            script=script,
            scale=SCALE,
            duration=Seconds(self.seconds),
            seed=seed,
            options=options,
            log_sampling_rate=rate,
            folder=self.folder,
        )
        process = PgbenchProcess(run)
        before, began = cpu_seconds(self.cluster), time.process_time()
        process.start()
        result = process.wait()
        reader = time.process_time() - began
        assert not result.problems, result.problems
        shutil.rmtree(self.folder)
        return Run(result, cpu_seconds(self.cluster) - before, reader)


def median_of(runs: list[Run], number: Number) -> float:
    return float(np.median([number(run) for run in runs]))


def cost_of_a_line(results: Results, arm: str) -> dict[str, float]:
    cost, without = (1e6 * median_of(results[name], pgbench_cpu) for name in (arm, WITHOUT))
    costs = {"pgbench_cpu_microseconds": cost, "more_than_without": cost - without}
    return costs | reader_cost(results[arm])


def compare(results: Results, arm: str) -> dict[str, object]:
    own, base = results[arm], results[WITHOUT]
    figures: dict[str, object] = {
        "median_tps": median_of(own, tps),
        "pgbench_cpu_microseconds": 1e6 * median_of(own, pgbench_cpu),
        "all_cpu_microseconds": 1e6 * median_of(own, all_cpu),
    }
    if arm != WITHOUT:
        for name, number in RATIOS.items():
            logs = [
                math.log(number(run) / number(reference))
                for run, reference in zip(own, base, strict=True)
            ]
            figures[name] = ratio_with_interval(logs)
    return figures | reader_cost(own)


def reader_cost(runs: list[Run]) -> dict[str, float]:
    counted = sum(run.result.latencies.count for run in runs if run.result.latencies)
    cpu = sum(run.reader_cpu_seconds for run in runs)
    return {"reader_cpu_microseconds": cpu / counted * 1e6} if counted else {}


def ratio_with_interval(log_ratios: list[float]) -> dict[str, float]:
    """The ratio with its bounds (95 %, t), the median pair's, and the pairs' deviation."""
    mean, low, high = mean_interval(log_ratios)
    return {
        "ratio": math.exp(mean),
        "low": math.exp(low),
        "high": math.exp(high),
        "median": math.exp(np.median(log_ratios)),
        "pair_deviation": float(np.std(log_ratios, ddof=1)),
    }


def measure_reader(folder: Path) -> dict[str, float]:
    """5 million lines, written a tenth at a time as pgbench would, and read behind it."""
    lines, parts = 5_000_000, 10
    generator = np.random.default_rng(1)
    path = folder / "transactions.1"
    path.touch()
    histogram = LatencyHistogram()
    tail = LogFile(path, recording(histogram))
    cpu, peak = 0.0, 0
    before = 0
    for part in range(parts):
        times = generator.lognormal(4, 0.6, lines // parts).astype(int)
        text = "".join(
            f"{at % 64} {part}{at} {us} 0 1795265030 {at % 10**6}\n"
            for at, us in enumerate(times.tolist())
        )
        with path.open("ab") as file:
            file.write(text.encode())
        del text, times
        before = before or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak = max(peak, 512 * path.stat().st_blocks)
        started = time.thread_time()
        tail.read()
        cpu += time.thread_time() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = tail.position
    tail.close(delete=True)
    assert histogram.count == lines
    return {
        "transactions_per_cpu_second": lines / cpu,
        "cpu_seconds_per_100000_transactions": cpu / lines * 100_000,
        "log_mib": size / MIB,
        "peak_disk_mib": peak / MIB,
        "maximum_rss_growth_mib": (after - before) / 1024,
    }


if __name__ == "__main__":
    main()
