"""A server's private socket folder and its port."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.access import blocking_folder, require_access
from teiten.execute.postgres.marker import MARKER_NAME, Kind, new_folder, remove_marked
from teiten.execute.postgres.sockets import (
    LONGEST_PATH,
    choose_port,
    link_socket,
    new_socket_directory,
    remove_socket_directory,
)
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.users import ServerUser

OURSELVES = ServerUser("ourselves", None, None)
SOMEBODY = ServerUser("somebody", 54_321, 54_321)


@pytest.fixture
def temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return tmp_path


def test_it_is_ours_alone_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
        folder = new_socket_directory(OURSELVES)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        assert (folder.parent / MARKER_NAME).exists()
        (folder / ".s.PGSQL.5432").touch()
        remove_socket_directory(folder)
        assert not folder.parent.exists()


def test_a_path_that_is_too_long_is_told(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = temporary / ("x" * LONGEST_PATH)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with pytest.raises(MachineError, match=f"longer than {LONGEST_PATH} bytes") as caught:
        new_socket_directory(OURSELVES)
    assert caught.value.hint == "set TMPDIR to a shorter folder"
    assert list(long.iterdir()) == []


def test_a_folder_that_is_not_marked_is_left(temporary: Path) -> None:
    (temporary / ".s.PGSQL.5432").touch()
    remove_socket_directory(temporary)
    assert (temporary / ".s.PGSQL.5432").exists()


def test_a_taken_port_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(MachineError, match=f"port {port} is taken"):
            choose_port(port)
    assert choose_port(port) == port
    assert 1024 <= choose_port(None) <= 65535


def test_a_folder_that_another_user_cannot_enter_is_named(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    (closed / "inside").mkdir(parents=True)
    closed.chmod(0o700)
    assert blocking_folder(closed / "inside", OURSELVES) is None
    blocking = blocking_folder(closed / "inside", SOMEBODY)
    assert blocking is not None
    with pytest.raises(MachineError, match=f"somebody cannot enter {blocking}") as caught:
        require_access(closed / "inside", SOMEBODY)
    assert f"chmod o+x {blocking}" in caught.value.hint


def test_only_what_is_marked_is_removed(tmp_path: Path) -> None:
    theirs, ours, link = tmp_path / "theirs", tmp_path / "ours", tmp_path / "link"
    theirs.mkdir()
    (theirs / "letter.txt").touch()
    new_folder(ours, Kind.CLUSTER)
    link.symlink_to(ours)
    (ours / "outside").symlink_to(theirs)
    for folder in (theirs, link):
        with pytest.raises(UsageError, match="was not made by Teiten"):
            remove_marked(folder)
    remove_marked(ours)
    assert not ours.exists()
    assert os.listdir(theirs) == ["letter.txt"]  # noqa: PTH208 - what a link led to stays
    remove_marked(ours)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has servers of another user")
@pytest.mark.parametrize(
    "there", ["socket", "link", "file", "FIFO", "folder", "of root", "nothing"]
)
def test_a_second_way_to_a_socket_leads_to_that_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")  # which somebody can enter
    folder = new_socket_directory(SOMEBODY)
    path = folder / ".s.PGSQL.5432"
    with socket.socket(socket.AF_UNIX) as theirs, socket.socket(socket.AF_UNIX) as other:
        other.bind(str(tmp_path / "other"))
        put: dict[str, Callable[[], object]] = {
            "socket": lambda: theirs.bind(str(path)),
            "link": lambda: path.symlink_to(tmp_path / "other"),
            "file": path.touch,
            "FIFO": lambda: os.mkfifo(path),
            "folder": path.mkdir,
            "of root": lambda: theirs.bind(str(path)),
            "nothing": lambda: None,
        }
        put[there]()
        if there not in ("of root", "nothing"):
            os.chown(path, SOMEBODY.uid or 0, SOMEBODY.gid or 0, follow_symlinks=False)
        if there != "socket":
            with pytest.raises(UnsafePlaceError, match="is not the socket of a server of somebody"):
                link_socket(folder, 5432, SOMEBODY)
        else:
            theirs.listen()
            entrance = link_socket(folder, 5432, SOMEBODY)
            assert stat.S_IMODE(entrance.stat().st_mode) == 0o700
            path.unlink()
            path.symlink_to(tmp_path / "other")
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(str(entrance / path.name))  # other does not listen
    if there == "folder":
        path.rmdir()
    remove_socket_directory(folder)
    assert not folder.parent.exists()
