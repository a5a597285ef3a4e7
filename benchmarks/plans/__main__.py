"""python -m benchmarks.plans fuzz --count 100000   ·   python -m benchmarks.plans size"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.plans.fuzz import fuzz, save
from benchmarks.plans.size import size


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plans", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    fuzzing = verbs.add_parser("fuzz", help="plans changed at random")
    fuzzing.add_argument("--count", type=int, default=1000)
    fuzzing.add_argument("--seed", type=int, default=0)
    fuzzing.add_argument("--processes", type=int, default=2)
    saving = verbs.add_parser("save", help="the texts of one seed of the fuzzer")
    saving.add_argument("seed", type=int)
    saving.add_argument("--to", type=Path, default=Path())
    sizing = verbs.add_parser("size", help="time by number of nodes, as ratios")
    sizing.add_argument("--nodes", type=int, default=100_000)
    given = parser.parse_args()
    if given.verb == "fuzz":
        sys.exit(1 if fuzz(given.count, given.seed, given.processes) else 0)
    if given.verb == "save":
        save(given.seed, given.to)
        return
    size(given.nodes)


if __name__ == "__main__":
    main()
