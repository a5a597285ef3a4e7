"""Which installation ``17``, ``system:15``, a path or an alias means."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from teiten.errors import UsageError
from teiten.execute.postgres.installations import resolve
from teiten.execute.postgres.provision.version_requests import VersionRequest, parse_request
from teiten.model.installation import Installation, Source, Version
from tests.fixtures.fake_trees import make_tree


def invented(name: str, source: Source, *, managed: bool, server: bool = True) -> Installation:
    version = Version.parse(name)
    folder = Path("/nowhere") / name
    return Installation(
        name=name,
        version=version,
        source=source,
        bin_directory=folder,
        fingerprint="",
        contrib=frozenset(),
        postgres=folder / "postgres" if server else None,
        initdb=None,
        pgbench=None,
        psql=None,
        managed=managed,
    )


MACHINE = (
    invented("system:18.6", Source.SYSTEM, managed=False),
    invented("18.4", Source.NPM, managed=True),
    invented("maven:18.4", Source.MAVEN, managed=True),
    invented("wheel:18.4", Source.WHEEL, managed=True, server=False),
    invented("17.10", Source.NPM, managed=True),
    invented("17.9", Source.MAVEN, managed=True),
    invented("system:15.18", Source.PATH, managed=False),
    invented("9.6.24", Source.MAVEN, managed=True),
)


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("18", "18.4"),
        ("18.6", "system:18.6"),
        ("system:18", "system:18.6"),
        ("maven:18", "maven:18.4"),
        ("maven:18.4", "maven:18.4"),
        ("npm:18", "18.4"),
        ("17", "17.10"),
        ("17.9", "17.9"),
        ("maven:17", "17.9"),
        ("15", "system:15.18"),
        ("system:15", "system:15.18"),
        ("9.6", "9.6.24"),
        ("9.6.24", "9.6.24"),
        (" 17 ", "17.10"),
    ],
)
def test_a_version_names_an_installation(reference: str, name: str) -> None:
    assert resolve(reference, MACHINE).name == name


def test_an_alias_comes_first() -> None:
    assert resolve("old", MACHINE, {"old": "9.6", "17": "18"}).name == "9.6.24"
    assert resolve("17", MACHINE, {"17": "18"}).name == "18.4"


def test_a_version_that_is_missing_names_the_command_that_installs_it() -> None:
    with pytest.raises(UsageError) as caught:
        resolve("14", MACHINE)
    assert caught.value.message == (
        "no PostgreSQL '14' here. Installed: system:18.6, 18.4, maven:18.4, 17.10, 17.9, "
        "system:15.18, 9.6.24."
    )
    assert caught.value.hint == "install it with: teiten pg install 14"


def test_what_no_package_holds_is_not_said_to_be_installable() -> None:
    with pytest.raises(UsageError) as caught:
        resolve("99", MACHINE)
    assert "hold 9.6 to 18" in caught.value.hint and "99 --build" in caught.value.hint


@pytest.mark.parametrize(
    ("reference", "hint"),
    [
        ("latest", "the newest here is 18.6, so 18"),
        ("8", "two numbers (9.6)"),
        ("19beta1", "teiten pg build 19beta1 --source postgresql-19beta1.tar.bz2"),
        ("v17", "a version stands alone: 17"),
        ("17.x", "a version stands alone: 17"),
        ("17.10.1", "fewer numbers: 17.10"),
        ("17,18", "teiten ab 17 18"),
        ("17.11", "asked by: teiten pg install 17.11"),
        ("npm:9.6", "install it with: teiten pg install --client maven 9.6"),
        ("wheel:17", "install it with: teiten pg install wheel:17"),
    ],
)
def test_a_hint_suggests_what_can_succeed(reference: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(reference, MACHINE)
    assert hint in caught.value.hint


def test_a_wheel_that_there_is_not_is_not_said_to_be_installable() -> None:
    with pytest.raises(UsageError) as caught:
        resolve("wheel:19", MACHINE)
    assert caught.value.hint.startswith("wheels hold wheel:") and "install" not in caught.value.hint


def test_a_prefix_stays_in_the_hint() -> None:
    with pytest.raises(UsageError) as caught:
        resolve("maven:16", MACHINE)
    assert caught.value.hint == "install it with: teiten pg install --client maven 16"
    with pytest.raises(UsageError) as caught:
        resolve("system:16", MACHINE)
    assert caught.value.hint == "teiten pg list shows what is installed"


def test_a_near_minor_version_is_suggested() -> None:
    with pytest.raises(UsageError, match=r"Did you mean '17\.10'\?"):
        resolve("17.11", MACHINE)


def test_an_unknown_name_is_compared_with_aliases() -> None:
    with pytest.raises(UsageError, match="Did you mean 'patched'") as caught:
        resolve("pached", MACHINE, {"patched": "17"})
    assert "alias of the study" in caught.value.hint


def test_an_alias_of_what_is_missing_tells_what_it_stands_for() -> None:
    with pytest.raises(UsageError, match=r"no PostgreSQL 'pg17' \(server old\) here") as caught:
        resolve("old", MACHINE, {"old": "pg17"})
    assert caught.value.hint == "a version stands alone: 17"


def test_nothing_is_installed() -> None:
    with pytest.raises(UsageError, match=r"no PostgreSQL '17' here\. Nothing is installed\."):
        resolve("17", [invented("wheel:17.4", Source.WHEEL, managed=True, server=False)])


@pytest.mark.parametrize("below", ["", "bin", "bin/postgres"])
def test_a_path_names_a_folder_its_bin_or_its_server(
    below: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_directory = make_tree(tmp_path / "own", "16.2")
    found = resolve(str(tmp_path / "own" / below), MACHINE)
    assert (found.source, found.bin_directory) == (Source.NAMED, bin_directory)
    assert found.name == str(tmp_path / "own" / below)
    monkeypatch.chdir(tmp_path)
    assert resolve(f"./own/{below}", MACHINE).postgres == bin_directory / "postgres"


def test_a_path_to_a_known_installation_is_that_one(tmp_path: Path) -> None:
    make_tree(tmp_path / "own", "16.2")
    first = resolve(str(tmp_path / "own"), MACHINE)
    assert resolve(str(tmp_path / "own" / "bin"), [first]) is first


def test_a_path_without_a_server(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no PostgreSQL server in"):
        resolve(str(tmp_path), MACHINE)
    with pytest.raises(UsageError, match="no such path"):
        resolve(str(tmp_path / "missing"), MACHINE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("17", VersionRequest("17")),
        ("18.4", VersionRequest("18", 4)),
        ("9.6", VersionRequest("9.6")),
        ("9.6.24", VersionRequest("9.6", 24)),
        ("npm:17", VersionRequest("17", None, "npm")),
        ("9", None),
        ("18.4.0", None),
        ("0", None),
        ("pip:17", None),
        ("17devel", None),
        ("", None),
    ],
)
def test_the_forms_of_a_version(text: str, expected: VersionRequest | None) -> None:
    assert parse_request(text) == expected


@given(major=st.integers(10, 99), minor=st.integers(0, 99))
def test_a_version_is_accepted_by_its_own_request(major: int, minor: int) -> None:
    version = Version.parse(f"{major}.{minor}")
    for text in (str(version), version.major):
        request = parse_request(text)
        assert request is not None
        assert request.accepts_version(version)
        assert not request.accepts_version(Version(version.number + 10000))
