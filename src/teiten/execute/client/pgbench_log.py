"""pgbench's per-transaction log, read while pgbench writes it.

Once a second a thread takes the new lines of every file: pyarrow's CSV reader (C++) parses them,
numpy counts them into the histogram, and the disk space behind is given back. So neither memory nor
disk grow with the number of transactions, and mostly the log's pages are gone before the kernel
would write them out. The files are regular ones: a late reader never holds pgbench up.

Format (manual of pgbench 18, "Per-Transaction Logging"): client_id transaction_no time script_no
time_epoch time_us [schedule_lag] [retries]; ``time`` in microseconds, or why there is none.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import csv

from teiten.execute.client.histogram import LatencyHistogram
from teiten.execute.client.log_folder import LogFiles

WAKE_SECONDS = 1.0
NO_LATENCY = ("skipped", "failed", "serialization", "deadlock")
"""Words in the place of a latency: the transaction was not begun, or failed."""


@dataclass(frozen=True)
class LogSummary:
    """The result of reading a run's log."""

    counted: int
    """Transactions in the histogram; skipped and failed ones have no latency."""
    error: str | None
    """Why the log could not be read to its end."""


class TransactionLogReader:
    """Reads the log's files into a histogram until it is stopped."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """``paths``: the files that pgbench will make."""
        self.histogram = LatencyHistogram()
        self._files = LogFiles(paths, recording(self.histogram))
        self._stop = threading.Event()
        self._error: str | None = None
        self._thread = threading.Thread(target=self._run, name="pgbench-log", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> LogSummary:
        """Read what is left after pgbench's end, and delete the files."""
        self._stop.set()
        self._thread.join()
        return LogSummary(self.histogram.count, self._error)

    def _run(self) -> None:
        try:
            while not self._stop.wait(WAKE_SECONDS):
                self._files.read()
            self._files.read()
        except (OSError, pyarrow.ArrowException) as error:
            self._error = f"{type(error).__name__}: {error}"
        finally:
            self._files.close(delete=True)


def recording(histogram: LatencyHistogram) -> Callable[[bytes], None]:
    """Count complete lines into a histogram."""
    return lambda lines: histogram.record(np.asarray(parse_times(lines).drop_null()))


def parse_times(lines: bytes) -> pyarrow.Array:
    """The column ``time`` of complete lines: int64 microseconds, null where there is none.

    Raises pyarrow.ArrowInvalid for lines of another form.
    """
    width = lines[: lines.index(b"\n")].count(b" ") + 1
    names = ["client_id", "transaction_no", "time", *(f"column_{at}" for at in range(3, width))]
    table = csv.read_csv(
        pyarrow.BufferReader(lines),
        read_options=csv.ReadOptions(
            use_threads=False,
            block_size=len(lines) + 1,
            column_names=names,
        ),
        parse_options=csv.ParseOptions(delimiter=" ", quote_char=False),
        convert_options=csv.ConvertOptions(
            include_columns=["time"],
            column_types={"time": pyarrow.int64()},
            null_values=[*NO_LATENCY],
        ),
    )
    return table.column("time").combine_chunks()
