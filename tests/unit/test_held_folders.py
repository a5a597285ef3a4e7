"""Folders that another user may change: no link is followed, nothing waits, and the modules that
work in such folders have no other way to their files."""

from __future__ import annotations

import ast
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

import teiten
from teiten.errors import WorkloadError
from teiten.execute.client import shell_commands
from teiten.execute.client.shell_commands import refuse_programs
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from tests.fixtures.path_rules import (
    CALLS,
    FOLDERS,
    has_paths_of_others,
    path_calls,
    unexplained,
)

ROOT = Path(teiten.__file__).parent
TAKES = "def read(data_directory: Path) -> None:\n    {code}"


@cache
def modules() -> dict[str, ast.Module]:
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in ROOT.rglob("*.py")
    }


@pytest.mark.same
def test_every_call_by_a_path_has_a_reason() -> None:
    lacking = {
        name: calls for name, tree in modules().items() if (calls := unexplained(name, tree))
    }
    assert lacking == {}, "use host/system/held_folder.py, or say in path_rules.py why it is safe"


@pytest.mark.same
def test_no_reason_is_left_over() -> None:
    for name, reasons in CALLS.items():
        listed = {call for calls in reasons.values() for call in calls}
        assert has_paths_of_others(name, modules()[name]), name
        assert listed == set(path_calls(modules()[name])), name
    for beginning in FOLDERS:
        assert any(name.startswith(beginning) for name in modules()), beginning


@pytest.mark.parametrize(
    "code",
    [
        "path.open('rb')",
        "open(path)",
        "os.open(path, 0)",
        "path.write_text('')",
        "shutil.rmtree(path)",
        "path.unlink(missing_ok=True)",
        "Path.unlink(path)",
        "os.chown(path, 1, 1)",
        "path.mkdir(parents=True)",
        "(folder / name).rename(other)",
        "path.replace(other)",
        "tempfile.mkstemp(dir=folder)",
        "tempfile.TemporaryFile(dir=folder)",
        "tempfile.TemporaryDirectory(dir=folder)",
        "spawn(words, cwd=folder)",
        "subprocess.run(words, cwd=folder)",
        "from shutil import rmtree",
        "list(folder.iterdir())",
        "open(path, 'w')",
        "path.with_suffix('.part').write_bytes(content)",
        "path.rmdir()",
        "path.rename(target)",
        "FileLock(path)",
        "pa.OSFile(str(path), 'wb')",
        "sqlite3.connect(path)",
    ],
)
@pytest.mark.parametrize(
    "module",
    [
        "execute/postgres/new.py",
        "kinds/procedure/load.py",
        "cli/verbs/new.py",
        "export/new.py",
        "ledger/new.py",
        "report/render/new.py",
        "datasets/ssb/rows/files.py",
    ],
)
def test_each_call_is_seen_where_paths_of_others_are_at_hand(module: str, code: str) -> None:
    assert unexplained(module, ast.parse(TAKES.format(code=code)))


@pytest.mark.parametrize(
    "code",
    [
        "held.unlink(name)",
        "held.read(name, 10)",
        "text.replace('a', 'b')",
        "HeldFolder.open(path)",
        "tempfile.TemporaryFile()",
        "shutil.which(name)",
        "path.is_dir()",
        "Ledger.open(folder)",
        "held.rename(name, new)",
        "write_below(target, name, content)",
    ],
)
def test_what_reaches_no_file_by_a_path_needs_no_reason(code: str) -> None:
    assert not unexplained("execute/postgres/new.py", ast.parse(TAKES.format(code=code)))


def test_a_new_room_needs_a_reason() -> None:
    assert unexplained("execute/new.py", ast.parse("path.write_text('')"))
    assert not unexplained("execute/steps.py", ast.parse("path.write_text('')"))


@pytest.fixture
def held(tmp_path: Path) -> Iterator[HeldFolder]:
    (tmp_path / "held").mkdir()
    (tmp_path / "other").write_text("other")
    with HeldFolder.open(tmp_path / "held") as held:
        yield held


def put(path: Path, kind: str) -> None:
    if kind == "a symbolic link":
        path.symlink_to(path.parents[1] / "other")
    elif kind == "a FIFO":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    else:
        before = Path.cwd()
        os.chdir(path.parent)  # a socket's path may be long
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
        os.chdir(before)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has neither FIFOs nor these sockets")
