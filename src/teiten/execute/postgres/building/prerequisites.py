"""The needs of a build: the compiler, programs, and headers that it can do without."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.building.sources import SourceCode
from teiten.host.system.environment import Inherited, run_briefly
from teiten.host.system.users import server_user
from teiten.model.build import BuildSpec

COMPILERS = ("gcc", "cc", "clang")
"""In the order in which PostgreSQL's configure looks for one."""
ICU_BY_DEFAULT = 16
MESON_SINCE = 16
GENERATED_UNTIL = 16
"""Later tarballs do not bring what bison and flex make."""
PACKAGES = {
    "compiler": "gcc libc6-dev",
    "make": "make",
    "bison": "bison",
    "flex": "flex",
    "perl": "perl",
    "meson": "meson",
    "ninja": "ninja-build",
}
"""Debian's, by what is missing."""
PROGRAM_TIMEOUT = 60.0


@dataclass(frozen=True)
class Library:
    """A library that PostgreSQL is built with by default, and can be built without."""

    feature: str
    """Its name in ``--without-FEATURE`` and meson's ``-DFEATURE=disabled``."""
    program: str
    """A C program that includes its headers."""
    package: str
    since: int = 0


LIBRARIES = (
    Library("readline", "#include <stdio.h>\n#include <readline/readline.h>\n", "libreadline-dev"),
    Library("zlib", "#include <zlib.h>\n", "zlib1g-dev"),
    Library("icu", "#include <unicode/ucol.h>\n", "libicu-dev", ICU_BY_DEFAULT),
)


@dataclass(frozen=True)
class Tools:
    """With what a source is built, and what that changes in the options."""

    compiler: str
    """The program, as it goes to ``CC=``."""
    compiler_version: str
    """The first line of its ``--version``; PostgreSQL's ``version()`` repeats it."""
    configure: tuple[str, ...]
    """The options asked for, then those that leave a missing library out."""
    notes: tuple[str, ...]
    """Sentences: what was left out, and what to install to have it."""


def find_tools(source: SourceCode, spec: BuildSpec) -> Tools:
    """Raises MachineError naming all that is missing, UsageError for options that cannot be."""
    if spec.meson and source.version.major_number < MESON_SINCE:
        raise UsageError(
            f"--meson: PostgreSQL {source.version_text} has no meson build, which came with"
            f" {MESON_SINCE}",
            "leave --meson out",
        )
    compiler = _compiler(spec)
    missing = [*([] if compiler else ["compiler"]), *_missing_programs(source, spec)]
    if missing or compiler is None:
        packages = " ".join(PACKAGES[name] for name in missing)
        raise MachineError(
            f"PostgreSQL {source.version_text} cannot be built without {_listed(missing)}",
            f"install: sudo apt-get install {packages} (Debian, Ubuntu)",
        )
    options, notes = without_missing(
        source.version.major_number, spec, lambda library: _compiles(compiler, library.program)
    )
    return Tools(compiler, compiler_line(compiler), options, notes)


def without_missing(
    major: int, spec: BuildSpec, has: Callable[[Library], bool]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options with every library that is missing left out, and a note for each.

    A library that the person's own options decide is theirs.
    """
    options, notes = list(spec.configure), []
    for library in LIBRARIES:
        if major < library.since or _decided(library.feature, spec):
            continue
        if has(library):
            options += [f"-D{library.feature}=enabled"] if spec.meson else []
            continue
        option = f"-D{library.feature}=disabled" if spec.meson else f"--without-{library.feature}"
        options.append(option)
        notes.append(
            f"{library.feature} is left out ({option}): its headers are not here; with them:"
            f" sudo apt-get install {library.package}"
        )
    return tuple(options), tuple(notes)


def compiler_line(compiler: str) -> str:
    """The first line of ``--version``. Raises MachineError where the compiler does not run."""
    try:
        done = _run(compiler, "--version")
        done.check_returncode()
    except (OSError, subprocess.CalledProcessError) as error:
        raise MachineError(
            f"the compiler {compiler} does not run: {error}", "name another one: --configure CC=gcc"
        ) from error
    return (done.stdout.decode(errors="replace").splitlines() or [""])[0]


def _compiler(spec: BuildSpec) -> str | None:
    named = [option.removeprefix("CC=") for option in spec.configure if option.startswith("CC=")]
    for name in (named[-1:] or COMPILERS):  # fmt: skip
        if shutil.which(_words(name)[0]):
            return name
    if named:
        raise UsageError(f"--configure CC={named[-1]}: there is no such compiler", "install it")
    return None


def _words(compiler: str) -> list[str]:
    """``ccache gcc`` is a compiler too."""
    return shlex.split(compiler) or [compiler]


def _missing_programs(source: SourceCode, spec: BuildSpec) -> list[str]:
    wanted = ["meson", "ninja"] if spec.meson else ["make"]
    if not source.generated or source.version.major_number > GENERATED_UNTIL:
        wanted += ["bison", "flex", "perl"]
    return [name for name in wanted if shutil.which(name) is None]


def _decided(feature: str, spec: BuildSpec) -> bool:
    starts = (f"--with-{feature}", f"--without-{feature}", f"-D{feature}=")
    return any(option.startswith(starts) for option in spec.configure)


def _compiles(compiler: str, program: str) -> bool:
    return _run(compiler, "-fsyntax-only", "-x", "c", "-", program=program).returncode == 0


def _run(
    compiler: str, *words: str, program: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the compiler, with a program as its input; as root it runs as the servers' user, who
    builds with it: a study names it (``CC=``)."""
    return run_briefly(
        [*_words(compiler), *words],
        inherited=Inherited.COMPILER,
        input=None if program is None else program.encode(),
        timeout=PROGRAM_TIMEOUT,
        user=server_user(),
    )


def _listed(names: Sequence[str]) -> str:
    words = ["a C compiler" if name == "compiler" else name for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
