"""Whether an installation works: a throw-away cluster that is made, started, asked and stopped."""

from __future__ import annotations

import contextlib
import os

import psycopg

from teiten.errors import ServerError, TeitenError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.marker import remove_marked
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.model.installation import Installation

PREWARM = "pg_prewarm"


def check_server(installation: Installation, workdir: Workdir, user: ServerUser) -> str:
    """Run a throw-away cluster as the servers' user; what ``SELECT version()`` says.

    Where it has pg_prewarm, which trials use, it must also load that. Raises ServerError where
    it does not work, MachineError where the servers' user cannot reach a folder.
    """
    require_access(installation.bin_directory, user)
    folder = workdir.clusters / f"check-{os.getpid()}"
    log = folder / "server.log"
    try:
        cluster = Cluster.create(installation, folder / "data", user=user, checksums=True, log=log)
        cluster.start()
        try:
            return _ask(cluster, contrib=PREWARM in installation.contrib)
        finally:
            cluster.stop()
    except (ServerError, psycopg.Error) as error:
        raise ServerError(  # the log goes with the cluster: no hint to read it
            f"PostgreSQL {installation.version} does not work here: {error}".rstrip(),
            "try another source with --client, or another minor version",
        ) from error
    finally:
        with contextlib.suppress(OSError, TeitenError):
            remove_marked(folder)


def _ask(cluster: Cluster, *, contrib: bool) -> str:
    with cluster.connect() as connection:
        if contrib:
            connection.execute("CREATE EXTENSION pg_prewarm")
            connection.execute("SELECT pg_prewarm('pg_class')")
        row = connection.execute("SELECT version()").fetchone()
    return str(row[0]) if row else ""
