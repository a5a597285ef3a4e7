"""Environments of the programs that we start: the one room that makes them; and the programs that
are run for what they say.

A server runs what a study's script asks for, as its user, and the children of a server see its
environment. So a program gets what is listed here, and of the rest nothing: no keys of clouds, no
tokens of a CI, not the home folder of root.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import IO

from teiten.host.system.users import ServerUser, run_as

LIBRARIES = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
_PLAIN = ("LANG", "LANGUAGE", "PATH", "TZ")
_WINDOWS = (
    "APPDATA", "COMSPEC", "LOCALAPPDATA", "PATHEXT", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE",
    "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
)  # fmt: skip
"""Without which programs do not run there, where all are ours."""
_COMPILER = (
    "CPATH", "C_INCLUDE_PATH", "DEVELOPER_DIR", "LIBRARY_PATH", LIBRARIES,
    "MACOSX_DEPLOYMENT_TARGET", "PKG_CONFIG_LIBDIR", "PKG_CONFIG_PATH", "SDKROOT",
)  # fmt: skip
"""Where a compiler finds headers and libraries. Flags are options of a build, which its receipt
holds."""


class Inherited(Enum):
    """The part of our environment that a program gets, beside what it is given."""

    PLAIN = "plain"
    """Where programs are, the language and the time zone, and its user's home."""
    COMPILER = "compiler"
    """All that a plain one gets, and where headers and libraries are."""
    PERSON = "person"
    """All but PostgreSQL's variables: for a person's own clients, which know his mirrors, proxies
    and keys (ssh, pip, npm, Maven), and which run nothing of a study."""


def child_environment(
    library_path: Path | None = None,
    given: Mapping[str, str] | None = None,
    *,
    user: ServerUser | None = None,
    inherited: Inherited = Inherited.PLAIN,
) -> dict[str, str]:
    """The environment of a program: what it inherits, in the language C, and what it is given.

    ``library_path``: where it finds its libraries first. ``user``: as whom it runs, where that is
    another user; the home is his.
    """
    result = {name: os.environ[name] for name in os.environ if _passes(name, inherited)}
    if user is not None and user.is_other:
        result["HOME"] = user.home
    elif "HOME" in os.environ:
        result["HOME"] = os.environ["HOME"]
    result["LC_ALL"] = "C"
    if library_path is not None:
        known = result.get(LIBRARIES)
        result[LIBRARIES] = f"{library_path}{os.pathsep}{known}" if known else str(library_path)
    return result | dict(given or {})


def run_briefly(
    words: Sequence[str | Path],
    *,
    timeout: float | None,
    library_path: Path | None = None,
    given: Mapping[str, str] | None = None,
    inherited: Inherited = Inherited.PLAIN,
    input: bytes | None = None,  # noqa: A002 - as subprocess has it
    stdout: IO[bytes] | int = subprocess.PIPE,
    user: ServerUser | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end: its exit code, and what it wrote; it asks nobody.

    ``stdout``: takes what it writes instead. ``user``: as whom, where that is another user; it is
    in the folder / then, which he may enter. Raises OSError where it cannot be started, or takes
    longer than ``timeout`` (seconds).
    """
    as_other = run_as(user)
    try:
        return subprocess.run(
            words,
            env=child_environment(library_path, given, user=user, inherited=inherited),
            cwd="/" if as_other else None,
            stdin=subprocess.DEVNULL if input is None else None,
            input=input,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=timeout,
            check=False,
            start_new_session=sys.platform != "win32",  # a Ctrl-C reaches us alone
            **as_other,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"{words[0]} takes longer than {timeout:g} s") from error


def last_words(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last line of what a program complained of; empty where it said nothing."""
    return done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].strip()


def _passes(name: str, inherited: Inherited) -> bool:
    if inherited is Inherited.PERSON:
        return not name.startswith("PG")
    if sys.platform == "win32" and name.upper() in _WINDOWS:
        return True
    compiles = inherited is Inherited.COMPILER
    return name in _PLAIN or name.startswith("LC_") or (compiles and name in _COMPILER)
