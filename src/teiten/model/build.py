"""Builds of PostgreSQL from source: what is asked, what an installation was built from, and how a
server's binary was built as far as it tells.
"""

from __future__ import annotations

import re
import shlex
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


BUILDS_DIFFER = "builds-differ"
BUILT_SLOW = "built-slow"
BUILT_WITH_ASSERTIONS = "built-with-assertions"
OF_BUILDS = (BUILDS_DIFFER, BUILT_SLOW, BUILT_WITH_ASSERTIONS)
"""Codes of cautions that say that what is measured is the builds: a report has them on its first
screen."""
FOR_SIZE = frozenset({"-Os", "-Oz"})
NOT_OPTIMISED = frozenset({"-O0", "-Og"})
NO_FLAG = "-O0"
"""Optimisation by compilers where no flag says how to optimise."""


@dataclass(frozen=True)
class ServerBuild:
    """None: not known."""

    compiler: str | None
    """The compiler's name in ``SELECT version()``: ``gcc (Debian 12.2.0-14) 12.2.0``."""
    cflags: str | None
    configure: str | None
    """Options of configure; meson records none."""

    @property
    def optimisation(self) -> str | None:
        """``-O2``: the last of such flags, which is the one that holds."""
        if self.cflags is None:
            return None
        flags = re.findall(r"(?<!\S)-O\S*", self.cflags)
        return flags[-1] if flags else NO_FLAG

    @property
    def link_time_optimisation(self) -> bool | None:
        if self.cflags is None:
            return None
        flags = re.findall(r"(?<!\S)-f(?:no-)?lto\S*", self.cflags)
        return bool(flags) and not flags[-1].startswith("-fno-")

    @property
    def assertions(self) -> bool | None:
        return self._given("--enable-cassert", "--disable-cassert", otherwise=False)

    @property
    def jit(self) -> bool | None:
        return self._given("--with-llvm", "--without-llvm", otherwise=False)

    @property
    def icu(self) -> bool | None:
        """None also where configure was told nothing: that is with ICU from 16 on, and without
        before."""
        return self._given("--with-icu", "--without-icu", otherwise=None)

    @property
    def slow(self) -> bool:
        """Built for size, or not optimised."""
        return self.optimisation in FOR_SIZE | NOT_OPTIMISED

    def told(self) -> str:
        """``gcc 7.5.0 -Os``, in every language; empty where nothing is known."""
        words = (
            self.compiler and short_compiler(self.compiler),
            self.optimisation,
            self.link_time_optimisation and "-flto",
            self.assertions and "--enable-cassert",
        )
        return " ".join(word for word in words if word)

    def _given(self, option: str, without: str, *, otherwise: bool | None) -> bool | None:
        """Which of two opposite options configure was given last; None where none are known."""
        if not self.configure:
            return None
        names = [word.partition("=")[0] for word in shell_words(self.configure)]
        given = [name for name in names if name in (option, without)]
        return given[-1] == option if given else otherwise


def short_compiler(text: str) -> str:
    """``gcc 12.2.0`` of ``gcc (Debian 12.2.0-14+deb12u1) 12.2.0``, ``clang 17.0.6`` of ``Ubuntu
    clang version 17.0.6 (…)``."""
    plain = re.sub(r"\([^()]*\)", " ", text)
    name = re.search(r"(?<![\w-])(?:[\w.]+-)*?(gcc|clang|icc|icx|cl|msvc)(?![\w])", plain)
    version = re.search(r"\d+(?:\.\d+)+", plain)
    if name is None or version is None:
        return " ".join(text.split())
    return f"{name[1]} {version[0]}"


def shell_words(text: str) -> list[str]:
    """The words of a command line, or what spaces part where its quotes do not match."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
