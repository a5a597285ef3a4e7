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

Needs a server: by default one of its own of the newest installation that is found; or, with
--socket-directory and --port, one whose database ``postgres`` has pgbench's tables.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import psycopg

from benchmarks.figures import mean_interval
from benchmarks.pairs.servers import SCALE, fill
from benchmarks.servers import new_server, newest
from teiten.execute.client.address import Address
from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.log_folder import LogFile
from teiten.execute.client.pgbench_log import recording
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.host.system.paths import Workdir, default_workdir
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.kinds.pgbench.load.output import PgbenchResult
from teiten.kinds.pgbench.load.process import PgbenchProcess
from teiten.model.installation import Installation, Pgbench
from teiten.model.study import QueryMode, Script
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
ARMS: dict[str, Arm] = {
    WITHOUT: (None, ()),
    "log of all": (1.0, ()),
    "-r": (None, ("-r",)),
}


@dataclass(frozen=True)
class Run:
    result: PgbenchResult
    server_cpu_seconds: float
    reader_cpu_seconds: float
    """Of this process, which reads the log."""

    @property
    def transactions(self) -> float:
        return self.result.metrics["transactions"]

    @property
    def cpu_per_transaction(self) -> float:
        """Of server, pgbench and reader, in seconds."""
        of_both = self.server_cpu_seconds + self.result.cpu_seconds
        return (of_both + self.reader_cpu_seconds) / self.transactions


Results = dict[str, list[Run]]


@dataclass(frozen=True)
class Server:
    socket_directory: Path
    port: int


def main() -> None:
    arguments = parse_arguments()
    workdir = Workdir(arguments.workdir)
    installations = find_installations(workdir)
    pgbench = choose_pgbench(installations)
    with tempfile.TemporaryDirectory(prefix="teiten-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        reader = measure_reader(folder)
        with contextlib.ExitStack() as stack:
            if arguments.socket_directory is not None:
                server = Server(arguments.socket_directory, arguments.port)
            else:
                own = own_server(newest(installations), pgbench, folder)
                server = stack.enter_context(own)
            postmaster, own_processes = find_postmaster(server)
            bench = Bench(
                pgbench, server, folder / "run", arguments.seconds, postmaster, own_processes
            )
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
    parser.add_argument("--socket-directory", type=Path)
    parser.add_argument("--port", type=int, default=5432)
    return parser.parse_args()


@contextlib.contextmanager
def own_server(installation: Installation, pgbench: Pgbench, folder: Path) -> Iterator[Server]:
    with new_server(installation, folder / "cluster") as cluster:
        fill(cluster, pgbench)
        yield Server(cluster.socket_directory, cluster.port)


def find_postmaster(server: Server) -> tuple[psutil.Process, int]:
    """The process of the server, and how many children it has without a client."""
    with psycopg.connect(
        host=str(server.socket_directory), port=server.port, user="postgres", dbname="postgres"
    ) as connection:
        backend = psutil.Process(connection.info.backend_pid)
        postmaster = backend.parent()
    assert postmaster is not None
    while backend.is_running():
        time.sleep(0.01)
    return postmaster, len(postmaster.children())


@dataclass(frozen=True)
class Bench:
    pgbench: Pgbench
    server: Server
    folder: Path
    seconds: int
    postmaster: psutil.Process
    own_processes: int
    """How many children the postmaster has without a client."""

    def blocks(self, count: int, arms: dict[str, Arm], script: Script, *, clients: int) -> Results:
        """Each arm once a block, in random order; one more block at the start warms up."""
        results: Results = {arm: [] for arm in arms}
        for block in range(count + 1):
            for arm in random.sample(list(arms), len(arms)):
                result = self.run(arms[arm], script, clients, seed=block)
                if block:
                    results[arm].append(result)
        return results

    def server_cpu_seconds(self) -> float:
        """Of the server and all its backends; waits until those of the last run are accounted."""
        while len(self.postmaster.children()) > self.own_processes:
            time.sleep(0.01)
        times = self.postmaster.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)

    def run(self, arm: Arm, script: Script, clients: int, seed: int) -> Run:
        rate, options = arm
        process = PgbenchProcess(
            PgbenchRun(
                pgbench=self.pgbench,
                address=Address.by_socket(
                    self.server.socket_directory, self.server.port, "postgres", "postgres"
                ),
                script=script,
                scale=SCALE,
                clients=clients,
                threads=max(1, clients // 2),
                duration=Seconds(self.seconds),
                seed=seed,
                query_mode=QueryMode.PREPARED,
                options=options,
                log_sampling_rate=rate,
                folder=self.folder,
            )
        )
        before, began = self.server_cpu_seconds(), time.process_time()
        process.start()
        result = process.wait()
        reader = time.process_time() - began
        assert not result.problems, result.problems
        shutil.rmtree(self.folder)
        return Run(result, self.server_cpu_seconds() - before, reader)


def pgbench_cpu(runs: list[Run]) -> float:
    """The median of pgbench's own CPU time per transaction, in microseconds."""
    return 1e6 * float(np.median([run.result.cpu_seconds / run.transactions for run in runs]))


def cost_of_a_line(results: Results, arm: str) -> dict[str, float]:
    cost = pgbench_cpu(results[arm])
    return {
        "pgbench_cpu_microseconds": cost,
        "more_than_without": cost - pgbench_cpu(results[WITHOUT]),
    } | reader_cost(results[arm])


def compare(results: Results, arm: str) -> dict[str, object]:
    tps = np.array([run.result.metrics["tps"] for run in results[arm]])
    cpu = np.array([run.cpu_per_transaction for run in results[arm]])
    figures: dict[str, object] = {
        "median_tps": float(np.median(tps)),
        "pgbench_cpu_microseconds": pgbench_cpu(results[arm]),
        "all_cpu_microseconds": float(np.median(cpu)) * 1e6,
    }
    if arm != WITHOUT:
        base = results[WITHOUT]
        base_tps = np.array([run.result.metrics["tps"] for run in base])
        base_cpu = np.array([run.cpu_per_transaction for run in base])
        own, base_own = (
            np.array([run.result.cpu_seconds / run.transactions for run in runs])
            for runs in (results[arm], base)
        )
        figures["tps_ratio"] = ratio_with_interval(np.log(tps / base_tps))
        figures["cpu_ratio"] = ratio_with_interval(np.log(cpu / base_cpu))
        figures["pgbench_cpu_ratio"] = ratio_with_interval(np.log(own / base_own))
    return figures | reader_cost(results[arm])


def reader_cost(runs: list[Run]) -> dict[str, float]:
    counted = sum(run.result.latencies.count for run in runs if run.result.latencies)
    cpu_seconds = sum(run.reader_cpu_seconds for run in runs)
    return {"reader_cpu_microseconds": cpu_seconds / counted * 1e6} if counted else {}


def ratio_with_interval(
    differences: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> dict[str, float]:
    """The ratio with its bounds (95 %, t), the median pair's, and the pairs' deviation."""
    mean, low, high = mean_interval(differences.tolist())
    return {
        "ratio": math.exp(mean),
        "low": math.exp(low),
        "high": math.exp(high),
        "median": float(np.exp(np.median(differences))),
        "pair_deviation": float(np.std(differences, ddof=1)),
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
