"""Running PostgreSQL's own programs to their end."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from teiten.errors import ServerError
from teiten.host.system.environment import Inherited
from teiten.host.system.processes import killed_after, spawn
from teiten.host.system.signals import KILL
from teiten.host.system.users import ServerUser


def run_program(
    arguments: Sequence[str | Path],
    *,
    what: str,
    user: ServerUser | None = None,
    library_path: Path | None = None,
    environment: Mapping[str, str] | None = None,
    inherited: Inherited = Inherited.PLAIN,
    folder: Path = Path("/"),
    hint: str,
) -> str:
    """Run a program and return what it wrote (stdout and stderr as they came).

    It ends with us. Raises ServerError with the end of its output where it fails.
    """
    with tempfile.TemporaryFile() as output:
        try:
            process = spawn(
                arguments,
                user=user,
                library_path=library_path,
                environment=environment,
                inherited=inherited,
                folder=folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                death_signal=KILL,
            )
        except OSError as error:
            raise ServerError(f"{what}: {arguments[0]} cannot be started: {error}", hint) from error
        exit_code = killed_after(process, None)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if exit_code != 0:
        end = "\n".join(text.strip().splitlines()[-5:])
        raise ServerError(f"{what} failed (exit code {exit_code}):\n{end}", hint)
    return text