@pytest.mark.parametrize("kind", ["a symbolic link", "a FIFO", "a folder", "a socket"])
def test_only_plain_files_are_used(held: HeldFolder, kind: str) -> None:
    path = held.path / "name"
    put(path, kind)
    with pytest.raises(UnsafePlaceError, match=f"name is {kind}, not a plain file"):
        held.read("name", 100)
    with pytest.raises(UnsafePlaceError, match=f"name is {kind}, not a plain file"):
        held.append_to("name")
    if kind == "a folder":
        with pytest.raises(UnsafePlaceError):
            held.write("name", b"new")
        assert [name for name, _ in held.entries()] == ["name"]
    else:
        with pytest.raises(UnsafePlaceError, match=f"name is {kind}, not a folder"):
            held.inner("name")
        held.write("name", b"new", mode=0o640)
        assert held.read("name", 3) == b"new"
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    held.empty()
    assert held.entries() == []
    assert (held.path.parent / "other").read_text() == "other"


def test_it_stays_the_folder_that_was_opened(held: HeldFolder) -> None:
    held.path.rename(held.path.with_name("moved"))
    held.path.mkdir()
    held.write("name", b"here")
    assert not list(held.path.iterdir())
    assert (held.path.with_name("moved") / "name").read_bytes() == b"here"


def test_a_large_file_is_not_read(held: HeldFolder) -> None:
    with held.create("sparse") as file:
        file.truncate(1 << 40)
    with pytest.raises(UnsafePlaceError, match="larger than 1,000 bytes"):
        held.read("sparse", 1000)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc"])
def test_a_name_is_no_path(held: HeldFolder, name: str) -> None:
    with pytest.raises(ValueError, match="is not the name of something"):
        held.write(name, b"")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="is about root")
def test_root_follows_only_roots_links(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    HeldFolder.open(tmp_path / "link").close()
    with pytest.raises(UnsafePlaceError, match="is a symbolic link, not a folder"):
        HeldFolder.open_itself(tmp_path / "link")
    os.lchown(tmp_path / "link", 65534, 65534)
    with pytest.raises(UnsafePlaceError, match="link is a link of another user"):
        HeldFolder.open(tmp_path / "link")


@pytest.mark.parametrize(
    "text",
    [
        r"\shell touch x",
        r"\setshell n echo 1",
        r"SELECT 1; \SHELL touch x",
        "\\\t shell touch x",
        "\\\\\nshell touch x",
    ],
)
def test_root_has_pgbench_run_no_programs(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_commands, "own_uid", lambda: 1000)
    refuse_programs("mine.sql", text)
    monkeypatch.setattr(shell_commands, "own_uid", lambda: 0)
    refuse_programs("mine.sql", r"\set shell 1" + "\nSELECT :shell;")
    with pytest.raises(WorkloadError, match=r"script mine\.sql: pgbench would run a program"):
        refuse_programs("mine.sql", text)


def test_what_the_system_refuses_names_the_whole_path(tmp_path: Path) -> None:
    """So that it can be told whose folder is in the way: a descriptor's names are relative."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    with HeldFolder.open(tmp_path) as held:
        cases: tuple[tuple[Callable[[], object], str], ...] = (
            (lambda: held.make("folder"), "folder"),
            (lambda: held.inner("none"), "none"),
            (lambda: held.read_file("none"), "none"),
            (lambda: held.create("folder"), "folder"),
            (lambda: held.read_link("none"), "none"),
            (lambda: held.remove_folder("folder"), "folder"),
            (lambda: held.unlink("folder"), "folder"),
        )
        for refused, name in cases:
            with pytest.raises(OSError) as caught:
                refused()
            assert caught.value.filename == str(tmp_path / name)


KILLED_WHILE_WRITING = """
import os, signal, sys
from pathlib import Path
from teiten.host.system.held_folder import HeldFolder

HeldFolder._rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with HeldFolder.open(Path(sys.argv[1])) as held:
    held.write("note", b"of what is made next")
"""


def test_a_file_that_a_killed_process_was_writing_is_removed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (unfinished,) = tmp_path.iterdir()
    living = tmp_path / f".teiten-{os.getpid()}-0123abcd"
    stranger = tmp_path / ".teiten-notes"
    for kept in (living, stranger):
        kept.write_text("")
    with HeldFolder.open(tmp_path) as held:
        held.remove_unfinished()
        assert unfinished.exists(), "a process of another container may be writing it"
        os.utime(unfinished, (0, 0))
        held.remove_unfinished()
    assert sorted(tmp_path.iterdir()) == sorted([living, stranger])
    assert unfinished.name.startswith(".teiten-")
