"""What an extension's Makefile or a source puts beside what it is to install: root runs none of it,
and an extension replaces no program of the server."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.errors import BuildError
from teiten.execute.postgres.binaries import BinaryCache, hash_file
from teiten.execute.postgres.building.extension import ExtensionCommit, with_extension
from teiten.execute.postgres.inspection import inspect_folder
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation, Source
from tests.fixtures.campaigns import with_own_installations
from tests.fixtures.small_extension import with_pgxs, write_extension
from tests.fixtures.small_source import commit, write_source

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
]
TROJAN = """#!/bin/sh
id -u >> "{notes}"
exec {real} "$@"
"""
"""A program that notes as whom it runs, and is the server for the rest."""


@pytest.fixture
def notes(workdir: Workdir) -> Path:
    file = workdir.root / "notes"
    file.touch()
    file.chmod(0o666)
    return file


@pytest.fixture
def server(workdir: Workdir, installation: Callable[[str], Installation]) -> Installation:
    folder = with_pgxs(workdir.root / "server", installation("17"))
    return inspect_folder(folder / "bin", Source.NAMED, BinaryCache(None))


def extension_with(
    program: str, server: Installation, workdir: Workdir, notes: Path
) -> ExtensionCommit:
    """A commit of an extension that also installs a program."""
    checkout = write_extension(workdir.root / "nap", milliseconds=10)
    text = TROJAN.format(notes=notes, real=server.postgres)
    (checkout / "trojan").write_text(text, encoding="ascii")
    folder = f'"$(DESTDIR){server.bin_directory}"'
    lines = (
        "install: trojan-installed",
        "trojan-installed:",
        f"\tmkdir -p {folder} && cp trojan {folder}/{program} && chmod 755 {folder}/{program}",
    )
    with (checkout / "Makefile").open("a", encoding="ascii") as makefile:
        makefile.write("".join(f"{line}\n" for line in lines))
    return ExtensionCommit(checkout, commit(checkout, "with a program"))


@pytest.mark.parametrize("program", ["postgres", "initdb", "pg_config"])
def test_an_extension_replaces_no_program_of_the_server(
    program: str, server: Installation, workdir: Workdir, notes: Path
) -> None:
    extension = extension_with(program, server, workdir, notes)
    with pytest.raises(BuildError, match=f"the extension installs bin/{program}, a program that"):
        with_extension(server, extension, workdir, jobs=1, say=lambda _: None)
    assert notes.read_text() == ""
    assert [path.name for path in workdir.installations.iterdir()] == [".lock"]


def test_an_extension_may_bring_a_program_of_its_own(
    server: Installation, workdir: Workdir, notes: Path
) -> None:
    extension = extension_with("pg_nap", server, workdir, notes)
    made = with_extension(server, extension, workdir, jobs=1, say=lambda _: None)
    assert "pg_nap" in made.programs and made.postgres is not None and server.postgres is not None
    assert hash_file(made.postgres) == hash_file(server.postgres)
    assert notes.read_text() == ""


def test_what_a_source_installs_is_run_as_the_servers_user(
    workdir: Workdir, installation: Callable[[str], Installation], notes: Path
) -> None:
    teiten, real = with_own_installations(workdir, "17"), installation("17")
    source = write_source(workdir.root / "sources" / "small", real)
    programs = '"$(DESTDIR)@prefix@/bin'
    (source / "trojan").write_text(
        TROJAN.format(notes=notes, real='"$(dirname "$0")/$(basename "$0").real"'), encoding="ascii"
    )
    with (source / "Makefile.in").open("a", encoding="utf-8") as makefile:
        makefile.writelines(
            f'\tcd {programs}" && mv {name} {name}.real\n'
            f'\tinstall -m 755 @source@/trojan {programs}/{name}"\n'
            for name in ("postgres", "pgbench")
            if (real.bin_directory / name).exists()
        )
    flags = ("--configure", "--without-readline --without-zlib", "--jobs", "2")
    result = teiten.run("pg", "build", "mine", "--source", source, *flags)
    assert result.returncode == 0, result.stderr
    assert teiten.run("pg", "list").returncode == 0
    planned = teiten.run("plan", "observe", "--servers", "17,mine", "--profile", "quick")
    assert planned.returncode == 0, planned.stderr
    assert set(notes.read_text().split()) == {str(server_user().uid)}
