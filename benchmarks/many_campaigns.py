"""How long ``teiten site`` takes over many campaigns that have their reports: the first time, again
with nothing changed, and with one campaign more.

    python -m benchmarks.many_campaigns --campaigns 1000 --in DIRECTORY

The campaigns are invented (two workloads on two servers, five blocks at two numbers of clients);
their reports are files of the size of real ones.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from tests.fixtures.synthetic import START
from tests.fixtures.synthetic_plan import HOST
from tests.fixtures.two_machines import DAY, OTHER, times, write_campaign

from benchmarks.running import teiten

REPORT = b"<!doctype html><header></header>\n<main>" + b"x" * 1_500_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=1000)
    parser.add_argument("--in", dest="place", type=Path, default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.place) as folder:
        root = Path(folder)
        shared = root / "report.html"
        shared.write_bytes(REPORT)
        for number in range(given.campaigns):
            write(root / "campaigns", number, shared)
        for what in ("first", "again", "one more"):
            if what == "one more":
                write(root / "campaigns", given.campaigns, shared)
            wall, cpu = site(root)
            print(f"{what}: {wall:.1f} s, {cpu:.1f} s of CPU, {given.campaigns} campaigns")


def write(campaigns: Path, number: int, shared: Path) -> None:
    campaigns.mkdir(exist_ok=True)
    folder = write_campaign(
        campaigns / f"night-{number}",
        seed=number + 1,
        speed=times(0.9 if number % 200 > 100 else 1.0),
        created_at=START + number * DAY,
        facts=OTHER if number % 2 else HOST,
    )
    (folder / "report").mkdir()
    for language in ("en", "ja"):
        os.link(shared, folder / "report" / f"report.{language}.html")


def site(root: Path) -> tuple[float, float]:
    """Seconds of wall clock, and of CPU, which a busy machine leaves nearly as they are."""
    begin, before = time.perf_counter(), os.times()
    teiten(root / "work", "site", str(root / "campaigns"), "--to", str(root / "out"))
    after = os.times()
    used = after.children_user + after.children_system
    return time.perf_counter() - begin, used - before.children_user - before.children_system


if __name__ == "__main__":
    main()
