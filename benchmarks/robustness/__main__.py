"""Breaking Teiten on purpose, and counting what does not hold.

    python -m benchmarks.robustness studies --count 10000
    python -m benchmarks.robustness lines --count 10000
    python -m benchmarks.robustness addresses --count 10000
    python -m benchmarks.robustness ledgers --count 500
    python -m benchmarks.robustness reports --count 1000
    python -m benchmarks.robustness planted --count 1000
    python -m benchmarks.robustness signals --count 40
    python -m benchmarks.robustness kills --count 200
    python -m benchmarks.robustness kills --of ab --count 60
    sudo python -m benchmarks.robustness kills --of storage --count 20
    sudo python -m benchmarks.robustness disks --count 100
    sudo python -m benchmarks.robustness paths --count 18
    sudo python -m benchmarks.robustness strangers --count 12

The first four read odd inputs in this process; reports reads what Teiten says of drawn campaigns,
and planted changes one number in each.
The others start small campaigns of a server that is installed (``--server``, default: the newest).
kills --of nodes, site, pdf: what else may be broken off; storage and nodes are emulated, by root.
disks needs root, for a small file system in memory, and paths too, which traces a campaign of every
kind and way for what root reaches by paths through folders of others.
Printed: the counts and each finding, with the number and the seed that repeat it. Exit code 1 where
there is a finding.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from tests.fixtures.heeding import let_programs_heed_signals

from benchmarks.robustness.addresses import spell_addresses
from benchmarks.robustness.campaigns import CAMPAIGNS
from benchmarks.robustness.disks import fill_disks
from benchmarks.robustness.kills import Breaks, kill_campaigns
from benchmarks.robustness.ledgers import spoil_ledgers
from benchmarks.robustness.lines import spoil_lines
from benchmarks.robustness.outcome import Tally
from benchmarks.robustness.paths import Traced, trace_campaigns
from benchmarks.robustness.planted import Plantings, plant_numbers
from benchmarks.robustness.products import PRODUCTS, kill_products
from benchmarks.robustness.reports import Readings, read_reports
from benchmarks.robustness.signals import interrupt_campaigns
from benchmarks.robustness.strangers import attack_campaigns
from benchmarks.robustness.studies import spoil_studies

IN_PROCESS: dict[str, Callable[[int, int], Tally | Readings | Plantings]] = {
    "reports": read_reports,
    "planted": plant_numbers,
    "studies": spoil_studies,
    "lines": spoil_lines,
    "addresses": spell_addresses,
    "ledgers": spoil_ledgers,
}
WITH_SERVERS: dict[str, Callable[[int, int, str | None], Breaks | Traced]] = {
    "kills": kill_campaigns,
    "disks": fill_disks,
    "signals": interrupt_campaigns,
    "paths": trace_campaigns,
    "strangers": attack_campaigns,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=sorted({*IN_PROCESS, *WITH_SERVERS}))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", choices=(*CAMPAIGNS, *PRODUCTS), help="what is killed")
    parser.add_argument("--server", help="an installation of teiten pg list")
    given = parser.parse_args()
    if given.of is not None and given.what != "kills":
        parser.error("--of is of kills")
    let_programs_heed_signals()
    result: Tally | Readings | Plantings | Breaks | Traced
    if given.what in IN_PROCESS:
        result = IN_PROCESS[given.what](given.count, given.seed)
    elif given.of is not None:
        kill = kill_products if given.of in PRODUCTS else kill_campaigns
        result = kill(given.count, given.seed, given.server, given.of)
    else:
        result = WITH_SERVERS[given.what](given.count, given.seed, given.server)
    for line in result.lines():
        print(line)
    sys.exit(1 if result.found else 0)


if __name__ == "__main__":
    main()
