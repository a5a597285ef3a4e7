"""The tables of docs/concepts/trust.md as they stand there, and into it.

    python -m benchmarks.trust NAME [NAME ...] [--record FILE [FILE ...]] [--budget 5] [--quick]
                               [--write]

NAME is a table of the page, which stands there between two comments:

agreement    live, of the RECORD of python -m benchmarks.pairs.agreement
comparisons  live, of RECORDs of python -m benchmarks.pairs.comparisons, with other load beside
quiet        the same with nothing beside: 2 % more work on the range read
known        the same with nothing beside: of each script and effect
nulls        the same of equal servers
deviation    live, of the RECORD of python -m benchmarks.pairs, with other load beside
steady       the same with nothing beside
lengths      simulated: starts whose length follows from earlier ones
audit        simulated: rules of earlier versions beside today's
single       simulated: one number of clients, both ways of the classic trial
sweep        simulated: eight numbers of clients
collections  simulated: findings of collections whose truth is known
simulated    all of these

--record FILE ...: of a live table, with the --budget (minutes) that it was made with. --write:
into the page, instead of printed. The text around a live table says under which load it was
measured, and what follows from it: read it again.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks import findings
from benchmarks.figures import row
from benchmarks.method import audit
from benchmarks.method.campaigns import COLUMNS, SINGLE, SWEEP, Rules, Tallies, cells, count
from benchmarks.method.designs import Design
from benchmarks.method.noise import KINDS
from benchmarks.pairs import agreement, comparisons, lengths
from benchmarks.pairs.experiments import Line
from benchmarks.pairs.tables import of_deviation_in_short
from benchmarks.records import kept

PAGE = Path(__file__).parents[1] / "docs/concepts/trust.md"
COMPARISONS = ("comparisons", "quiet", "known", "nulls")
DEVIATIONS = ("deviation", "steady")
AGREEMENT = "agreement"
LIVE = (AGREEMENT, *COMPARISONS, *DEVIATIONS)
SIMULATED = ("lengths", "audit", "single", "sweep", "collections")
SEED = 20261121
MACHINES = {
    "iid": "even noise, pairs ±1 %",
    "iid, twice as much": "even noise, pairs ±2 %",
    "drift": "drift, up to 2.5 % an hour",
    "AR(0.9)": "disturbances of minutes",
    "periodic": "4 % slower in every second trial's time",
    "heavy tails": "heavy tails",
    "outliers": "a neighbour takes 5–25 % now and then",
}
"""The kinds of noise in the page's words."""
SINGLE_TOLD = {
    "Teiten, sequential": "Teiten, until decided",
    "Teiten, fixed": "Teiten, 12 pairs",
    "reports": "3 sets, median, 2 %",
}
"""The rules in the page's words and order."""
SWEEP_TOLD = {
    "Teiten, overall": "Teiten, overall, until decided",
    "reports, mean of 8 levels": "3 sets: mean over the levels",
    "Teiten, any of 8 levels": "Teiten: any of the 8 levels",
    "reports, any of 8 levels": "3 sets: any of the 8 levels",
}
ANY = "any of"
"""In the name of a rule that looks at each level by itself: only its false alarms are counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="+", choices=(*LIVE, *SIMULATED, "simulated"))
    parser.add_argument("--record", type=Path, nargs="+")
    parser.add_argument("--budget", type=float, default=5.0, help="minutes of a comparison")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the campaigns")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    names = [
        chosen for name in given.names for chosen in (SIMULATED if name == "simulated" else [name])
    ]
    for name in names:
        if name in LIVE and given.record is None:
            sys.exit(f"{name} is of a record: --record FILE")
        lines = [line for file in given.record or () for line in kept(file)]
        text = "\n".join(table(name, lines, 60 * given.budget, quick=given.quick))
        if given.write:
            PAGE.write_text(placed(PAGE.read_text(encoding="utf-8"), name, text), encoding="utf-8")
        else:
            print(f"\n{name}\n\n{text}")


def table(name: str, lines: list[Line], budget: float, *, quick: bool) -> Iterable[str]:
    """Its lines, in Markdown. ``lines``: of the records; ``budget``: seconds."""
    share = 20 if quick else 1
    made: dict[str, Callable[[], Iterable[str]]] = {
        AGREEMENT: lambda: agreement.table(lines),
        **dict.fromkeys(COMPARISONS, lambda: comparisons.tables(lines, budget)),
        **dict.fromkeys(DEVIATIONS, lambda: of_deviation_in_short(_deviations(lines))),
        "lengths": lambda: lengths.rows(1_000 // share, 5),
        "collections": lambda: findings.rows(200 // share, SEED),
        "audit": lambda: audit.table(4_000 // share, SEED),
        "single": lambda: simulated(SINGLE, SINGLE_TOLD, range(5), 20_000 // share),
        "sweep": lambda: simulated(SWEEP, SWEEP_TOLD, (0, 2, 3), 20_000 // share),
    }
    return made[name]()


def _deviations(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line["experiment"] == "deviation"]


def simulated(
    rules: Rules, words: Mapping[str, str], columns: Sequence[int], campaigns: int
) -> Iterator[str]:
    """A table of rules by their ``words``, with some of COLUMNS."""
    yield row("machine", "rule", *(COLUMNS[at] for at in columns), "minutes")
    yield f"| --- | --- |{' --: |' * (len(columns) + 1)}"
    for kind in KINDS:
        tallies = count(rules, kind, campaigns, SEED)
        for name, rule in words.items():
            every = cells(tallies, name)
            first, *others = (every[at] for at in columns)
            others.append(_minutes(tallies, name, rules[name][0]))
            numbers = ["" for _ in others] if ANY in name else others
            yield row(MACHINES[kind], rule, first, *numbers)


def _minutes(tallies: Tallies, name: str, design: Design) -> str:
    two = tallies[name, 0.02]
    return f"{two.share(two.pairs) * design.seconds_of_block / 60:.0f}"


def placed(page: str, name: str, text: str) -> str:
    """The page with this table in its place. Raises ValueError where it has none."""
    pattern = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"{PAGE.name} has no place for {name}: <!-- table {name} -->")
    return pattern.sub(lambda where: f"{where[1]}\n{text}\n\n{where[2]}", page)


if __name__ == "__main__":
    main()
