"""Programs of a server's own installation that run beside it: as its user, with it as the server
that libpq goes to by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.connections import own_environment
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.host.system.held_folder import HeldFolder
from teiten.model.installation import SUPERUSER, initdb_options
from teiten.model.plan import TemplateSpec

SCRATCH = "programs"
INITDB = "{initdb}"


@dataclass(frozen=True)
class ServerSurroundings:
    """The server beside which a program runs, as the program sees it; paths are of its host."""

    socket: Path
    port: int
    data: Path
    scratch: Path
    """A folder for what programs write, their home; it goes with the cluster."""

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


@contextlib.contextmanager
def at_home(environment: Mapping[str, str]) -> Iterator[Path]:
    """The working folder of a program that runs as the server's user, held: pg_upgrade wants to
    write there, and Python enters it as root, before it becomes that user."""
    with HeldFolder.open(Path(environment.get("HOME", "/"))) as home:
        yield home.as_working_folder


def with_installation(arguments: Sequence[str], template: TemplateSpec) -> Iterator[str]:
    """A program's arguments with what the server's installation gives: its folder of programs at
    the place ``{programs}``, and for the argument ``{initdb}`` the options with which its cluster
    was made."""
    installation = template.installation
    places = {"programs": str(installation.bin_directory)}
    for argument in arguments:
        if argument == INITDB:
            yield from initdb_options(installation.version, checksums=template.checksums)
        else:
            yield filled(argument, places)


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with the values at their places ``{name}``; other braces stay."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
