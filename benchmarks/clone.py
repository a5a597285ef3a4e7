"""Cloning a template against ``pgbench -i`` of the same scale, in one run, in alternation.

``python -m benchmarks.clone [--scale 50] [--repeats 3] [--server 18] [--workdir DIR]``. Both end
with all of their data on the disk. ``pgbench -i`` runs on a started server with the defaults of
initdb, as one would do it by hand. Exit code 1 where the clone is not four times faster.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from functools import partial
from pathlib import Path

from benchmarks.rounds import measured, ratio, tell
from benchmarks.servers import new_server, passable_folder
from teiten.datasets.pgbench.fill import fill
from teiten.datasets.pgbench.model import pgbench_data
from teiten.datasets.plan import template_bytes
from teiten.execute.postgres.cluster import BENCH_DATABASE
from teiten.execute.postgres.installations import choose_pgbench, find_installations, resolve
from teiten.execute.postgres.templates.build import tables_here
from teiten.execute.postgres.templates.identity import template_fingerprint
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.host.system.held_folder import sync_file_system_of
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Pgbench
from teiten.model.plan import TemplateSpec

LEAST_RATIO = 4.0
CLONE, INIT = "clone", "pgbench -i"
ACCOUNTS = 100_000
"""Rows of pgbench_accounts at scale 1."""


def seconds_of_clone(store: TemplateStore, spec: TemplateSpec, folder: Path) -> float:
    """Copy the template, and wait until it is on the disk."""
    begin = time.perf_counter()
    store.clone(spec, folder)
    elapsed = time.perf_counter() - begin
    shutil.rmtree(folder)
    return elapsed


def seconds_of_pgbench(spec: TemplateSpec, pgbench: Pgbench, folder: Path) -> float:
    """``pgbench -i`` with its VACUUM, into a started server; initdb and start are not counted."""
    with new_server(spec.installation, folder, checksums=spec.checksums) as cluster:
        with cluster.connect() as connection:
            connection.execute(f"CREATE DATABASE {BENCH_DATABASE}")
        sync_file_system_of(folder)
        begin = time.perf_counter()
        fill(tables_here(cluster, pgbench), spec.data, print)
        with cluster.connect(BENCH_DATABASE) as connection:
            connection.execute("VACUUM (ANALYZE)")
            connection.execute("CHECKPOINT")
        sync_file_system_of(folder)
        return time.perf_counter() - begin


def main() -> int:
    arguments = _arguments()
    installations = find_installations(Workdir(arguments.workdir))
    installation = resolve(arguments.server, installations)
    pgbench = choose_pgbench(installations)
    data = pgbench_data(arguments.scale)
    spec = TemplateSpec(
        installation,
        True,
        data,
        template_fingerprint(installation, True, data),
        template_bytes(data),
    )
    with passable_folder("teiten-clone-", arguments.disk) as folder:
        workdir = Workdir(folder)
        workdir.prepare()
        store = TemplateStore(workdir, server_user())
        store.build(spec, pgbench, print)
        makers = {
            CLONE: partial(seconds_of_clone, store, spec, workdir.clusters / "clone"),
            INIT: partial(seconds_of_pgbench, spec, pgbench, workdir.clusters / "init"),
        }
        seconds = measured(makers, arguments.repeats)
    tell(seconds, ACCOUNTS * arguments.scale)
    compared = ratio("clone against pgbench -i", seconds[INIT], seconds[CLONE], LEAST_RATIO)
    print(compared)
    return 0 if compared.suffices else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m benchmarks.clone")
    parser.add_argument("--scale", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--server", default="18", help="as in a study")
    parser.add_argument("--workdir", type=Path, default=default_workdir(), help="installations")
    parser.add_argument("--disk", type=Path, help="folder on the disk to measure")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
