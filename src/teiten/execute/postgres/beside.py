"""Programs of a server's own installation that run beside it: as its user, with it as the server
that libpq goes to by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from teiten.connections import own_environment
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.host.system.held_folder import HeldFolder
from teiten.model.installation import SUPERUSER

SCRATCH = "programs"


@dataclass(frozen=True)
class ServerSurroundings:
    """The server beside which a program runs, as the program sees it; paths are of its host."""

    socket: Path
    port: int
    data: Path
    scratch: Path
    """A folder for what programs write; it goes with the cluster."""

    @property
    def environment(self) -> dict[str, str]:
        """For libpq, and for programs that look into their home."""
        return own_environment() | {
            "PGHOST": str(self.socket),
            "PGPORT": str(self.port),
            "PGUSER": SUPERUSER,
            "PGDATABASE": BENCH_DATABASE,
            "HOME": str(self.scratch),
        }

    @property
    def places(self) -> Mapping[str, str]:
        """Values for ``{name}`` in a program's arguments."""
        return {
            "folder": str(self.scratch),
            "data": str(self.data),
            "socket": str(self.socket),
            "port": str(self.port),
            "user": SUPERUSER,
            "database": BENCH_DATABASE,
        }

    @classmethod
    def of(cls, cluster: Cluster) -> ServerSurroundings:
        """Describe a started server."""
        data = cluster.data_directory
        with (
            HeldFolder.open(data.parent) as home,
            contextlib.suppress(FileExistsError),
            home.make(SCRATCH) as folder,
        ):
            folder.give(cluster.user)
        return cls(cluster.socket_directory, cluster.port, data, data.parent / SCRATCH)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values at their places ``{name}``; other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
