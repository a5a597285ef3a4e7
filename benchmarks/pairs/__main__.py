"""How much better pairs of transactions are than turns, and what it costs; on real servers.

    python -m benchmarks.pairs RECORD [--experiments deviation,effects,carried,starts,pgbench]
                               [--rounds 8] [--seconds 8] [--server 18] [--minutes 60]

Two servers of the same version and data, both up, on this machine as it is. Experiments:

deviation  of ln(B/A) of a start of so many seconds, as throughput and as the typical transaction,
           beside slices of a second of pgbench on one and the other in the same time
effects    B reads 1, 2, 5 and 100 % more rows, or waits so much longer
carried    A against A by the number of transactions on one server before the other, alternating
           and in step
starts     the same with servers that start anew each time, and what that takes
pgbench    throughput on one server, beside pgbench's

RECORD has a line of JSON for each start; started again, it goes on from there. A round runs every
start of each experiment once. Printed: the tables. Whole comparisons, with known effects and
nulls: python -m benchmarks.pairs.comparisons.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.pairs.experiments import EXPERIMENTS, Line
from benchmarks.pairs.servers import Pair, two_servers
from benchmarks.pairs.tables import tables
from benchmarks.records import keep, kept, record_parser
from teiten.host.system.paths import Workdir


def main() -> None:
    parser = record_parser(__doc__, minutes=60.0)
    parser.add_argument("--experiments", default=",".join(EXPERIMENTS))
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--server", default="18")
    arguments = parser.parse_args()
    names = arguments.experiments.split(",")
    begun = max((line["round"] for line in kept(arguments.record)), default=-1) + 1
    deadline = time.monotonic() + 60 * arguments.minutes
    with two_servers(arguments.server, Workdir(arguments.workdir)) as pair:
        for line in rounds(pair, names, range(begun, begun + arguments.rounds), arguments.seconds):
            keep(arguments.record, line)
            if time.monotonic() > deadline:
                break
    print(tables(kept(arguments.record)))


def rounds(pair: Pair, names: list[str], numbers: range, seconds: float) -> Iterator[Line]:
    for number in numbers:
        for name in names:
            for line in EXPERIMENTS[name](pair, seconds, 1000 + number):
                yield {"round": number, "seconds": seconds, "experiment": name, **line}


if __name__ == "__main__":
    main()
