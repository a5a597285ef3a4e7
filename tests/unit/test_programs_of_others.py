"""As root, what another user may have written runs as the servers' user alone, and gets nothing of
root's; Python imports nothing of the folder that root is in."""

from __future__ import annotations

import json
import os
import re
import tarfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from teiten.errors import BuildError, MachineError, TeitenError, UsageError
from teiten.execute.postgres import parameters
from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, ask_version
from teiten.execute.postgres.building.relinking import COMMAND, OBJECTS, link_again
from teiten.execute.postgres.inspection import (
    ExchangeableError,
    ProgramFolder,
    ask_pg_config,
    inspect_folder,
    search_places,
)
from teiten.execute.postgres.installations import choose_pgbench, resolve, search
from teiten.execute.postgres.modules import module_tools
from teiten.execute.sites.load_generator import encrypting_pgbench, speaks_ssl
from teiten.execute.sites.local import storages
from teiten.execute.sites.remote.agent.machine import HostReader
from teiten.execute.sites.remote.agent.packages import Packages
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import own_python
from teiten.host.system.users import server_user
from teiten.model.build import BuildFacts
from teiten.model.installation import Installation, Source
from teiten.model.units import Bytes, Seconds
from tests.fixtures.fake_trees import SERVER_PROGRAMS, make_tree

SOURCES = Path(__file__).parents[2] / "src" / "teiten"
of_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user"
)
NOTING = """#!/bin/sh
(id -u; pwd; env) > "{notes}/$$"
echo 'postgres (PostgreSQL) 17.4'
exit {code}
"""
"""A program that notes as whom, where and with which environment it runs."""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture
def noting(tmp_path: Path, notes: Path) -> Installation:
    """An installation of which every program notes how it runs."""
    folder = make_tree(tmp_path / "theirs", "17.4", ("postgres", "pgbench", "pg_config"))
    found = inspect_folder(folder, Source.BUILD, BinaryCache(None))
    for name in ("postgres", "pgbench", "pg_config"):
        (folder / name).write_text(NOTING.format(notes=notes, code=0), encoding="ascii")
    return found


QUESTIONS: dict[str, Callable[[Installation], object]] = {
    "--version": lambda theirs: ask_version(theirs.bin_directory / "postgres"),
    "--describe-config": parameters.known_parameters,
    "-C": lambda theirs: list(parameters.refusals("x", theirs, {"work_mem": "1MB"})),
    "pg_config": lambda theirs: ask_pg_config(theirs.bin_directory / "pg_config", "--bindir"),
    "PGXS": module_tools,
    "TLS": lambda theirs: speaks_ssl(theirs.bin_directory / "pgbench"),
    "an inspection": lambda theirs: inspect_folder(
        theirs.bin_directory, Source.BUILD, BinaryCache(None)
    ),
}


@of_root
@pytest.mark.root
@pytest.mark.parametrize("question", QUESTIONS)
def test_each_question_is_put_as_the_servers_user(
    question: str, noting: Installation, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "of root")
    monkeypatch.setenv("TOKEN_OF_ROOT", "of root")
    with suppress(TeitenError):
        QUESTIONS[question](noting)
    noted = [file.read_text(encoding="utf-8").splitlines() for file in notes.iterdir()]
    assert noted, "it was asked"
    for uid, folder, *environment in noted:
        assert uid == str(server_user().uid)
        assert folder == "/"
        assert f"HOME={server_user().home}" in environment
        assert not any("of root" in line for line in environment)


@of_root
@pytest.mark.root
def test_a_server_reads_the_parameters_that_it_is_asked_about(
    noting: Installation, tmp_path: Path
) -> None:
    reading = 'cat "$4/postgresql.conf" >&2; stat -c %a-%u "$4" "$4/postgresql.conf" >&2; exit 1'
    program = tmp_path / "theirs" / "bin" / "postgres"
    program.write_text(f"#!/bin/sh\n{reading}\n", encoding="ascii")
    text = parameters._ask(program, noting, {"work_mem": "1MB"})
    assert text.splitlines() == ["work_mem = '1MB'", "711-0", f"600-{server_user().uid}"]


@of_root
@pytest.mark.root
def test_what_the_servers_user_cannot_enter_is_named(noting: Installation, tmp_path: Path) -> None:
    (tmp_path / "theirs").chmod(0o700)
    with pytest.raises(BrokenBinaryError, match=rf"cannot enter {tmp_path}/theirs"):
        ask_version(noting.bin_directory / "postgres")


@of_root
@pytest.mark.root
def test_a_server_that_is_linked_again_runs_as_the_servers_user(
    noting: Installation, tmp_path: Path, notes: Path
) -> None:
    """What the linker made is the servers' user's, as is a file that a process of his puts there
    the moment after."""
    trojan = tmp_path / "trojan.o"
    trojan.write_text(NOTING.format(notes=notes, code=0), encoding="ascii")
    root = noting.bin_directory.parent
    with tarfile.open(root / OBJECTS, "w:gz") as archive:
        archive.add(trojan, "src/backend/trojan.o")
    (root / COMMAND).write_text(json.dumps(["cp", "trojan.o", "postgres"]), encoding="ascii")
    builds = tmp_path / "builds"
    builds.mkdir()
    made = link_again(noting, 1, builds / "linked-1", server_user(), lambda: None)
    assert made.installation.postgres == builds / "linked-1" / "server" / "bin" / "postgres"
    (noted,) = notes.iterdir()
    assert noted.read_text(encoding="utf-8").startswith(f"{server_user().uid}\n")


