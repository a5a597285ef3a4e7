"""The programs of an installation on a host: those that are there, or ours, copied once."""

from __future__ import annotations

import io
import re
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.binaries import hash_file
from teiten.execute.postgres.inspection import RECEIPT_NAME
from teiten.execute.sites.remote.hosts import Host, HostPair, require_same_kind
from teiten.model.installation import Installation, Pgbench, Source, Version

PREFIX = "db:"
"""Before a folder of the db host, in the place of a server's name."""
CHUNK = 1 << 20
TOLD_EVERY = 32 << 20
"""Bytes between two words about the copying."""
Say = Callable[[str], None]


def inspect_there(host: Host, reference: str) -> Installation:
    """The installation in a folder of the db host. Raises MachineError, UsageError."""
    folder = reference.removeprefix(PREFIX).strip()
    if not folder.startswith("/"):
        raise UsageError(
            f"{reference}: not an absolute folder of the db host",
            "for example db:/usr/lib/postgresql/17/bin",
        )
    programs = host.call("packages.server_in", folder=folder)
    facts = _tried(host, programs["postgres"], None, hashed=True)
    return Installation(
        name=reference,
        version=Version.parse(facts["version"]),
        source=Source.NAMED,
        bin_directory=Path(programs["folder"]),
        fingerprint=facts["fingerprint"],
        postgres=Path(programs["postgres"]),
        initdb=Path(programs["initdb"]),
        pgbench=Path(programs["pgbench"]) if "pgbench" in programs else None,
        on_db_host=True,
    )


def inspect_on_each(hosts: HostPair, reference: str) -> Installation | None:
    """The installation in a folder that all db hosts have; None where a reference to a server means
    no such folder. Raises as ``inspect_there``, and UsageError where they have different versions
    there."""
    if not reference.startswith(PREFIX):
        return None
    by_host = {host.shown: inspect_there(host, reference) for host in hosts.servers}
    if len({server.version for server in by_host.values()}) > 1:
        listed = ", ".join(
            f"{name}: {installation.version}" for name, installation in by_host.items()
        )
        raise UsageError(
            f"{reference}: the db hosts have different versions of PostgreSQL there ({listed})",
            "one database wants one version on all of its nodes: name a folder that has the same on"
            " each, or a version that Teiten copies there (--servers 18)",
        )
    return by_host[hosts.db.shown]


def check_copyable(installation: Installation) -> None:
    """Raise UsageError for one that has parts elsewhere on this machine."""
    if not installation.managed and not installation.on_db_host:
        raise UsageError(
            f"the installation {installation.name} belongs to this machine, and cannot be copied to"
            " the db host",
            f"teiten pg install {installation.version.major} gives one that can, or name a folder"
            " there: --servers NAME=db:/usr/lib/postgresql/17/bin",
        )


