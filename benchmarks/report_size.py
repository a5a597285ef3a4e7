"""The report of a large campaign: seconds, peak memory and size, against 15 s and 1 GiB.

Run it from the root of a checkout: ``python -m benchmarks.report_size [--trials N] [--samples N]``.
It writes an invented ledger once, and makes its reports in processes of their own, so that the
memory of making the ledger does not count.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fixtures.synthetic import write_synthetic_ledger

MOST_SECONDS = 15.0
MOST_BYTES = 1024**3
EXCEEDED = 1


def make_report(folder: Path) -> dict[str, float]:
    """Analyse and render one HTML report, and say what it cost in this process."""
    started = time.perf_counter()
    # imported here: their time counts
    from teiten.cli.campaign.read import analyse_campaign  # noqa: PLC0415
    from teiten.ledger.store import Ledger  # noqa: PLC0415
    from teiten.report.forms import render_html  # noqa: PLC0415

    with Ledger.open(folder, read_only=True) as ledger:
        analysis = analyse_campaign(ledger)
    analysed = time.perf_counter()
    page = render_html(analysis, "en").encode()
    ended = time.perf_counter()
    (folder / "report.html").write_bytes(page)
    return {
        "analysis_seconds": analysed - started,
        "render_seconds": ended - analysed,
        "seconds": ended - started,
        "cpu_seconds": time.process_time(),
        "page_bytes": len(page),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def main() -> int:
    arguments = _arguments()
    if arguments.child:
        print(json.dumps(make_report(arguments.child)))
        return 0
    with tempfile.TemporaryDirectory(prefix="teiten-report-size-") as place:
        folder = arguments.keep or Path(place) / "campaign"
        if not folder.exists():
            write_synthetic_ledger(folder, trials=arguments.trials, samples=arguments.samples)
        command = [sys.executable, "-m", "benchmarks.report_size", "--child", str(folder)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    costs: dict[str, float] = json.loads(done.stdout)
    print(
        f"{arguments.trials} trials, {arguments.samples} samples:"
        f" {costs['seconds']:.1f} s of {MOST_SECONDS:.0f} s"
        f" (analysis {costs['analysis_seconds']:.1f} s, page {costs['render_seconds']:.1f} s),"
        f" {costs['cpu_seconds']:.1f} s of CPU,"
        f" {costs['peak_bytes'] / 2**20:.0f} MiB of {MOST_BYTES / 2**20:.0f} MiB,"
        f" page {costs['page_bytes'] / 2**20:.1f} MiB"
    )
    within = costs["seconds"] < MOST_SECONDS and costs["peak_bytes"] < MOST_BYTES
    return 0 if within else EXCEEDED


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=5_000)
    parser.add_argument("--samples", type=int, default=5_000_000)
    parser.add_argument("--keep", type=Path, help="Make the ledger here, or use the one there.")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