def test_kept_objects_that_lead_outside_are_refused(noting: Installation, tmp_path: Path) -> None:
    root = noting.bin_directory.parent
    with tarfile.open(root / OBJECTS, "w:gz") as archive:
        link = tarfile.TarInfo("src")
        link.type, link.linkname = tarfile.SYMTYPE, "a/../../outside"
        archive.addfile(link)
    (root / COMMAND).write_text(json.dumps(["true"]), encoding="ascii")
    (tmp_path / "builds").mkdir()
    with pytest.raises(BuildError, match=r"src links to .*, outside the folder"):
        link_again(noting, 1, tmp_path / "builds" / "linked", server_user(), lambda: None)


BUILT = BuildFacts(
    key="k",
    source="s",
    digest="d",
    commit=None,
    configure=(),
    cflags=None,
    meson=False,
    compiler="cc",
    jobs=1,
    seconds=Seconds(1.0),
)


@of_root
@pytest.mark.root
def test_root_loads_with_no_pgbench_of_a_build(noting: Installation, notes: Path) -> None:
    built = replace(noting, build=BUILT)
    assert choose_pgbench([noting]).path == noting.pgbench
    with pytest.raises(MachineError, match="that of a build is not run by root"):
        choose_pgbench([built])
    with pytest.raises(MachineError, match="no pgbench here speaks SSL"):
        encrypting_pgbench([built])
    assert not list(notes.iterdir())


@pytest.fixture
def of_others(tmp_path: Path) -> Path:
    """The bin of a whole installation below a folder of another user."""
    folder = make_tree(tmp_path / "brew" / "pg", "17.4", (*SERVER_PROGRAMS, "pgbench"))
    os.chown(tmp_path / "brew", 65534, 65534)
    return folder


@of_root
@pytest.mark.root
def test_root_takes_no_program_that_another_user_can_exchange(
    of_others: Path, tmp_path: Path
) -> None:
    workdir = Workdir(tmp_path / "work")
    findings = search(workdir, [ProgramFolder(of_others, Source.PATH)])
    assert findings.installations == ()
    reason = f"({tmp_path / 'brew'} is not root's alone)"
    assert len(findings.broken) == 1 and reason in findings.broken[0]
    with pytest.raises(UsageError, match="is not taken: root takes no program") as caught:
        resolve(str(of_others), ())
    assert reason in caught.value.message and "copy the installation" in (caught.value.hint or "")


@of_root
@pytest.mark.root
@pytest.mark.parametrize("name", ["postgres", "pgbench"])
def test_each_program_that_is_used_is_looked_at(name: str, tmp_path: Path) -> None:
    folder = make_tree(tmp_path / "pg", "17.4", (*SERVER_PROGRAMS, "pgbench"))
    inspect_folder(folder, Source.NAMED, BinaryCache(None))
    (folder / name).chmod(0o777)
    with pytest.raises(ExchangeableError, match=re.escape(f"({folder / name} is not root's")):
        inspect_folder(folder, Source.NAMED, BinaryCache(None))


@of_root
@pytest.mark.root
def test_an_agent_takes_none_either(of_others: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = Packages(AgentFolder())
    with pytest.raises(MachineError, match="on the db host root takes no program") as caught:
        packages.server_in(str(of_others))
    assert "copy the installation" in (caught.value.hint or "")
    monkeypatch.setenv("PATH", str(of_others))
    assert HostReader(AgentFolder()).program("pgbench") is None
    os.chown(of_others.parents[1], 0, 0)
    assert HostReader(AgentFolder()).program("pgbench") == str(of_others / "pgbench")
    assert packages.server_in(str(of_others))["folder"] == str(of_others)


@of_root
@pytest.mark.root
def test_a_system_folder_of_roots_is_taken_as_before(tmp_path: Path) -> None:
    make_tree(tmp_path / "root/usr/local/pgsql", "17.4")
    findings = search(Workdir(tmp_path / "work"), search_places(tmp_path / "root", []))
    assert [found.name for found in findings.installations] == ["system:17.4"]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that is written where a module of the folder that we are in is imported."""
    file = tmp_path / "imported"
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in ("runpy", "json", "teiten", "pip"):
        (folder / f"{name}.py").write_text(f"open({str(file)!r}, 'w')\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    return file


def test_a_storage_is_measured_by_our_own_modules(
    planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storages, "SECONDS", Seconds(0.01))
    monkeypatch.setattr(storages, "EMULATED_SIZE", Bytes(1 << 20))
    no_limit: Any = SimpleNamespace(groups=())
    with suppress(MachineError):  # where the folder has no direct I/O
        storages._measured_inside(no_limit, tmp_path)
    assert not planted.exists()


def test_python_is_started_in_one_way() -> None:
    words = own_python("-m", "pip")
    assert words[1:] == ["-P", "-m", "pip"]
    starting = [
        file.relative_to(SOURCES).as_posix()
        for file in SOURCES.rglob("*.py")
        if re.search(r"(?<!join\()\[sys\.executable", file.read_text(encoding="utf-8"))
    ]
    assert sorted(starting) == ["host/system/processes.py"]
