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
    sudo python -m benchmarks.robustness paths
    sudo python -m benchmarks.robustness strangers --count 12
    python -m benchmarks.robustness totals --record FILE

The first four read odd inputs in this process; reports reads what Teiten says of drawn campaigns,
and planted changes one number in each.
The others start small campaigns of a server that is installed (``--server``, default: the newest).
kills --of nodes, site, pdf: what else may be broken off; storage and nodes are emulated, by root.
disks needs root, for a small file system in memory, and paths too, which traces a campaign of every
kind and way, on this machine, on attached servers and on hosts, for what root reaches by paths
through folders of others.
With ``--record FILE`` each run is noted in a file, and --count is that of all of its runs together:
the same command goes on where an earlier one ended or was cut short (Ctrl-C, SIGTERM).
Printed: the counts and each finding, with the number and the seed that repeat it. Exit code 1 where
there is a finding.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from tests.fixtures.heeding import let_programs_heed_signals

from benchmarks.robustness import record
from benchmarks.robustness.addresses import spell_addresses
from benchmarks.robustness.campaigns import CAMPAIGNS
from benchmarks.robustness.disks import fill_disks
from benchmarks.robustness.kills import kill_campaigns
from benchmarks.robustness.ledgers import spoil_ledgers
from benchmarks.robustness.lines import spoil_lines
from benchmarks.robustness.paths import trace_campaigns
from benchmarks.robustness.planted import plant_numbers
from benchmarks.robustness.products import PRODUCTS, kill_products
from benchmarks.robustness.record import Result
from benchmarks.robustness.reports import read_reports
from benchmarks.robustness.signals import interrupt_campaigns
from benchmarks.robustness.strangers import attack_campaigns
from benchmarks.robustness.studies import spoil_studies

IN_PROCESS: dict[str, Callable[[int, int], Result]] = {
    "reports": read_reports,
    "planted": plant_numbers,
    "studies": spoil_studies,
    "lines": spoil_lines,
    "addresses": spell_addresses,
    "ledgers": spoil_ledgers,
}
WITH_SERVERS: dict[str, Callable[[int, int, str | None], Result]] = {
    "disks": fill_disks,
    "signals": interrupt_campaigns,
    "paths": trace_campaigns,
    "strangers": attack_campaigns,
}


TOTALS = "totals"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=sorted({*IN_PROCESS, *WITH_SERVERS, "kills", TOTALS}))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--of", choices=(*CAMPAIGNS, *PRODUCTS), help="what is killed")
    parser.add_argument("--server", help="an installation of teiten pg list")
    parser.add_argument("--record", type=Path, help="a file for what runs came to")
    given = parser.parse_args()
    if given.of is not None and given.what != "kills":
        parser.error("--of is of kills")
    if given.what == "kills":
        given.of = given.of or "study"
    if given.what == TOTALS:
        if given.record is None:
            parser.error("totals are of a --record")
        print(*record.totals(given.record), sep="\n")
        return
    name = " of ".join(filter(None, (given.what, given.of)))
    before = record.counted(given.record, name) if given.record else 0
    if before >= given.count:
        print(f"{name}: the record has {before} of {given.count}")
        return
    let_programs_heed_signals()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    seed = given.seed + before
    result = _run(given, given.count - before, seed)
    if given.record:
        record.add(given.record, name, seed, result)
    for line in result.lines():
        print(line)
    sys.exit(1 if result.findings else 0)


def _run(given: argparse.Namespace, count: int, seed: int) -> Result:
    if given.what in IN_PROCESS:
        return IN_PROCESS[given.what](count, seed)
    if given.of is not None:
        kill = kill_products if given.of in PRODUCTS else kill_campaigns
        return kill(count, seed, given.server, given.of)
    return WITH_SERVERS[given.what](count, seed, given.server)


if __name__ == "__main__":
    main()
