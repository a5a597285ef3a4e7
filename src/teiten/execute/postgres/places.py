"""Where PostgreSQL may be on a machine, as a list that a test can give."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.host.system.environment import run_briefly
from teiten.model.installation import Source

SYSTEM_PATTERNS = (
    "usr/lib/postgresql/*/bin",  # Debian, Ubuntu
    "usr/pgsql-*/bin",  # PGDG on Red Hat and others
    "usr/lib/postgresql*/bin",  # SUSE
    "usr/lib64/postgresql-*/bin",  # Gentoo
    "usr/libexec/postgresql*",  # Alpine
    "usr/local/pgsql/bin",  # make install
    "usr/local/pgsql-*/bin",
    "opt/homebrew/opt/postgresql*/bin",  # Homebrew: Apple silicon, Intel, Linux
    "usr/local/opt/postgresql*/bin",
    "home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
    "Applications/Postgres.app/Contents/Versions/*/bin",
    "Library/PostgreSQL/*/bin",  # EDB on macOS
    "opt/PostgreSQL/*/bin",  # EDB on Linux
    "Program Files/PostgreSQL/*/bin",  # EDB on Windows
)


@dataclass(frozen=True)
class ProgramFolder:
    """A folder that may hold PostgreSQL's programs."""

    folder: Path
    source: Source


def search_places(root: Path, path_folders: Sequence[Path]) -> tuple[ProgramFolder, ...]:
    """The folders of distributions and vendors below ``root``, then those of PATH.

    System folders come first, so that a link from PATH into one does not rename it.
    """
    system = (
        ProgramFolder(folder, Source.SYSTEM)
        for pattern in SYSTEM_PATTERNS
        for folder in sorted(root.glob(pattern))
        if os.access(folder, os.X_OK) and folder.is_dir()
    )
    on_path = (ProgramFolder(folder, Source.PATH) for folder in path_folders)
    return (*system, *on_path)


def this_machine() -> tuple[ProgramFolder, ...]:
    """The places of this machine: its file system, PATH and what pg_config says."""
    entries = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry]
    named = _pg_config_folder()
    folders = [*map(Path, entries), *([named] if named else [])]
    root = (
        Path(f"{os.environ.get('SYSTEMDRIVE', 'C:')}\\") if sys.platform == "win32" else Path("/")
    )
    return search_places(root, folders)


def _pg_config_folder() -> Path | None:
    program = shutil.which("pg_config")
    return ask_pg_config(Path(program), "--bindir") if program else None


def ask_pg_config(program: Path, option: str) -> Path | None:
    """A folder that pg_config names; None where it does not answer."""
    text = ask_pg_config_text(program, option)
    return Path(text) if text else None


def ask_pg_config_text(program: Path, option: str) -> str | None:
    """Ask pg_config; None where it does not answer."""
    try:
        done = run_briefly([program, option], timeout=20.0)
    except OSError:
        return None
    text = done.stdout.decode(errors="replace").strip()
    return text if done.returncode == 0 else None
