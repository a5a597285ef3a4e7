"""How often are Teiten's words wrong, and what do they cost? A simulation.

    python -m benchmarks.method              the tables of docs/concepts/trust.md
    python -m benchmarks.method --quick      a few seconds, for a look
    python -m benchmarks.method --json FILE  every count as well
    python -m benchmarks.method --audit      the rules that an audit found wanting, and today's
    python -m benchmarks.method --recorded CAMPAIGN-FOLDER
                                             on the noise of a null campaign of this machine

It runs on one core and measures nothing of this machine; seeds are fixed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from benchmarks.method import audit
from benchmarks.method.campaigns import EFFECTS, SINGLE, SWEEP, Tallies, count
from benchmarks.method.noise import KINDS
from benchmarks.method.recorded import LEAST_BLOCKS, RULES, count_recorded, recorded_pairs

FULL, QUICK = 20_000, 1_000
HEAD = (
    "noise",
    "rule",
    "pair deviation",
    "false alarms",
    "coverage",
    "2 % found",
    "2 % called equal",
    "3 % called equal",
    "pairs at 2 %",
    "minutes at 2 %",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} campaigns, not {FULL}")
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--recorded", type=Path, help="folder of a null campaign: draw its trials")
    parser.add_argument("--json", type=Path, help="write every count to this file")
    parser.add_argument("--audit", action="store_true", help="what an audit found, old and new")
    arguments = parser.parse_args()
    if arguments.audit:
        print("\n".join(audit.table(QUICK if arguments.quick else 4 * QUICK, arguments.seed)))
        return
    campaigns = QUICK if arguments.quick else FULL
    record = {}
    for title, rules, counts in _parts(arguments.recorded, campaigns, arguments.seed):
        print(f"\n{title}, {campaigns:,} campaigns for each line\n")
        print("\n".join(table(rules, counts)))
        record[title] = {kind: _as_json(tallies) for kind, tallies in counts.items()}
    if arguments.json:
        arguments.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


Costs = Mapping[str, float]
"""Machine seconds of a block, by rule; NaN where the record decides them."""


def _parts(
    recorded: Path | None, campaigns: int, seed: int
) -> Iterator[tuple[str, Costs, Mapping[str, Tallies]]]:
    """Title, rules and counts of each table."""
    if recorded is not None:
        pairs = recorded_pairs(recorded)
        if not pairs:
            sys.exit(f"{recorded} has no level with {LEAST_BLOCKS} complete pairs")
        counts = {name: count_recorded(of, campaigns, seed) for name, of in pairs.items()}
        yield "Recorded noise", dict.fromkeys(RULES, math.nan), counts
        return
    for title, rules in (("One level", SINGLE), ("Eight levels", SWEEP)):
        costs = {name: design.seconds_of_block for name, (design, _) in rules.items()}
        yield title, costs, {kind: count(rules, kind, campaigns, seed) for kind in KINDS}


def table(costs: Costs, counts: Mapping[str, Tallies]) -> list[str]:
    """Markdown: a row for each kind of noise and rule."""
    lines = [f"| {' | '.join(HEAD)} |", f"| --- | --- |{' --: |' * (len(HEAD) - 2)}"]
    for kind, tallies in counts.items():
        lines += [
            f"| {kind} | {name} | {' | '.join(_row(tallies, name, seconds))} |"
            for name, seconds in costs.items()
        ]
    return lines


def _row(tallies: Tallies, name: str, seconds: float) -> list[str]:
    none, two, three = (tallies[name, effect] for effect in (0.0, 0.02, 0.03))
    covered = min(
        tally.share(tally.covers) for tally in (tallies[name, effect] for effect in EFFECTS)
    )
    pairs = two.share(two.pairs)
    return [
        _percent(float(np.mean(none.spread)), 2),
        _percent(none.share(none.differs)),
        _percent(covered) if none.has_interval else "none",
        _percent(two.share(two.slower)),
        _percent(two.share(two.equivalent)),
        _percent(three.share(three.equivalent)),
        f"{pairs:.1f}",
        "" if math.isnan(seconds) else f"{pairs * seconds / 60:.0f}",
    ]


def _percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"


def _as_json(tallies: Tallies) -> dict[str, dict[str, float]]:
    return {
        f"{name} at {effect:g}": {
            "campaigns": tally.campaigns,
            "differs": tally.differs,
            "slower": tally.slower,
            "equivalent": tally.equivalent,
            "covers": tally.covers,
            "pairs": tally.pairs,
        }
        for (name, effect), tally in tallies.items()
    }


if __name__ == "__main__":
    main()
