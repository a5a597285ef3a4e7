"""The contents of an installation: its programs, its contrib modules, how they were built, and the
receipt that Teiten wrote where it made it (``installation.json``)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, ask, find_binary
from teiten.host.system.held_folder import exchangeable_folder
from teiten.model.build import BuildFacts, ServerBuild
from teiten.model.installation import Installation, Source, Version

RECEIPT_NAME = "installation.json"
FORMAT = 1


@dataclass(frozen=True)
class Receipt:
    """Where an installation came from. ``bin_directory`` is relative to the receipt's folder."""

    name: str
    source: Source
    package: str
    """The package's name and version, as its client calls them."""
    sha512: str
    """The package file's digest."""
    server_version: str
    """The answer to ``SELECT version()``, with the compiler; for a client only, ``--version``."""
    installed_at: str = field(
        default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds")
    )
    bin_directory: str = "bin"
    build: BuildFacts | None = None
    """The build of an installation that was built from source; ``sha512`` is the source's then."""


def folder_name(name: str) -> str:
    """The folder of an installation: no colon, which Windows does not allow."""
    return name.replace(":", "-")


def write_receipt(folder: Path, receipt: Receipt) -> None:
    text = json.dumps({"format": FORMAT, **asdict(receipt)}, indent=2, ensure_ascii=False)
    path = folder / RECEIPT_NAME
    path.write_text(text + "\n", encoding="utf-8")
    path.chmod(0o644)


def read_receipt(folder: Path) -> Receipt:
    """Raises ValueError, with the file's name, where the receipt is missing or not one of ours."""
    path = folder / RECEIPT_NAME
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise ValueError("another format")
        build = values.get("build")
        if build is not None:
            values["build"] = BuildFacts(**{**build, "configure": tuple(build["configure"])})
        return Receipt(**{**values, "source": Source(values["source"])})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a receipt of an installation: {error}") from error


def managed_folders(installations: Path) -> Iterator[Path]:
    """The folders of finished installations; a name with a dot first is one being made."""
    if not installations.is_dir():
        return
    for folder in sorted(installations.iterdir()):
        if folder.is_dir() and not folder.name.startswith("."):
            yield folder


def inspect_managed(folder: Path, cache: BinaryCache | None = None) -> Installation:
    """One of Teiten's own. Raises ValueError or BrokenBinaryError where it is damaged."""
    receipt = read_receipt(folder)
    bin_directory = (folder / receipt.bin_directory).resolve()
    installation = inspect_folder(bin_directory, receipt.source, cache)
    return replace(installation, name=receipt.name, managed=True, build=receipt.build)


def inspect_folder(folder: Path, source: Source, cache: BinaryCache | None = None) -> Installation:
    """The installation whose programs are in ``folder``.

    Raises BrokenBinaryError where there is neither a server nor pgbench, or it cannot be run, and
    ExchangeableError.
    """
    postgres, pgbench = find_binary(folder, "postgres"), find_binary(folder, "pgbench")
    if source in FOUND:
        for path in filter(None, (postgres, pgbench)):
            refuse_exchangeable(path)
    program = postgres or pgbench
    if program is None:
        raise BrokenBinaryError(f"{folder} holds neither postgres nor pgbench")
    facts = (cache or BinaryCache(None)).facts(program)
    try:
        version = Version.parse(facts.version_text)
    except ValueError as error:
        raise BrokenBinaryError(f"{program}: {error}") from error
    return Installation(
        name=f"system:{version}" if source in (Source.SYSTEM, Source.PATH) else str(folder),
        version=version,
        source=source,
        bin_directory=folder,
        fingerprint=facts.fingerprint,
        contrib=find_contrib(folder, version.major) if postgres else frozenset(),
        postgres=postgres,
        initdb=find_binary(folder, "initdb"),
        pgbench=pgbench,
        psql=find_binary(folder, "psql"),
        programs=frozenset(path.name for path in folder.iterdir() if os.access(path, os.X_OK)),
    )


FOUND = (Source.SYSTEM, Source.PATH, Source.NAMED)
"""Where installations come from that Teiten has not made."""


class ExchangeableError(BrokenBinaryError):
    """A program that somebody could exchange between root's look at it and its start."""

    hint = (
        "copy the installation into a folder that is root's alone, or run Teiten as the user whose"
        " it is"
    )


def refuse_exchangeable(program: Path) -> None:
    """As root, raise ExchangeableError where another user could put his own program there."""
    try:
        folder = exchangeable_folder(program)
    except OSError as error:
        raise BrokenBinaryError(f"{program}: {error}") from error
    if folder is not None:
        raise ExchangeableError(
            f"root takes no program that others can exchange: {program} ({folder} is not root's"
            " alone)"
        )


def folder_of_programs(folder: Path) -> Path | None:
    """The real folder of the server, or else of pgbench, that ``folder`` holds or links to."""
    program = find_binary(folder, "postgres") or find_binary(folder, "pgbench")
    return program.parent if program else None


