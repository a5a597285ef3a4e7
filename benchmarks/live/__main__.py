"""Real servers against themselves, and against themselves with a little more work.

    python -m benchmarks.live RECORD [--nulls 100] [--each 10] [--rows 10100,10200,10500]
                                     [--truth 40] [--minutes 60] [--set slices=5 --set duration=5s]
                                     [--work count|wait]

Every comparison is a complete campaign of ``teiten run`` until decided: both sides are the same
binaries with a cluster of their own; the new side counts 10,000 rows (the null) or more (a known
effect), or waits that many microseconds. How much slower that is here, is told by one long fixed
campaign of its own for each number of rows. RECORD holds a line for each comparison; started again,
it goes on from there, and ``--minutes`` ends it in between. Printed: the tables of
docs/concepts/trust.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks.live.comparison import Outcome, compare
from benchmarks.live.study import SCRIPTS, Size
from benchmarks.live.tables import tables
from benchmarks.pairs.servers import BASE_ROWS
from benchmarks.records import in_turn, keep, kept, record_parser, within
from teiten.host.system.paths import Workdir


def main() -> None:
    parser = record_parser(__doc__, minutes=600.0)
    parser.add_argument("--nulls", type=int, default=100)
    parser.add_argument("--each", type=int, default=10, help="comparisons of each known effect")
    parser.add_argument("--rows", default="10100,10200,10500")
    parser.add_argument("--truth", type=int, default=40, help="pairs of long campaigns; 0: none")
    parser.add_argument("--pairs", type=int, default=12, help="of a comparison, at the most")
    parser.add_argument("--server", default="18")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--scale", type=int, default=10)
    parser.add_argument("--work", choices=sorted(SCRIPTS), default="count")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    arguments = parser.parse_args()
    workdir = Workdir(arguments.workdir)
    size = Size(arguments.server, arguments.clients, arguments.scale, arguments.work)
    own = dict(change_of(change) for change in arguments.changes)
    for kind, rows in within(arguments.minutes, missing(outcomes(arguments.record), arguments)):
        limits = {"blocks": arguments.truth} if kind == "truth" else sequential(arguments.pairs)
        outcome = compare(kind, rows, size, workdir, {**limits, **own})
        keep(arguments.record, asdict(outcome))
        print(
            f"{kind} {rows}: {outcome.verdict} {outcome.ratio}, {outcome.pairs} pairs,"
            f" {outcome.seconds:.0f} s",
            flush=True,
        )
    print("\n".join(tables(outcomes(arguments.record))))


def outcomes(record: Path) -> list[Outcome]:
    return [Outcome(**line) for line in kept(record)]


def change_of(change: str) -> tuple[str, object]:
    key, _, value = change.partition("=")
    return key, int(value) if value.isdecimal() else value


def sequential(pairs: int) -> dict[str, object]:
    return {"until_decided": True, "budget": "10m", "most_blocks": pairs}


def missing(done: list[Outcome], arguments: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Comparisons that are left to run: their kinds and rows."""
    rows = [int(row) for row in arguments.rows.split(",")]
    wanted = {
        ("null", BASE_ROWS): arguments.nulls,
        **{("truth", row): min(1, arguments.truth) for row in rows},
        **{("effect", row): arguments.each for row in rows},
    }
    return in_turn(wanted, ((outcome.kind, outcome.rows) for outcome in done))


if __name__ == "__main__":
    main()
