"""Folders that another user may change: no link is followed, nothing waits, and the modules that
work in such folders have no other way to their files."""

from __future__ import annotations

import ast
import os
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import teiten
from teiten.errors import WorkloadError
from teiten.execute.client import shell_commands
from teiten.execute.client.shell_commands import refuse_programs
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError

ROOT = Path(teiten.__file__).parent
IN_FOLDERS_OF_OTHERS = (
    "execute/postgres/cluster.py",
    "execute/postgres/initdb.py",
    "execute/postgres/marker.py",
    "execute/postgres/remains.py",
    "execute/postgres/sockets.py",
    "execute/postgres/startup.py",
    "execute/postgres/sweep.py",
    "execute/postgres/usage.py",
    "execute/postgres/templates/build.py",
    "execute/postgres/templates/clone.py",
    "execute/postgres/templates/linked.py",
    "execute/sites/cluster_node.py",
    "execute/sites/cluster_site.py",
    "execute/sites/local/cluster.py",
    "execute/sites/local/clusters.py",
    "execute/sites/remote/agent/clusters.py",
    "host/system/caches.py",
)
OF_PATHS = frozenset(
    {"chmod", "hardlink_to", "lchmod", "read_bytes", "read_text", "rmdir", "symlink_to", "touch",
     "write_bytes", "write_text"}
)  # fmt: skip
OF_OS = frozenset(
    {"chmod", "chown", "lchown", "link", "open", "remove", "removedirs", "rename", "replace",
     "rmdir", "symlink", "truncate", "unlink", "utime", "walk"}
)  # fmt: skip
ALLOWED = {"switch.write_text"}
"""/proc/sys/vm/drop_caches."""


def raw_ways(tree: ast.AST) -> Iterator[str]:
    """The calls that reach a file by its path."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "open":
                yield "open"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of, name = ast.unparse(node.func.value), node.func.attr
            without_name = not node.args  # a held folder's own methods are told a name
            if (
                of == "shutil"
                or (of == "os" and name in OF_OS)
                or name in OF_PATHS
                or (name == "open" and of not in ("HeldFolder", "os"))
                or (name in ("unlink", "rename") and without_name)
            ):
                yield f"{of}.{name}"


@pytest.mark.parametrize("name", IN_FOLDERS_OF_OTHERS)
def test_files_of_others_are_reached_by_held_folders_alone(name: str) -> None:
    found = set(raw_ways(ast.parse((ROOT / name).read_text(encoding="utf-8"))))
    assert found <= ALLOWED, f"{name}: use host.held_folder"


@pytest.mark.parametrize(
    "code",
    [
        "path.open('rb')",
        "open(path)",
        "os.open(path, 0)",
        "path.write_text('')",
        "shutil.rmtree(path)",
        "path.unlink(missing_ok=True)",
        "os.chown(path, 1, 1)",
    ],
)
def test_each_raw_way_is_seen(code: str) -> None:
    assert list(raw_ways(ast.parse(code)))


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
