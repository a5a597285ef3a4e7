"""One resource made scarce at a time, and what Teiten should say then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.throttle.control_groups import Limits
from teiten.model.bottleneck import Resource
from teiten.model.units import MIB

SCRIPTS = Path(__file__).parent / "scripts"
SYNCHRONOUS_OFF = ("--guc", "synchronous_commit=off")
PAST_THE_PAGE_CACHE = ("--guc", "debug_io_direct=data", "--guc", "io_combine_limit=8kB")
"""The page cache of the machine would hide a slow disk: the data go past it (PostgreSQL 16 on)."""
NONE = Limits()


@dataclass(frozen=True)
class Scenario:
    name: str
    expected: Resource | None
    """None: nothing may be said."""
    arguments: tuple[str, ...]
    """Of ``teiten run observe``."""
    limits: Limits = NONE
    cpus: int | None = None
    """Only as many processors, by affinity."""
    warmup: int = 1
    """Seconds."""


def workload(name: str, scale: int, *clients: int) -> tuple[str, ...]:
    """A workload of the catalogue, or a script of this benchmark."""
    chosen = f"script={SCRIPTS / name}" if name.endswith(".sql") else f"workloads={name}"
    levels = ",".join(map(str, clients))
    return ("--set", chosen, "--set", f"scale={scale}", "--set", f"clients={levels}")


READ = workload("read", 5, 1, 2, 4, 8)
UPDATE = workload("update", 1, 2, 4, 8, 16)
"""Little data: they are cloned under the limit too."""
SLOW_COMMITS = Limits(io=(("write_iops", 150),))

SCENARIOS = (
    Scenario("nothing scarce, reads in memory", Resource.CPU, READ),
    Scenario("CPU quota of one core", Resource.CPU, READ, Limits(cores=1.0)),
    Scenario("CPU quota of half a core", Resource.CPU, READ, Limits(cores=0.5)),
    Scenario("one processor by affinity", Resource.CPU, READ, cpus=1),
    Scenario(
        "disk reads, 1,000 a second",
        Resource.READ,
        (
            *workload("select-only", 20, 4, 8, 16, 32),
            *PAST_THE_PAGE_CACHE,
            *("--guc", "shared_buffers=4MB"),  # full before the end of the warm-up
            *("--set", "prewarm=no"),
        ),
        Limits(io=(("read_iops", 1_000),)),
        warmup=4,
    ),
    Scenario(
        "disk writes, 6 MiB/s",
        Resource.WRITE_BANDWIDTH,
        workload("update", 2, 2, 4, 8, 16),
        Limits(io=(("write_bandwidth", 6 * MIB),)),
    ),
    Scenario("slow commits, 150 writes a second", Resource.COMMIT_LATENCY, UPDATE, SLOW_COMMITS),
    Scenario(
        "the same with synchronous_commit off",
        Resource.CPU,
        (*UPDATE, *SYNCHRONOUS_OFF),
        SLOW_COMMITS,
    ),
    Scenario(
        "one row for all clients",
        Resource.LOCK,
        (*workload("hot-row.sql", 1, 1, 2, 4, 8), *SYNCHRONOUS_OFF),
    ),
    Scenario(
        "a load generator that computes",
        None,  # the limit is none of the server's
        workload("busy-client.sql", 1, 1, 2, 3, 4),
    ),
)
