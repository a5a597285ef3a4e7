"""Star Schema Benchmark data: rates against references measured in the same run, in alternation.

``python -m benchmarks.ssb pipe [--tpchgen PATH] [--scale 3] [--rounds 6]``
    lineorder to a pipe, as text and as binary COPY, on one core and on all of them, against
    lineitem by ``tpchgen-cli`` (``cargo install tpchgen-cli --root DIR``).
``python -m benchmarks.ssb load [--server 18] [--scale 1] [--rounds 8] [--streams 1 2]``
    lineorder into a server, against COPY of the same rows from prepared files in the page cache,
    with the same number of streams.

Ratios have 95 % intervals over the rounds. Exit code 1 where text is not 6 times as fast as
tpchgen-cli on as many cores, or a load not 0.9 times as fast as the files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rounds import Ratio, Seconds, measured, tell
from benchmarks.servers import new_server, passable_folder
from benchmarks.ssb import loads, pipes
from teiten.datasets.ssb.rows.native import rows
from teiten.execute.postgres.installations import find_installations, resolve
from teiten.host.system.paths import Workdir, default_workdir
from teiten.model.ssb import SsbData, SsbFormat, SsbTable

CPUS = sorted(os.sched_getaffinity(0))


def main() -> int:
    arguments = _arguments()
    seconds, ratios = arguments.measure(arguments)
    tell(seconds, lineorders(arguments.scale))
    for ratio in ratios:
        print(ratio)
    return 0 if all(ratio.suffices for ratio in ratios) else 1


def of_pipes(arguments: argparse.Namespace) -> tuple[Seconds, Sequence[Ratio]]:
    if arguments.tpchgen is None:
        print("tpchgen-cli is not here: cargo install tpchgen-cli --root DIR, then --tpchgen PATH")
    makers = pipes.makers(arguments.scale, arguments.tpchgen, CPUS)
    seconds = measured(makers, arguments.rounds)
    return seconds, pipes.ratios(seconds, len(CPUS))


def of_loads(arguments: argparse.Namespace) -> tuple[Seconds, Sequence[Ratio]]:
    with passable_folder("teiten-ssb-", arguments.disk) as folder:
        prepared = arguments.files or folder / "files"
        parts = max(len(CPUS), *arguments.streams)
        files = loads.prepare(arguments.scale, parts, prepared)
        if arguments.rounds == 0:
            return {}, ()
        installation = resolve(arguments.server, find_installations(Workdir(arguments.workdir)))
        with new_server(installation, folder / "cluster") as cluster:
            dsn = cluster.conninfo("postgres")
            makers = loads.makers(dsn, arguments.scale, files, arguments.streams)
            seconds = measured(makers, arguments.rounds)
    return seconds, loads.ratios(seconds, arguments.streams)


def lineorders(scale: int) -> int:
    """Rows of lineorder; lineitem has as many, but for a few in a million."""
    data, table = SsbData(scale), SsbTable.LINEORDER
    stream = rows(data, table, SsbFormat.TBL, data.chunk.range_of(1_500_000 * scale))
    buffer = bytearray(1 << 20)
    while stream.fill(buffer):
        pass
    return stream.rows


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        prog="python -m benchmarks.ssb",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_subparsers(required=True)
    pipe = parts.add_parser("pipe")
    pipe.add_argument("--tpchgen", type=_program, help="tpchgen-cli, where it is not in PATH")
    pipe.set_defaults(tpchgen=_program("tpchgen-cli"), measure=of_pipes)
    load = parts.add_parser("load")
    load.add_argument("--server", default="18", help="as in a study")
    load.add_argument("--streams", type=int, nargs="+", default=sorted({1, len(CPUS)}))
    load.add_argument("--workdir", type=Path, default=default_workdir(), help="installations")
    load.add_argument("--disk", type=Path, help="folder on the disk to measure")
    load.add_argument(
        "--files", type=Path, help="keep the prepared files here, or take them; 0 rounds only makes"
    )
    load.set_defaults(measure=of_loads)
    for part, scale, rounds in ((pipe, 3, 6), (load, 1, 8)):
        part.add_argument("--scale", type=int, default=scale)
        part.add_argument("--rounds", type=int, default=rounds)
    return parser.parse_args()


def _program(name: str) -> Path | None:
    path = shutil.which(name)
    return Path(path) if path else None


if __name__ == "__main__":
    sys.exit(main())
