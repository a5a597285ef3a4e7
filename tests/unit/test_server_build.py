"""How a server was built: read from its binary, told, and cautioned about."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.execute.postgres.inspection import read_build
from teiten.host.cautions.builds import cautions_of_builds, reported_build
from teiten.model.build import ServerBuild, short_compiler

CFLAGS = "-Wall -fno-strict-aliasing -fwrapv {} -DMAP_HUGETLB=0x40000"


def built(
    flag: str = "-O2", compiler: str = "gcc (GCC) 12.2.0", configure: str = "'--with-icu'"
) -> ServerBuild:
    return ServerBuild(compiler, CFLAGS.format(flag), configure)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "gcc 12.2.0"),
        ("gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0", "gcc 7.5.0"),
        ("gcc (GCC) 4.4.7 20120313 (Red Hat 4.4.7-23)", "gcc 4.4.7"),
        ("Ubuntu clang version 17.0.6 (9ubuntu1)", "clang 17.0.6"),
        ("aarch64-linux-gnu-gcc-12.2.0", "gcc 12.2.0"),
        ("Visual C++ build 1937", "Visual C++ build 1937"),
    ],
)
def test_compilers_are_told_shortly(text: str, short: str) -> None:
    assert short_compiler(text) == short


def test_the_last_flag_holds() -> None:
    assert built("-g -O2 -Os").optimisation == "-Os"
    assert built("").optimisation == "-O0"
    assert ServerBuild(None, None, None).optimisation is None
    assert built("-flto=auto").link_time_optimisation
    assert built("-flto -fno-lto").link_time_optimisation is False
    assert built(configure="'--with-llvm' 'CFLAGS=-O2 x'").jit
    assert built(configure="'--enable-cassert' '--disable-cassert'").assertions is False
    assert built(configure="").assertions is None
    assert built(configure="'--prefix=/x'").icu is None


def test_a_binary_tells_what_was_compiled_into_it(tmp_path: Path) -> None:
    flags, options = CFLAGS.format("-Os"), " '--prefix=/x' '--with-icu' 'CFLAGS=-Os -g'"
    version = "PostgreSQL 17.10 on x86_64-linux, compiled by gcc (GCC) 7.5.0, 64-bit"
    program = tmp_path / "postgres"
    texts = ("-fno-strict-aliasing?", "must be one of '--single'", flags, options)
    content = b"\x7fELF\0" + b"\0".join(text.encode() for text in texts)
    program.write_bytes(content + b"\0\xcd\xe4?" + version.encode() + b"\0end\0")
    found = read_build(program)
    assert found is not None
    assert (found.compiler, found.configure) == ("gcc (GCC) 7.5.0", options.strip())
    assert found.told() == "gcc 7.5.0 -Os"
    program.write_bytes(b"\x7fELF nothing")
    assert read_build(program) == ServerBuild(None, None, None)
    assert read_build(tmp_path / "missing") is None


def codes(**builds: ServerBuild) -> dict[str, str]:
    found = cautions_of_builds(builds)
    return {one.code: dict(one.values)["builds"] for one in found}


def test_like_builds_that_people_run_have_no_caution() -> None:
    assert codes(old=built(), new=built(compiler="gcc (Debian 12.2.0-1) 12.2.0")) == {}
    assert codes(old=built(), new=ServerBuild(None, None, None)) == {}


def test_unlike_builds_are_told_with_what_differs() -> None:
    assert codes(old=built("-Os"), new=built()) == {
        "builds-differ": "old: gcc 12.2.0 -Os; new: gcc 12.2.0 -O2",
        "built-slow": "old: gcc 12.2.0 -Os",
    }
    assert codes(old=built(), new=built(configure="'--with-llvm'")) == {
        "builds-differ": "old: gcc 12.2.0 -O2; new: gcc 12.2.0 -O2 --with-llvm"
    }


def test_two_builds_for_size_are_alike_and_still_no_servers_that_people_run() -> None:
    assert set(codes(old=built("-Os"), new=built("-Os"))) == {"built-slow"}
    asserting = built(configure="'--enable-cassert'")
    assert set(codes(old=asserting, new=asserting)) == {"built-with-assertions"}


def test_a_running_server_says_the_same() -> None:
    reported = {"CFLAGS": CFLAGS.format("-Os"), "CONFIGURE": " '--with-icu'"}
    version = "PostgreSQL 18.4 on x86_64-linux, compiled by gcc (GCC) 12.2.0, 64-bit"
    assert reported_build(reported, version) == built("-Os")
    assert reported_build({}, "PostgreSQL 18.4") == ServerBuild(None, None, None)
