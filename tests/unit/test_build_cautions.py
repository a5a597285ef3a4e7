"""What a server reports of its build, against what was asked."""

from __future__ import annotations

from dataclasses import replace

from teiten.host.cautions.builds import build_cautions
from teiten.model.build import BuildFacts

ASKED = BuildFacts(
    key="k", source="s", digest="d", commit=None, configure=("--without-icu", "CC=gcc -m64"),
    cflags="-O3 -march=native", meson=False, compiler="gcc (Debian 12.2.0-14+deb12u1) 12.2.0",
)  # fmt: skip
REPORTED = {
    "CONFIGURE": " '--prefix=/i' '--without-icu' 'CC=gcc -m64' 'CFLAGS=-O3 -march=native'",
    "CFLAGS": "-Wall -fwrapv -O3 -march=native",
}
VERSION = (
    "PostgreSQL 15.18 on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14+deb12u1) 12.2.0,"
    " 64-bit"
)


def what(asked: BuildFacts, reported: dict[str, str], version: str = VERSION) -> list[str]:
    return [dict(one.values)["what"] for one in build_cautions("LTO", asked, reported, version)]


def test_a_build_as_asked_has_no_caution() -> None:
    assert what(ASKED, REPORTED) == []
    assert what(replace(ASKED, cflags=None, configure=()), {"CFLAGS": "-O2"}) == []


def test_each_difference_is_named() -> None:
    assert what(ASKED, {**REPORTED, "CFLAGS": "-O2"}) == ["CFLAGS"]
    assert what(ASKED, {**REPORTED, "CONFIGURE": "'--prefix=/i'"}) == ["CONFIGURE"] * 2
    assert what(ASKED, REPORTED, VERSION.replace("gcc (", "clang (")) == ["compiler"]


def test_meson_records_no_options() -> None:
    asked = replace(ASKED, meson=True, configure=("-Dicu=disabled",))
    assert what(asked, {**REPORTED, "CONFIGURE": ""}) == []


def test_meson_names_the_compiler_shortly() -> None:
    asked = replace(ASKED, meson=True)
    short = "PostgreSQL 17.11 on x86_64-linux, compiled by gcc-{}, 64-bit"
    assert what(asked, {}, short.format("12.2.0")) == []
    assert what(asked, {}, short.format("13.1.0")) == ["compiler"]
