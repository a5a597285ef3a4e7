"""Nulls over studies: how often a campaign that compares a server with itself says otherwise.

    python -m benchmarks.pairs.nulls RECORD [--nulls 40] [--server 18] [--minutes 240]
                                     [--studies observe,index-only,...] [--set KEY=VALUE ...]

Each null is a campaign of `teiten run STUDY --profile quick` whose two sides are two names of one
server, in the way that the study takes; the studies go round in turn. An alarm is a campaign of
which a primary statement says that its sides differ (faster, slower, different but below δ, or
mixed): its statements share α, so that 5 % of campaigns may have one, and no more.

RECORD has a line of JSON for each campaign; started again, it goes on from there. Printed: a table
by study, and the share of alarms with its 95 % interval (Clopper and Pearson).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.figures import binomial_interval, row
from benchmarks.records import keep, kept, record_parser, within
from benchmarks.running import teiten
from teiten.analysis.model.verdict import BY_SIGN, VerdictKind

STUDIES = {
    "observe": ("workloads=read,update",),
    "operations": ("workloads=point-primary,sort-memory,join-hash,update-indexed",),
    "index-only": ("layout=visible-100",),
    "partition-olap": ("layout=plain",),
    "parallel": ("workloads=ssb", "guc:max_parallel_workers_per_gather=2"),
}
"""Studies whose servers can be any two and whose quick profile has verdicts, and what of them is
run: transactions in pairs and in step, reads and updates, statements in turn."""
SIDES = ("first", "second")
ALARMS = {*BY_SIGN, VerdictKind.DIFFERENT_BUT_SMALL, VerdictKind.MIXED}


def main() -> None:
    parser = record_parser(__doc__, minutes=240.0)
    parser.add_argument("--nulls", type=int, default=40)
    parser.add_argument("--studies", default=",".join(STUDIES))
    parser.add_argument("--server", default="18")
    parser.add_argument("--set", action="append", default=[], dest="overrides")
    given = parser.parse_args()
    studies = given.studies.split(",")
    for number in within(given.minutes, range(len(kept(given.record)), given.nulls)):
        study = studies[number % len(studies)]
        overrides = (*STUDIES.get(study, ()), *given.overrides)
        keep(given.record, null(study, given.server, overrides, given.workdir))
    print("\n".join(table(kept(given.record))))


def null(study: str, server: str, overrides: tuple[str, ...], workdir: Path) -> dict[str, Any]:
    """Run a campaign, and delete it. Raises CalledProcessError where it fails."""
    same = (f"servers.{side}={server}" for side in SIDES)
    changes = (*same, f"server={','.join(SIDES)}", "contrast=server", *overrides)
    words = [word for change in changes for word in ("--set", change)]
    load, began = os.getloadavg()[0], time.monotonic()
    command = ("--quiet", "run", study, "--profile", "quick", "--yes", "--json", *words)
    printed = json.loads(teiten(workdir, *command))
    teiten(workdir, "--quiet", "rm", printed["campaign"], "--yes")
    if not printed["conclusive"]:
        raise SystemExit(f"the profile quick of {study} has no verdicts, and so no alarms")
    return {
        "study": study,
        "load": load,
        "seconds": time.monotonic() - began,
        "verdicts": [
            [contrast["workload"], contrast["metric"], contrast["verdict"], contrast["interval"]]
            for contrast in printed["contrasts"]
            if contrast["verdict"] != VerdictKind.UNJUDGED
        ],
    }


def is_alarm(line: dict[str, Any]) -> bool:
    """Whether any primary statement says that the sides differ."""
    return any(verdict in ALARMS for _, _, verdict, _ in line["verdicts"])


def table(lines: list[dict[str, Any]]) -> Iterator[str]:
    yield "| study | campaigns | alarms | statements | undecided | median (s) | load average |"
    yield "|---" * 7 + "|"
    for study in dict.fromkeys(line["study"] for line in lines):
        own = [line for line in lines if line["study"] == study]
        words = [word for line in own for _, _, word, _ in line["verdicts"]]
        decided = [VerdictKind.EQUIVALENT, *ALARMS]
        seconds, loads = (sorted(line[key] for line in own) for key in ("seconds", "load"))
        cells = (
            *(study, len(own), sum(map(is_alarm, own)), len(words)),
            *(sum(word not in decided for word in words), f"{seconds[len(own) // 2]:.0f}"),
            f"{loads[len(own) // 2]:.1f}",
        )
        yield row(*cells)
    alarms, count = sum(map(is_alarm, lines)), len(lines)
    if count:
        low, high = binomial_interval(alarms, count)
        yield f"\n{alarms} alarms in {count} campaigns: {low:.1%} to {high:.1%}"


if __name__ == "__main__":
    main()
