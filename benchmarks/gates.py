"""How often a gate errs, and what it finds: gates of equal sides, and of a planted slowdown.

    python -m benchmarks.gates RECORD [--null 60] [--slow 20] [--share 2] [--load 0] [--minutes 600]
                               [--server 18] [--budget 5m]

Each gate is `teiten gate SERVER SERVER` with a script that reads as many rows as a parameter says:
of a null gate 10,000 on all sides, of a slow one so many per cent more on the head. Kinds take
turns, so that a record that was cut off has both; RECORD has a line of JSON for each gate, and is
continued. --load starts so many programs that compute, beside all of it.

Printed: the table. A null gate that says regression is a false alarm; a slow one that says none has
missed it. What cannot be told is counted by itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.figures import row
from benchmarks.pairs.servers import BASE_ROWS, RANGE_READ
from benchmarks.records import in_turn, keep, kept, record_parser, within
from benchmarks.running import command_line

OUTCOMES = ("regression", "none", "cannot-tell")
BURNING = "while True: pass"


def main() -> None:
    parser = record_parser(__doc__, minutes=600.0)
    parser.add_argument("--null", type=int, default=60)
    parser.add_argument("--slow", type=int, default=20)
    parser.add_argument("--share", type=float, default=2.0, help="per cent of rows")
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--server", default="18")
    parser.add_argument("--budget", default="5m")
    arguments = parser.parse_args()
    wanted = {"null": arguments.null, "slow": arguments.slow}
    alike = (line for line in kept(arguments.record) if line["load"] == arguments.load)
    left = in_turn(wanted, (line["kind"] for line in alike))
    with burning(arguments.load):
        for kind in within(arguments.minutes, left):
            keep(arguments.record, {"load": arguments.load, **gate(arguments, kind)})
    print(table(kept(arguments.record)))


def gate(arguments: argparse.Namespace, kind: str) -> dict[str, Any]:
    """One gate to its end, and what it said. Raises RuntimeError where it could not be run."""
    rows = BASE_ROWS if kind == "null" else round(BASE_ROWS * (1 + arguments.share / 100))
    with tempfile.TemporaryDirectory(prefix="teiten-gates-") as folder:
        script = Path(folder, "rows.sql")
        script.write_text(RANGE_READ, encoding="ascii")
        line = command_line(
            arguments.workdir, "gate", arguments.server, arguments.server,
            "--guc-base", f"teiten.rows={BASE_ROWS}", "--guc-head", f"teiten.rows={rows}",
            "--script", str(script), "--set", "changes_data=no", "--budget", arguments.budget,
            "--json",
        )  # fmt: skip
        begin = time.monotonic()
        done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 5, 6):
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
    answer = json.loads(done.stdout)
    (judged,) = answer["workloads"]
    return {
        "kind": kind,
        "outcome": answer["outcome"],
        "reason": judged["reason"],
        "pairs": judged["pairs"],
        "head": judged["head"]["interval"],
        "control": judged["control"]["interval"],
        "seconds": time.monotonic() - begin,
    }


@contextmanager
def burning(programs: int) -> Iterator[None]:
    """So many other programs that compute."""
    running = [subprocess.Popen([sys.executable, "-c", BURNING]) for _ in range(programs)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def table(lines: Sequence[dict[str, Any]]) -> str:
    header = ("gates", "load", "run", *OUTCOMES, "median starts", "median time")
    rows = [row(*header), row(*["---"] * len(header))]
    for kind, load in sorted({(line["kind"], line["load"]) for line in lines}):
        mine = [line for line in lines if (line["kind"], line["load"]) == (kind, load)]
        counts = [sum(line["outcome"] == outcome for line in mine) for outcome in OUTCOMES]
        starts, seconds = (
            sorted(line[key] for line in mine)[len(mine) // 2] for key in ("pairs", "seconds")
        )
        rows.append(row(kind, load, len(mine), *counts, starts, f"{seconds:.0f} s"))
    return "\n".join(rows)


if __name__ == "__main__":
    main()
