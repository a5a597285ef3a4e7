"""Whether a server that Teiten built says of itself what was asked. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from teiten.host.cautions.machine import compiler_of
from teiten.model.build import BuildFacts
from teiten.model.facts import Caution, Severity


def build_cautions(
    server: str, asked: BuildFacts, reported: Mapping[str, str], version_text: str
) -> tuple[Caution, ...]:
    """A caution for each of compiler flags, options and compiler that is not as asked.

    ``server``: how the campaign calls it. ``reported``: CONFIGURE and CFLAGS of ``pg_config()``;
    meson records no CONFIGURE. ``version_text``: what ``SELECT version()`` answered.
    """
    return tuple(
        Caution(
            "build-differs",
            Severity.WARNING,
            (("server", server), ("what", what), ("asked", wanted), ("reported", said)),
        )
        for what, wanted, said in _differences(asked, reported, version_text)
    )


def _differences(
    asked: BuildFacts, reported: Mapping[str, str], version_text: str
) -> Iterator[tuple[str, str, str]]:
    flags = reported.get("CFLAGS", "")
    lacking = [flag for flag in (asked.cflags or "").split() if flag not in flags.split()]
    if lacking and "CFLAGS" in reported:
        yield "CFLAGS", " ".join(lacking), flags or "nothing"
    said = reported.get("CONFIGURE", "").strip()
    if said and not asked.meson:
        known = _split(said)
        for option in asked.configure:
            if option not in known:
                yield "CONFIGURE", option, said
    compiler = compiler_of(version_text)
    if compiler is not None and not _same_compiler(compiler.strip(), asked):
        yield "compiler", asked.compiler, compiler


def _same_compiler(said: str, asked: BuildFacts) -> bool:
    """By configure the server has the compiler's whole line; by meson ``gcc-12.2.0``."""
    if said == asked.compiler.strip():
        return True
    return asked.meson and said.rpartition("-")[2] in asked.compiler.split()


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
