"""The pure parts of a build: options, commands, key, and what its log tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.execute.postgres.building.preparing import build_key, steps
from teiten.execute.postgres.building.prerequisites import Tools, without_missing
from teiten.execute.postgres.building.running import FILES, CompileProgress, why_it_failed
from teiten.execute.postgres.building.sources import SourceCode, SourceKind
from teiten.execute.postgres.building.tree import BuildTree
from teiten.model.build import BuildSpec

SOURCE = SourceCode(SourceKind.TARBALL, Path("/s.tar"), "s", None, None, "abc", "15.18", True, 1)
SPEC = BuildSpec("/s.tar", ("--without-perl",), "-O3 -march=native")
TOOLS = Tools("gcc", "gcc 12.2.0", ("--without-perl", "--without-readline"), ())


def a_tree() -> BuildTree:
    return BuildTree(Path("/b"), Path("/i/o3"), Path("/b.log"), lambda *_: None)


def test_a_missing_library_is_left_out_and_said() -> None:
    options, notes = without_missing(17, SPEC, lambda one: one.feature == "zlib")
    assert options == ("--without-perl", "--without-readline", "--without-icu")
    assert [note.split()[0] for note in notes] == ["readline", "icu"]
    assert "libicu-dev" in notes[1]


def test_what_the_person_decided_is_not_decided_again() -> None:
    spec = replace(SPEC, configure=("--with-icu", "--without-readline"))
    options, notes = without_missing(17, spec, lambda one: False)
    assert options == ("--with-icu", "--without-readline", "--without-zlib")
    assert len(notes) == 1


def test_icu_is_no_matter_before_16_and_meson_has_words_of_its_own() -> None:
    assert without_missing(15, SPEC, lambda one: one.feature != "icu")[1] == ()
    spec = BuildSpec("/s", meson=True)
    options, _ = without_missing(17, spec, lambda one: one.feature == "icu")
    assert options == ("-Dreadline=disabled", "-Dzlib=disabled", "-Dicu=enabled")


def test_the_flags_go_to_configure_and_contrib_is_built() -> None:
    words = [step.arguments for step in steps(SPEC, TOOLS, a_tree(), 4)]
    assert words[0] == (
        "/b/source/configure", "--prefix=/i/o3", "--without-perl", "--without-readline",
        "CC=gcc", "CFLAGS=-O3 -march=native",
    )  # fmt: skip
    assert words[1:3] == [("make", "-j4"), ("make", "-j4", "-C", "contrib")]
    assert all("DESTDIR=/b/destination" in word for word in words[3:])


def test_without_flags_configure_keeps_its_own() -> None:
    first = steps(replace(SPEC, cflags=None), TOOLS, a_tree(), 1)[0]
    assert not any(word.startswith("CFLAGS") for word in first.arguments)


def test_meson_gets_the_flags_for_the_link_too() -> None:
    first, compile_step, install = steps(replace(SPEC, meson=True), TOOLS, a_tree(), 3)
    assert {"-Dc_args=-O3 -march=native", "-Dc_link_args=-O3 -march=native"} <= set(first.arguments)
    assert compile_step.arguments == ("ninja", "-j3")
    assert "--destdir=/b/destination" in install.arguments


@pytest.mark.parametrize(
    "other",
    [
        (replace(SOURCE, digest="x"), SPEC, TOOLS),
        (SOURCE, replace(SPEC, cflags="-O2"), TOOLS),
        (SOURCE, replace(SPEC, meson=True), TOOLS),
        (SOURCE, SPEC, replace(TOOLS, configure=())),
        (SOURCE, SPEC, replace(TOOLS, compiler_version="gcc 13")),
    ],
)
def test_a_key_tells_builds_apart(other: tuple[SourceCode, BuildSpec, Tools]) -> None:
    assert build_key(*other) != build_key(SOURCE, SPEC, TOOLS)
    moved = replace(SOURCE, path=Path("/elsewhere.tar"), ref="master")
    assert build_key(moved, SPEC, TOOLS) == build_key(SOURCE, SPEC, TOOLS)


def test_progress_counts_compilers_of_make_and_believes_ninja() -> None:
    progress = CompileProgress()
    for line in (
        "make[1]: Entering directory '/b'",
        "gcc -Wall -O2 -I/b -c -o a.o a.c",
        "/usr/bin/clang-14 -O2 -c b.c",
        "gcc -O2 a.o b.o -o a",
    ):
        progress.read(line)
    assert (progress.done, progress.total) == (2, FILES)
    progress.read("[17/2031] Compiling C object x.o")
    assert (progress.done, progress.total) == (17, 2031)


def test_the_fault_is_shown_though_other_jobs_went_on() -> None:
    log = [f"gcc -c {number}.c" for number in range(50)]
    log[20] = "analyze.c:12:3: error: expected ';' before 'return'"
    shown = why_it_failed(log)
    assert shown[:2] == ["gcc -c 19.c", log[20]]
    assert len(shown) == 12
    assert why_it_failed(["one", "", "two"]) == ["one", "two"]
    assert why_it_failed(["configure: error: no acceptable C compiler"])[0].startswith("configure")
