"""Builds in a study file, ``--source``, and the study compiler-flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.analysis.claims.outcomes import in_print
from teiten.analysis.model.claims import ClaimStanding
from teiten.claims.catalogue import claims_of
from teiten.errors import TeitenError, UsageError
from teiten.model.build import BuildSpec
from teiten.study.load import commented_copy, load_study

STUDY = """
[study]
name = "mine"
title = "Mine"
question = "Is it faster?"

[factors]
server = ["plain", "tuned"]
clients = [1]

[servers]
tuned = { server = "asserts", "guc:work_mem" = "64MB" }

[builds.plain]
source = "postgresql"

[builds.asserts]
configure = "--enable-cassert 'CC=gcc -m64'"
cflags = "-O2 -g"

[builds.unused]
meson = true

[[workloads]]
name = "select-only"
title = "One row"
script = "select-only"
scale = 1
changes_data = false
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_builds_are_those_that_a_level_means(study: Path) -> None:
    loaded = load_study(str(study), source="/sources/postgresql@REL_17_0")
    assert dict(loaded.builds) == {
        "plain": BuildSpec(str(study.parent / "postgresql")),
        "asserts": BuildSpec(
            "/sources/postgresql@REL_17_0", ("--enable-cassert", "CC=gcc -m64"), "-O2 -g"
        ),
    }
    assert loaded.overrides == ("builds.source=/sources/postgresql@REL_17_0",)


def test_a_flag_changes_a_build(study: Path) -> None:
    changes = ["builds.asserts.cflags=-O3 -flto", "builds.asserts.source=/s.tar"]
    loaded = load_study(str(study), overrides=changes)
    assert dict(loaded.builds)["asserts"] == BuildSpec(
        "/s.tar", ("--enable-cassert", "CC=gcc -m64"), "-O3 -flto"
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[builds.unused]", "[builds.17]", "reads like a version"),
        ("[builds.unused]", "[builds.tuned]", "also an alias"),
        ("cflags =", "cflag =", "Did you mean 'cflags'?"),
        ("meson = true", 'meson = "yes"', "must be true or false"),
    ],
)
def test_a_wrong_build_is_named_with_its_line(study: Path, old: str, new: str, said: str) -> None:
    study.write_text(STUDY.replace(old, new), encoding="utf-8")
    with pytest.raises(TeitenError) as caught:
        load_study(str(study), source="/s.tar")
    assert said in caught.value.message
    assert f"{study}:" in caught.value.message


def test_a_source_is_asked_for_where_it_is_missing(study: Path) -> None:
    assert dict(load_study(str(study)).builds)["asserts"].source is None  # init and show work
    with pytest.raises(UsageError, match="--source: the study builds no server"):
        load_study("observe", source="/s.tar")
    with pytest.raises(UsageError, match="unknown key of a build"):
        load_study(str(study), overrides=["builds.asserts.cflag=-O3"])


def test_compiler_flags_is_the_study_of_2013_in_todays_terms() -> None:
    study = load_study("compiler-flags", profile="quick", source="/s.tar")
    flags = {name: spec.cflags for name, spec in study.builds}
    assert list(flags) == ["O2", "O2-vector", "O3-native", "LTO"]
    assert flags["O2-vector"] == "-O2 -msse4.1 -funroll-loops -ftree-vectorize"
    assert study.conclusive and not study.replicates and study.contrast == "server"
    (checksums,) = (factor for factor in study.factors if factor.name == "checksums")
    assert checksums.levels == ("on",)
    published = load_study("compiler-flags", profile="published", source="/s.tar")
    assert published.workloads[0].data.scale == 1000
    assert "[builds.LTO]" in commented_copy("compiler-flags")


def test_claims_of_flags_are_kept_by_their_own_table() -> None:
    claims = claims_of("compiler-flags")
    assert len(claims) == 2
    for claim in claims:
        check = in_print(claim)
        assert check is not None and check.standing is ClaimStanding.REPRODUCED
        assert claim.needs.servers == () and claim.needs.factor is None