WANTED = (
    "pg_prewarm",
    "pg_buffercache",
    "pg_stat_statements",
    "pg_visibility",
    "pageinspect",
    "postgres_fdw",
    "auto_explain",
)
"""Extensions that studies use."""
WITHOUT_CONTROL = ("auto_explain", "auth_delay", "passwordcheck", "basic_archive")
"""Modules that are loaded, not created: they have a library but no control file."""
LIBRARY_SUFFIXES = (".so", ".dylib", ".dll")


def find_contrib(bin_directory: Path, major: str) -> frozenset[str]:
    """The names of the extensions and of the loadable modules."""
    prefix = bin_directory.parent
    share: tuple[Path, ...] = (
        prefix / "share" / "postgresql",
        prefix / "share" / f"postgresql@{major}",  # Homebrew
        prefix / "share",
        prefix.parents[2] / "share" / "postgresql" / major  # Debian: /usr/share/postgresql/15
        if len(prefix.parents) > 2
        else prefix,
    )
    library: tuple[Path, ...] = (
        prefix / "lib" / "postgresql",
        prefix / "lib" / f"postgresql@{major}",
        prefix / "lib",
    )
    extensions = _extensions(share)
    if not extensions and (pg_config := find_binary(bin_directory, "pg_config")):
        asked = (ask_pg_config(pg_config, option) for option in ("--sharedir", "--pkglibdir"))
        share, library = (() if folder is None else (Path(folder),) for folder in asked)
        extensions = _extensions(share)
    return extensions | _modules(library)


def _extensions(shares: tuple[Path, ...]) -> frozenset[str]:
    for share in shares:
        names = frozenset(file.stem for file in (share / "extension").glob("*.control"))
        if names:
            return names
    return frozenset()


def _modules(libraries: tuple[Path, ...]) -> frozenset[str]:
    return frozenset(
        name
        for name in WITHOUT_CONTROL
        if any(
            (library / f"{name}{suffix}").is_file()
            for library in libraries
            for suffix in LIBRARY_SUFFIXES
        )
    )


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
    pg_config = shutil.which("pg_config")
    named = ask_pg_config(Path(pg_config), "--bindir") if pg_config else None
    folders = (*os.environ.get("PATH", "").split(os.pathsep), named)
    root = f"{os.environ.get('SYSTEMDRIVE', 'C:')}\\" if sys.platform == "win32" else "/"
    return search_places(Path(root), [Path(folder) for folder in folders if folder])


def ask_pg_config(program: Path, option: str, library_path: Path | None = None) -> str | None:
    """Ask pg_config; None where it does not answer, or has nothing to say."""
    try:
        done = ask(program, option, library_path=library_path)
    except OSError:
        return None
    text = done.stdout.decode(errors="replace").strip()
    return text if text and done.returncode == 0 else None


VERSION = re.compile(r"PostgreSQL \d.* compiled by (.+?), \d+-bit")
FLAGS = re.compile(r"([ -~]*-fno-strict-aliasing[ -~]*-fwrapv[ -~]*)$")
"""CFLAGS of every build by gcc or clang: PostgreSQL's own configure and meson.build add it."""
OPTIONS = re.compile(r"(?:^|[^ -~])((?: ?'[ -&(-~]*')*(?: ?'--[a-z][ -&(-~]*')(?: ?'[ -&(-~]*')*)$")
LONGEST = 8192
"""Bytes of such a text on each side of what it is found by."""


def read_build(program: Path | None) -> ServerBuild | None:
    """How a server was built, read from its binary: what ``pg_config()`` answers is compiled into
    it, so that neither the server nor pg_config has to run. What it does not hold is None.

    None where there is no binary here (an attached server, a client), or none that can be read.
    """
    if program is None:
        return None
    try:
        content = program.read_bytes()
    except OSError:
        return None
    return ServerBuild(
        compiler=_first(content, b" compiled by ", VERSION),
        cflags=_first(content, b"-fno-strict-aliasing", FLAGS),
        configure=_first(content, b"'--", OPTIONS),
    )


def _first(content: bytes, marker: bytes, form: re.Pattern[str]) -> str | None:
    """The first text around ``marker`` that has the form, whatever stands before it without a NUL
    between, as numbers do."""
    matches = (form.search(text) for text in _texts(content, marker))
    return next((match[1].strip() for match in matches if match), None)


def _texts(content: bytes, marker: bytes) -> Iterator[str]:
    """The texts of C, from NUL to NUL, that hold ``marker``."""
    at = content.find(marker)
    while at >= 0:
        begin = content.rfind(b"\0", max(0, at - LONGEST), at) + 1
        end = content.find(b"\0", at, at + LONGEST)
        if begin and end >= 0:
            yield content[begin:end].decode("ascii", "replace")
        at = content.find(marker, at + len(marker) if end < 0 else end)


def reported_build(installation: Installation) -> tuple[dict[str, str], str]:
    """CONFIGURE and CFLAGS of its ``pg_config``, and what ``version()`` said when it was tried."""
    program = find_binary(installation.bin_directory, "pg_config")
    answers = {
        name: ask_pg_config(program, f"--{name.lower()}") or ""
        for name in ("CONFIGURE", "CFLAGS")
        if program is not None
    }
    return answers, read_receipt(installation.bin_directory.parent).server_version
