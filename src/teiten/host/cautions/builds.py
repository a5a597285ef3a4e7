"""How servers were built: whether one that Teiten built says of itself what was asked, and whether
what is measured is the builds. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from teiten.host.cautions.machine import compiler_of
from teiten.model.build import (
    BUILDS_DIFFER,
    BUILT_SLOW,
    BUILT_WITH_ASSERTIONS,
    BuildFacts,
    ServerBuild,
    shell_words,
    short_compiler,
)
from teiten.model.facts import Caution
from teiten.model.plan import Plan

READ_BEFORE = "read-before"


def cautions_of_builds(builds: Mapping[str, ServerBuild]) -> tuple[Caution, ...]:
    """``builds``: by the server's level, of those of which something is known."""
    known = {level: build for level, build in builds.items() if build.told()}
    sides = {_alike(build) for build in known.values()}
    cautions = [Caution.warning(BUILDS_DIFFER, builds=_listed(known))] if len(sides) > 1 else []
    slow = {level: build for level, build in known.items() if build.slow}
    asserting = {level: build for level, build in known.items() if build.assertions}
    for code, concerned in ((BUILT_SLOW, slow), (BUILT_WITH_ASSERTIONS, asserting)):
        cautions += [Caution.warning(code, builds=_listed(concerned))] if concerned else []
    return tuple(cautions)


def prewarming_caution(plan: Plan) -> tuple[Caution, ...]:
    """Note the servers whose buffers cannot be loaded by pg_prewarm, and are by reading."""
    lacking = plan.servers_without("pg_prewarm")
    if not lacking or not plan.study.measure.prewarm:
        return ()
    return (Caution.note(READ_BEFORE, servers=", ".join(lacking)),)


def reported_build(reported: Mapping[str, str], version_text: str) -> ServerBuild:
    """Parse what a running server says: lines of ``pg_config()``, and ``SELECT version()``."""
    compiler = compiler_of(version_text)
    return ServerBuild(
        compiler.strip() if compiler else None,
        reported.get("CFLAGS"),
        reported.get("CONFIGURE", "").strip() or None,
    )


def _alike(build: ServerBuild) -> tuple[object, ...]:
    """List what two builds must share to be alike."""
    return (
        short_compiler(build.compiler or ""),
        build.optimisation,
        build.link_time_optimisation,
        build.assertions,
        build.jit,
    )


def _listed(builds: Mapping[str, ServerBuild]) -> str:
    jit = len({build.jit for build in builds.values()}) > 1
    return "; ".join(
        f"{level}: {build.told()}{' --with-llvm' if jit and build.jit else ''}"
        for level, build in builds.items()
    )


def build_cautions(
    server: str, asked: BuildFacts, reported: Mapping[str, str], version_text: str
) -> tuple[Caution, ...]:
    """A caution for each of compiler flags, options and compiler that is not as asked.

    ``server``: how the campaign calls it. ``reported``: CONFIGURE and CFLAGS of ``pg_config()``;
    meson records no CONFIGURE. ``version_text``: what ``SELECT version()`` answered.
    """
    return tuple(
        Caution.warning(
            "build-differs", server=server, what=what, asked=wanted, reported=reported_as
        )
        for what, wanted, reported_as in _differences(asked, reported, version_text)
    )


def _differences(
    asked: BuildFacts, reported: Mapping[str, str], version_text: str
) -> Iterator[tuple[str, str, str]]:
    flags = reported.get("CFLAGS", "")
    lacking = [flag for flag in (asked.cflags or "").split() if flag not in flags.split()]
    if lacking and "CFLAGS" in reported:
        yield "CFLAGS", " ".join(lacking), flags or "nothing"
    configure = reported.get("CONFIGURE", "").strip()
    if configure and not asked.meson:
        known = shell_words(configure)
        for option in asked.configure:
            if option not in known:
                yield "CONFIGURE", option, configure
    compiler = compiler_of(version_text)
    if compiler is not None and not _same_compiler(compiler.strip(), asked):
        yield "compiler", asked.compiler, compiler


def _same_compiler(compiler: str, asked: BuildFacts) -> bool:
    """By configure the server has the compiler's whole line; by meson ``gcc-12.2.0``."""
    if compiler == asked.compiler.strip():
        return True
    return asked.meson and compiler.rpartition("-")[2] in asked.compiler.split()
