"""Programs that are sent to a host once, and kept there.

Belongings that Teiten keeps on this host between campaigns, and giving them back.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path
from typing import IO, Any

from teiten.errors import MachineError, ServerError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.binaries import BrokenBinaryError, ask_version, hash_file
from teiten.execute.postgres.inspection import ExchangeableError, refuse_exchangeable
from teiten.execute.postgres.marker import (
    Kind,
    folder_bytes,
    mark,
    new_folder,
    read_marker,
    remove_marked,
)
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.host.system.held_folder import sync_file_system_of
from teiten.model.quantities import format_size

RESERVE = 64 << 20
"""Bytes left free on the disk."""


class Packages:
    """Packages in ``installations`` of the working folder, each in a marked folder."""

    def __init__(self, room: AgentFolder) -> None:
        self._room = room
        self._partial: Path | None = None
        self._archive: IO[bytes] | None = None

    def find(self, name: str) -> str | None:
        """The folder of a package that was sent whole."""
        folder = self._folder(name)
        marker = read_marker(folder)
        return str(folder) if marker is not None and marker.what == Kind.PACKAGE else None

    def begin(self, name: str, bytes_needed: int) -> None:
        """Raises MachineError where the disk does not suffice."""
        self.end()
        installations = self._room.workdir.installations
        installations.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(installations).free
        if free < bytes_needed + RESERVE:
            raise MachineError(
                f"the disk of {installations} has {format_size(free)} free; the programs that are"
                f" copied there need {format_size(bytes_needed + RESERVE)}",
                "give disk back there, or name a folder on another disk (hosts.db_workdir,"
                " hosts.client_workdir)",
            )
        # among the builds, where the sweep finds it if we are killed
        self._partial = self._room.workdir.builds / f"sending-{name}-{os.getpid()}"
        new_folder(self._partial, Kind.BUILD, name)
        self._archive = (self._partial / "package.tar").open("w+b")

    def add(self, payload: bytes) -> None:
        self._open.write(payload)

    def finish(self, name: str) -> str:
        """Unpack what was sent; the package's folder."""
        archive, partial = self._open, self._partial
        if partial is None:
            raise RuntimeError("nothing was begun")
        archive.seek(0)
        with tarfile.open(fileobj=archive) as members:
            # ours, made a moment ago; and not every Python 3.9 knows filters
            members.extractall(partial)  # noqa: S202
        archive.close()
        self._archive = None
        (partial / "package.tar").unlink()
        final = self._folder(name)
        if final.exists():
            remove_marked(final)
        mark(partial, Kind.PACKAGE, name)
        sync_file_system_of(partial)  # else a power cut may leave empty files under its name
        partial.rename(final)
        self._partial = None
        return str(final)

    def try_program(self, program: str, library_path: str | None, hashed: bool) -> dict[str, Any]:
        """Find what a program says of its version, and its hash. Raises ServerError where it cannot
        run, MachineError where the servers' user cannot reach it."""
        path = Path(program)
        require_access(path.parent, self._room.user)
        try:
            version = ask_version(path, Path(library_path) if library_path else None)
        except BrokenBinaryError as error:
            raise ServerError(
                f"it does not run there: {error}",
                "its libraries are missing, or are too old for it, or it is no program of Linux;"
                " name a folder with PostgreSQL on the db host instead:"
                " --servers NAME=db:/usr/lib/postgresql/17/bin",
            ) from error
        return {"version": version, "fingerprint": hash_file(path) if hashed else ""}

    def server_in(self, folder: str) -> dict[str, Any]:
        """The programs in a folder of the host, or its ``bin``. Raises MachineError."""
        for place in (Path(folder), Path(folder) / "bin"):
            programs = {
                name: str((place / name).resolve())
                for name in ("postgres", "initdb", "pgbench")
                if os.access(place / name, os.X_OK)
            }
            if {"postgres", "initdb"} <= programs.keys():
                try:
                    refuse_exchangeable(Path(programs["postgres"]))
                except ExchangeableError as error:
                    raise MachineError(f"on the db host {error}", error.hint) from error
                return {"folder": str(place.resolve()), **programs}
        raise MachineError(
            f"there is no PostgreSQL server in {folder} on the db host",
            "name the folder of postgres and initdb, for example db:/usr/lib/postgresql/17/bin",
        )

    @property
    def _open(self) -> IO[bytes]:
        if self._archive is None:
            raise RuntimeError("nothing was begun")
        return self._archive

    def end(self) -> None:
        """Delete what was not sent whole."""
        if self._archive is not None:
            self._archive.close()
            self._archive = None
        if self._partial is not None:
            remove_marked(self._partial)
            self._partial = None

    def _folder(self, name: str) -> Path:
        return self._room.workdir.installations / f"sent-{name}"


TEMPLATE, PACKAGE = "template", "package"


class Belongings:
    """Templates, and programs that were sent here."""

    def __init__(self, room: AgentFolder) -> None:
        self._room = room

    def listed(self) -> list[dict[str, Any]]:
        """Kind, name, folder, bytes, and when it was last used (seconds since the epoch)."""
        store = TemplateStore(self._room.workdir, self._room.user)
        entries = [
            _entry(TEMPLATE, use.description, use.path, use.bytes, use.last_used)
            for use in store.usage()
        ]
        installations = self._room.workdir.installations
        for folder in sorted(installations.iterdir()) if installations.is_dir() else ():
            marker = read_marker(folder)
            if marker is not None and marker.what == Kind.PACKAGE:
                size = folder_bytes(folder)
                entries.append(_entry(PACKAGE, marker.about, folder, size, marker.created))
        return entries

    def remove(self, kind: str, folder: str) -> bool:
        """Delete one; False where it is in use."""
        if kind == TEMPLATE:
            store = TemplateStore(self._room.workdir, self._room.user)
            return store.remove(Path(folder).name)
        remove_marked(Path(folder))
        return True


def _entry(kind: str, name: str, folder: Path, size: int, used: float) -> dict[str, Any]:
    return {"kind": kind, "name": name, "path": str(folder), "bytes": size, "last_used": used}
