"""Running the user's own npm, Maven or pip: they know the user's mirrors, proxies and keys."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.host.system.environment import Inherited
from teiten.host.system.processes import killed_after, spawn
from teiten.model.installation import Version

Say = Callable[[str], None]
"""Tells people a line."""
TIMEOUT = 1800.0
"""Seconds; for a slow line. A client that takes longer is stopped."""
GRACE = 5.0
"""Seconds that it has to end."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_NOISE = re.compile(
    r"(npm (warn|notice)|npm error A complete log|WARNING:|\[WARNING\]|"
    r"Picked up (_JAVA|JAVA_TOOL)_OPTIONS|"
    r"\[ERROR\] (To see the full|Re-run Maven|For more information|\[Help)|(\[ERROR\])?$)",
    re.IGNORECASE,
)
FULL = ("ENOSPC", "No space left on device")
"""In what a client says that ran out of disk."""


class PackageError(Exception):
    """A client could not give a package; the text says what it said."""


class MissingClientError(PackageError):
    """The client itself is not installed."""


class NoSuchVersionError(PackageError):
    """The client works but has no such version. ``available``: of all majors, oldest first."""

    def __init__(self, client: str, asked: str, available: Sequence[Version]) -> None:
        super().__init__(f"{client} has no PostgreSQL {asked}")
        self.available = tuple(available)


@dataclass(frozen=True)
class ClientOutput:
    """The output of a client, and how it ended."""

    output: str
    errors: str
    exit_code: int

    def complaint(self) -> str:
        """Its complaints, without colours and mere warnings.

        Its first lines; of a Python program's traceback the last ones.
        """
        lines = _telling(self.errors) or _telling(self.output)
        traced = any(line.startswith("Traceback") for line in lines)
        chosen = lines[-2:] if traced else lines[:6]
        return "\n".join(chosen) or f"exit code {self.exit_code}, without a word"


def _telling(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if not _NOISE.match(line.strip())]


def find_client(name: str) -> str:
    """The client's path. Raises MissingClientError."""
    path = shutil.which(name)
    if path is None:
        raise MissingClientError(f"{name} is not installed")
    return path


def run_client(arguments: Sequence[str | Path], folder: Path) -> ClientOutput:
    """Run a client in a folder to its end. Raises PackageError where it cannot be run."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = spawn(
                arguments,
                inherited=Inherited.PERSON,
                folder=folder,
                stdout=output,
                stderr=errors,
            )
        except OSError as error:
            raise PackageError(f"{arguments[0]} cannot be started: {error}") from error
        exit_code = killed_after(process, TIMEOUT, GRACE)
        if exit_code is None:
            raise PackageError(f"{arguments[0]} took longer than {TIMEOUT:g} s")
        texts = []
        for stream in (output, errors):
            stream.seek(0)
            texts.append(_COLOURS.sub("", stream.read().decode("utf-8", "replace")))
    return ClientOutput(texts[0], texts[1], exit_code)
