"""How often are Teiten's words wrong on the noise of a null campaign of one's own? A simulation.

    python -m benchmarks.method CAMPAIGN-FOLDER [--campaigns 20000] [--seed 20261121]

Campaigns are drawn from the recorded pairs, and judged by the rules of docs/concepts/trust.md; on
simulated noise they are in python -m benchmarks.trust. It runs on one core and measures nothing of
this machine; seeds are fixed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.figures import row
from benchmarks.method.campaigns import COLUMNS, SINGLE, cells
from benchmarks.method.recorded import LEAST_BLOCKS, count_recorded, recorded_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--campaigns", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=20261121)
    given = parser.parse_args()
    recorded = recorded_pairs(given.folder)
    if not recorded:
        sys.exit(f"{given.folder} has no level with {LEAST_BLOCKS} complete pairs")
    print(row("level", "rule", *COLUMNS))
    print(row("---", "---", *["--:"] * len(COLUMNS)))
    for level, pairs in recorded.items():
        tallies = count_recorded(pairs, given.campaigns, given.seed)
        for name in SINGLE:
            print(row(level, name, *cells(tallies, name)))


if __name__ == "__main__":
    main()
