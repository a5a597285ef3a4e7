"""Which contrib modules an installation has, read from its folders."""

from __future__ import annotations

from pathlib import Path

from teiten.execute.postgres.binaries import find_binary
from teiten.execute.postgres.places import ask_pg_config

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