class Programs:
    """Where programs are on a host; what is not there yet is copied."""

    def __init__(self, host: Host, say: Say) -> None:
        self._host = host
        self._say = say
        self._servers: dict[str, Installation] = {}
        self._pgbench: Pgbench | None = None

    def server(self, installation: Installation) -> Installation:
        """The installation with its paths on the host. Raises MachineError."""
        if installation.on_db_host:
            return installation
        if installation.name not in self._servers:
            self._servers[installation.name] = self._sent_server(installation)
        return self._servers[installation.name]

    def pgbench(self, wanted: Pgbench) -> Pgbench:
        """The campaign's pgbench on the host, the same version. Raises MachineError."""
        if self._pgbench is None:
            self._pgbench = self._found_pgbench(wanted)
        return self._pgbench

    def _found_pgbench(self, wanted: Pgbench) -> Pgbench:
        if self._host.is_here:
            return wanted
        path = self._host.call("machine.program", name="pgbench")
        if path is not None:
            version = _try_quietly(self._host, path)
            if version is not None and Version.parse(version) == wanted.version:
                return replace(wanted, path=Path(path), library_path=None)
        require_same_kind(self._host)
        root = _root(wanted.path)
        if root is None:
            raise MachineError(
                f"pgbench {wanted.version} ({wanted.path}) belongs to this machine, and"
                f" {self._host.shown} has no such one",
                "teiten pg install pgbench gives one that can be copied; or install that version"
                " there, in the PATH of the user",
            )
        words = f"pgbench {wanted.version}"
        folder = self._sent(root, f"pgbench-{hash_file(wanted.path)[:12]}", words)
        moved = replace(
            wanted,
            path=folder / wanted.path.relative_to(root),
            library_path=_moved(wanted.library_path, root, folder),
        )
        _tried(self._host, moved.path, moved.library_path, hashed=False)
        return moved

    def _sent_server(self, installation: Installation) -> Installation:
        if self._host.is_here:
            return installation
        require_same_kind(self._host)
        root = _root(installation.bin_directory) or installation.bin_directory.parent
        words = f"PostgreSQL {installation.version} ({installation.name})"
        folder = self._sent(root, f"{installation.name}-{installation.fingerprint[:12]}", words)
        libraries = _moved(installation.library_path, root, folder)
        server = _moved(installation.postgres, root, folder) or folder
        facts = _tried(self._host, server, libraries, hashed=True)
        if facts["fingerprint"] != installation.fingerprint:
            raise MachineError(
                f"{words} on {self._host.shown} is not what was sent there: {server}",
                f"delete {folder} there, and run again",
            )
        return replace(
            installation,
            bin_directory=folder / installation.bin_directory.relative_to(root),
            postgres=server,
            initdb=_moved(installation.initdb, root, folder),
            library_path=libraries,
        )

    def _sent(self, root: Path, name: str, words: str) -> Path:
        """Copy a folder to the host, unless it is there."""
        key = re.sub(r"[^\w.-]", "-", name)
        folder = self._host.call("packages.find", name=key)
        if folder is None:
            self._say(f"copying {words} to {self._host.shown}")
            folder = self._copy(root, key, words)
        return Path(folder)

    def _copy(self, root: Path, key: str, words: str) -> str:
        size = sum(path.lstat().st_size for path in root.rglob("*"))
        # twice: the archive, and what is unpacked of it
        self._host.call("packages.begin", name=key, bytes_needed=2 * size)
        with tempfile.TemporaryFile() as archive:
            _pack(root, archive)
            total = archive.seek(0, io.SEEK_END)
            archive.seek(0)
            sent = reported = 0
            while chunk := archive.read(CHUNK):
                self._host.call("packages.add", chunk)
                sent += len(chunk)
                if sent - reported >= TOLD_EVERY:
                    reported = sent
                    self._say(f"{words}: {sent >> 20} of {total >> 20} MiB copied")
        return str(self._host.call("packages.finish", name=key))


def _pack(root: Path, archive: IO[bytes]) -> None:
    """Links stay links; owners and rights are those of a plain installation."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if not (member.isreg() or member.isdir() or member.issym() or member.islnk()):
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mode |= 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as members:
        for entry in sorted(root.iterdir()):
            if entry.name == RECEIPT_NAME:  # there it is not an installation to choose from
                continue
            members.add(entry, arcname=entry.name, filter=plain)


def _moved(path: Path | None, root: Path, folder: Path) -> Path | None:
    return None if path is None else folder / path.relative_to(root)


def _root(path: Path) -> Path | None:
    """The folder of an installation that Teiten made, and that has all of its parts."""
    return next((parent for parent in path.parents if (parent / RECEIPT_NAME).is_file()), None)


def _tried(
    host: Host, program: str | Path, libraries: Path | None, *, hashed: bool
) -> dict[str, Any]:
    answer: dict[str, Any] = host.call(
        "packages.try_program",
        program=str(program),
        library_path=str(libraries) if libraries else None,
        hashed=hashed,
    )
    return answer


def _try_quietly(host: Host, program: str) -> str | None:
    try:
        return str(_tried(host, program, None, hashed=False)["version"])
    except MachineError:
        if host.lost:
            raise
        return None
