"""The numbers of all timed steps of a trial together; times in seconds, sizes in bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from teiten.model.metrics import MEASURED_SECONDS, Better, Metric

PROCEDURE_TIME = Metric("procedure_seconds", "s", Better.LOWER, judged=True)
"""From sending a step's statements until their last answer."""
ROWS = Metric("procedure_rows", "1")
"""Rows that the method moved, as the workload's ``counted`` says; absent without it."""
ROWS_RATE = Metric("rows_per_second", "1", Better.HIGHER)
BACKEND_CPU = Metric("backend_cpu_seconds", "s", Better.LOWER)
"""CPU seconds of the backend, without parallel workers; absent where it is not on this machine."""
PROCEDURE_WAL = Metric("procedure_wal_bytes", "B", Better.LOWER)
BACKEND_READ = Metric("backend_read_bytes", "B")
"""From disks, not from the page cache; absent as BACKEND_CPU."""
BACKEND_WRITTEN = Metric("backend_written_bytes", "B")
"""Given to the page cache by the backend itself, which the kernel writes later."""
SIZE_CHANGE = Metric("size_change_bytes", "B")
"""After less before, as the workload's ``sized`` says: negative is space given back."""
LOCKS_FAST_PATH = Metric("locks_fast_path", "1")
"""Locks on relations that a transaction held in its backend's own slots; the most of all steps."""
LOCKS_IN_TABLE = Metric("locks_in_table", "1")
"""Those in the lock table, which all backends share."""
BACKEND_MEMORY = Metric("backend_memory_bytes", "B")
"""The backend's own memory after the steps, caches of relations and plans among it; absent as
BACKEND_CPU."""
PLANNING_MEMORY = Metric("planning_memory_bytes", "B")
"""Memory that one planning used, as EXPLAIN (MEMORY) says (17 and later); the most of all steps."""
PROGRAM_CPU = Metric("program_cpu_seconds", "s", Better.LOWER)
"""CPU seconds of the programs that steps run, with their children; absent where none does."""
SERVER_CPU = Metric("server_cpu_seconds", "s", Better.LOWER)
"""CPU seconds of all of the server's processes in steps that run programs or crash it; absent where
not seen."""
WAL_TO_RECOVER = Metric("wal_to_recover_bytes", "B")
"""WAL since the last checkpoint's redo point when the server is crashed; absent where no step does
that."""

METRICS: tuple[Metric, ...] = (
    PROCEDURE_TIME,
    ROWS,
    ROWS_RATE,
    BACKEND_CPU,
    PROCEDURE_WAL,
    BACKEND_READ,
    BACKEND_WRITTEN,
    SIZE_CHANGE,
    LOCKS_FAST_PATH,
    LOCKS_IN_TABLE,
    BACKEND_MEMORY,
    PLANNING_MEMORY,
    PROGRAM_CPU,
    SERVER_CPU,
    WAL_TO_RECOVER,
    MEASURED_SECONDS,
)
COMBINED: Mapping[Metric, tuple[str, Callable[[list[float]], float], bool]] = {
    PROCEDURE_TIME: ("seconds", sum, True),
    BACKEND_CPU: ("cpu", sum, True),
    BACKEND_READ: ("read", sum, True),
    BACKEND_WRITTEN: ("written", sum, True),
    PROCEDURE_WAL: ("wal", sum, True),
    LOCKS_FAST_PATH: ("fast_path", max, False),
    LOCKS_IN_TABLE: ("in_table", max, False),
    BACKEND_MEMORY: ("memory", max, False),
    PLANNING_MEMORY: ("planning", max, False),
    PROGRAM_CPU: ("program_cpu", sum, False),
    SERVER_CPU: ("server_cpu", sum, False),
    WAL_TO_RECOVER: ("to_recover", sum, False),
}
"""Metrics that are made of a figure of the steps (``results.StepOfTrial``), how, and whether all
steps must have it; else those count that do."""
STEP_TIME = "step_seconds"
"""The measure of one step's time, by its name: ``step_seconds:vacuum``."""
CONTRASTED = (PROCEDURE_TIME.name, BACKEND_CPU.name)
