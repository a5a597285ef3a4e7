"""Servers of a benchmark's own, pgbench on them, and what they use."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from teiten.execute.client.address import Address
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.host.system.users import server_user
from teiten.kinds.pgbench.load.command import PgbenchRun
from teiten.model.installation import Installation, Pgbench
from teiten.model.study import QueryMode, Setting

LOCAL = "[local]"
"""In the title of a session's process."""
REAP_SECONDS = 5.0
"""How long ended backends may take to leave the postmaster."""


@contextmanager
def passable_folder(prefix: str, place: Path | None = None) -> Iterator[Path]:
    """A folder that goes with the ``with``; the servers' user may pass through it."""
    with tempfile.TemporaryDirectory(prefix=prefix, dir=place) as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@contextmanager
def new_server(
    installation: Installation,
    folder: Path,
    settings: Sequence[Setting] = (),
    *,
    checksums: bool = False,
) -> Iterator[Cluster]:
    """A running server with a cluster of its own in a folder; nothing is left of it."""
    cluster = Cluster.create(
        installation,
        folder / "data",
        user=server_user(),
        checksums=checksums,
        log=folder / "server.log",
    )
    try:
        cluster.configure(settings)
        cluster.start()
        yield cluster
    finally:
        cluster.remove()


def newest(installations: Iterable[Installation]) -> Installation:
    """The first of those found, the newest first, that has a server."""
    return next(installed for installed in installations if installed.postgres is not None)


def pgbench_run(
    cluster: Cluster,
    pgbench: Pgbench,
    clients: int,
    *,
    environment: Mapping[str, str] | None = None,
    **options: Any,
) -> PgbenchRun:
    """A run in the database ``bench`` of a server: with prepared statements, a thread for two
    clients and no log, unless ``options`` (fields of the run) say otherwise."""
    address = Address.by_socket(
        cluster.socket_directory,
        cluster.port,
        cluster.user_name,
        BENCH_DATABASE,
        {**(environment or {}), **cluster.client_environment},
    )
    usual: dict[str, Any] = {
        "threads": max(1, clients // 2),
        "query_mode": QueryMode.PREPARED,
        "options": (),
        "log_sampling_rate": None,
    }
    return PgbenchRun(pgbench=pgbench, address=address, clients=clients, **{**usual, **options})


def cpu_seconds(cluster: Cluster) -> float:
    """CPU time of the backends that have ended; waits until the postmaster has reaped all of them.

    Raises RuntimeError where a session stays.
    """
    assert cluster.pid is not None
    postmaster = psutil.Process(cluster.pid)
    deadline = time.monotonic() + REAP_SECONDS
    while any(map(_is_backend, postmaster.children())):
        if time.monotonic() > deadline:
            raise RuntimeError("a session of the benchmark has not ended")
        time.sleep(0.01)
    times = postmaster.cpu_times()
    return float(times.children_user + times.children_system)


def _is_backend(process: psutil.Process) -> bool:
    """A session's process, or one that has ended and is not reaped yet."""
    try:
        title = " ".join(process.cmdline())
        return not title or LOCAL in title
    except psutil.ZombieProcess:
        return True
    except psutil.NoSuchProcess:
        return False
