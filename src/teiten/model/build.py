"""Builds of PostgreSQL from source: what is asked, and what an installation was built from."""

from __future__ import annotations

from dataclasses import dataclass

from teiten.model.units import Bytes, Seconds


@dataclass(frozen=True)
class BuildSpec:
    """Build that a person asks for, in the build systems' own words."""

    source: str | None
    """A tarball, a directory, or a git checkout with or without ``@REF``; None: named at the run
    (``--source``)."""
    configure: tuple[str, ...] = ()
    """Options of ``configure`` (``--without-icu``, ``CC=clang``), or of ``meson setup``."""
    cflags: str | None = None
    """Replaces configure's own ``-O2``; None leaves it."""
    meson: bool = False


@dataclass(frozen=True)
class BuildFacts:
    """From what and how an installation was built; stands in its receipt and in plans."""

    key: str
    """SHA-256 of source, options and compiler: two builds of one key are the same."""
    source: str
    """The source as it was named, the commit included."""
    digest: str
    """Hash of the source: the tarball's SHA-256, git's tree, or that of a directory's files."""
    commit: str | None
    configure: tuple[str, ...]
    """Options as asked, with those that were added because a library is missing here."""
    cflags: str | None
    meson: bool
    compiler: str
    """The first line of the compiler's ``--version``."""
    jobs: int = 1
    seconds: float = 0.0
    """Seconds of configuring, compiling and installing."""
    relink_seconds: float | None = None
    """Seconds of linking the server in another order; None where its objects were not kept."""


@dataclass(frozen=True)
class PlannedBuild:
    """A build that a study needs and that is not there yet."""

    name: str
    """The study's name for it."""
    described: str
    """For a person: version, source and options."""
    seconds: Seconds
    """Expected duration of the build."""
    disk: Bytes
    """Disk that the build needs while it runs."""
