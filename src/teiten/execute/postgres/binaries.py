"""The binaries of an installation: where they are, what they say of themselves, their hash.

What they say is kept in the working folder by path, size and time of change, so that listing
installations does not hash 10 MB and start a program for each of them every time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from teiten.execute.postgres.access import blocking_folder
from teiten.host.system.environment import LIBRARIES, last_words, run_briefly
from teiten.host.system.processes import ending
from teiten.host.system.users import is_root, server_user

PATIENCE = 20.0
"""Seconds; a program that does not tell of itself in that time is broken."""


class BrokenBinaryError(Exception):
    """A program that cannot be run; the text says why."""


@dataclass(frozen=True)
class BinaryFacts:
    """The answer to ``--version``, and the SHA-256 of the file."""

    version_text: str
    fingerprint: str


def find_binary(folder: Path, name: str) -> Path | None:
    """The real file of a program in a folder; None where it is not there or is a wrapper.

    Debian's /usr/bin/pgbench is a link to pg_wrapper, which chooses a cluster: not what we want.
    """
    file_name = f"{name}.exe" if sys.platform == "win32" else name
    path = folder / file_name
    if not (os.access(path, os.X_OK) and path.is_file()):  # access first: a folder may be closed
        return None
    real = path.resolve()
    return real if real.name.lower() == file_name else None


def ask(
    program: Path, *words: str, library_path: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a program of PostgreSQL for what it says of itself or of its options.

    As root it runs as the servers' user, who may have built it: every such question is put here.
    Raises OSError where he cannot run it, or it takes too long.
    """
    user = server_user() if is_root() else None
    if user is not None and (blocking := blocking_folder(program.parent, user)) is not None:
        raise PermissionError(f"the servers' user {user.name} cannot enter {blocking}")
    return run_briefly(
        [program.absolute(), *words], library_path=library_path, timeout=PATIENCE, user=user
    )


def ask_version(program: Path, library_path: Path | None = None) -> str:
    """The first line of ``--version``. Raises BrokenBinaryError where it cannot be had."""
    try:
        done = ask(program, "--version", library_path=library_path)
    except OSError as error:
        raise BrokenBinaryError(f"{program} --version: {error}") from error
    text = done.stdout.decode(errors="replace").strip()
    if done.returncode != 0 or "PostgreSQL" not in text:
        last = last_words(done) or text.rpartition("\n")[2] or f"it {ending(done.returncode)}"
        where = f"; {LIBRARIES} is not passed on" if "shared librar" in last else ""
        raise BrokenBinaryError(f"{program} --version: {last}{where}")
    return text.splitlines()[0]


def hash_file(path: Path, algorithm: str = "sha256") -> str:
    """The hexadecimal hash of a file."""
    with path.open("rb") as stream:
        return hash_open(stream, algorithm)


def hash_open(stream: IO[bytes], algorithm: str = "sha256") -> str:
    """The hexadecimal hash of an open file, from where it stands."""
    digest = hashlib.new(algorithm)
    while chunk := stream.read(1 << 20):  # file_digest is not in every Python of hosts
        digest.update(chunk)
    return digest.hexdigest()


class BinaryCache:
    """Facts of programs, kept in one JSON file; ``file=None`` keeps nothing."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, dict[str, str | int]] = {}
        self._changed = False
        if file is not None:
            with contextlib.suppress(OSError, ValueError):
                loaded = json.loads(file.read_text(encoding="utf-8"))
                self._known = loaded if isinstance(loaded, dict) else {}

    def facts(self, program: Path) -> BinaryFacts:
        """Look a program up, asked anew where its file changed.

        Raises BrokenBinaryError where it cannot be run or read.
        """
        try:
            status = program.stat()
            state = {"size": status.st_size, "changed": status.st_mtime_ns}
            entry = self._known.get(str(program), {})
            if entry.items() >= state.items() and {"version_text", "fingerprint"} <= entry.keys():
                return BinaryFacts(str(entry["version_text"]), str(entry["fingerprint"]))
            facts = BinaryFacts(ask_version(program), hash_file(program))
        except OSError as error:
            raise BrokenBinaryError(f"{program}: {error}") from error
        self._known[str(program)] = {**state, **asdict(facts)}
        self._changed = True
        return facts

    def save(self) -> None:
        """Write what is new; a working folder that we may not write to is no failure."""
        if not self._changed or self._file is None or not self._file.parent.is_dir():
            return
        known = {path: entry for path, entry in self._known.items() if Path(path).exists()}
        staging = self._file.with_suffix(f".{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            staging.write_text(json.dumps(known, indent=1), encoding="utf-8")
            staging.replace(self._file)
