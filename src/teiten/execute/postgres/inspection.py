"""Finding out which programs of PostgreSQL a folder holds.

Which contrib modules an installation has, read from its folders.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, find_binary
from teiten.execute.postgres.places import ask_pg_config
from teiten.execute.postgres.provision.receipts import read_receipt
from teiten.model.installation import Installation, Source


def inspect_managed(folder: Path, cache: BinaryCache) -> Installation:
    """One of Teiten's own. Raises ValueError or BrokenBinaryError where it is damaged."""
    receipt = read_receipt(folder)
    bin_directory = (folder / receipt.bin_directory).resolve()
    installation = inspect_folder(bin_directory, receipt.source, cache)
    return replace(installation, name=receipt.name, managed=True, build=receipt.build)


def inspect_folder(folder: Path, source: Source, cache: BinaryCache) -> Installation:
    """The installation whose programs are in ``folder``.

    Raises BrokenBinaryError where there is neither a server nor pgbench, or it cannot be run.
    """
    postgres, pgbench = find_binary(folder, "postgres"), find_binary(folder, "pgbench")
    program = postgres or pgbench
    if program is None:
        raise BrokenBinaryError(f"{folder} holds neither postgres nor pgbench")
    facts = cache.facts(program)
    try:
        version = facts.version
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
        share = tuple(filter(None, [ask_pg_config(pg_config, "--sharedir")]))
        library = tuple(filter(None, [ask_pg_config(pg_config, "--pkglibdir")]))
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
