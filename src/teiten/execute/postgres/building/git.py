"""Git, asked about a checkout that is never changed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import IO

from teiten.errors import MachineError, UsageError
from teiten.host.system.environment import run_briefly
from teiten.host.system.processes import ending

ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
"""No index is refreshed on disk, nobody is asked."""


class GitError(Exception):
    """A refusal of git's in its words; the caller knows what it means."""


def is_checkout(folder: Path) -> bool:
    """Whether a folder is a work tree's top, or a bare repository."""
    bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    return (folder / ".git").exists() or bare


def git(
    folder: Path,
    *arguments: str,
    stdout: IO[bytes] | None = None,
    good: Collection[int] = (0,),
) -> str:
    """Run git for its output. Raises GitError with its last line, MachineError where it is missing.

    ``stdout``: takes what git writes instead; the answer is then empty. ``good``: exit codes that
    are no failure.
    """
    program = shutil.which("git")
    if program is None:
        raise MachineError("git is missing", "sudo apt-get install git")
    done = run_briefly(
        [program, "-c", "core.fsmonitor=false", "-C", str(folder), *arguments],
        given=ENVIRONMENT,
        stdout=stdout if stdout is not None else subprocess.PIPE,
        timeout=None,
    )
    if done.returncode not in good:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        fatal = [line for line in lines if line.startswith("fatal: ")]
        ended = f"git {arguments[0]}: it {ending(done.returncode)}"
        raise GitError((fatal or lines[-1:] or [ended])[0])
    return (done.stdout or b"").decode("utf-8", "surrogateescape")


def commit_of(folder: Path, ref: str) -> str:
    """The commit that a ref names. Raises UsageError where there is none, or git refuses."""
    try:
        git(folder, "rev-parse", "--git-dir")
    except GitError as error:  # for example a checkout that belongs to somebody else
        raise UsageError(
            f"--source {folder}: {error}", f"git -C {folder} status tells what git asks for"
        ) from error
    try:
        return git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options",
                   f"{ref}^{{commit}}").strip()  # fmt: skip
    except GitError as error:
        raise UsageError(
            f"{folder} has no commit {ref!r}", f"git -C {folder} log --oneline shows them"
        ) from error
