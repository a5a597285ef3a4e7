"""Root starts servers, and programs beside them, where only root and the servers' user can exchange
the folders on the way."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import pytest

from teiten.errors import MachineError, ServerError
from teiten.execute.client.contract import Program
from teiten.execute.client.here import ChildHere
from teiten.execute.postgres.elsewhere import read_directories, require_room
from teiten.execute.postgres.placement import RELATIONS, confirm_placement
from teiten.host.system.held_folder import UnsafePlaceError, exchangeable_way
from teiten.host.system.users import ServerUser
from teiten.model.storage import Part
from teiten.model.units import Seconds
from tests.fixtures.servers import open_folder

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(
        sys.platform == "win32" or os.geteuid() != 0, reason="only root has to take care"
    ),
]
MALLORY = 4_242
NOBODY = pwd.getpwnam("nobody") if sys.platform != "win32" else None


@pytest.fixture
def user() -> ServerUser:
    assert NOBODY is not None
    return ServerUser("nobody", NOBODY.pw_uid, NOBODY.pw_gid)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of root's that all may enter."""
    with open_folder("teiten-exchanged-") as folder:
        yield folder


def given(folder: Path, owner: int | None, mode: int = 0o755) -> Path:
    folder.mkdir()
    folder.chmod(mode)
    os.chown(folder, owner or 0, -1)
    return folder


def test_folders_of_root_and_of_the_servers_user_are_taken(place: Path, user: ServerUser) -> None:
    for folder in (place, given(place / "disk", user.uid), given(place / "sticky", 0, 0o1777)):
        require_room(folder, user)
        assert read_directories([str(folder)], user)[0].exchangeable_at is None


@pytest.mark.parametrize("below", ["", "disk"])
def test_no_server_is_started_where_another_user_could_exchange_its_folder(
    place: Path, user: ServerUser, below: str
) -> None:
    theirs = given(place / "theirs", MALLORY)
    folder = given(theirs / below, 0) if below else theirs
    with pytest.raises(MachineError, match=f"what is in {theirs} is neither root's nor nobody's"):
        require_room(folder, user)
    assert read_directories([str(folder)], user)[0].exchangeable_at == str(theirs)


def test_a_folder_that_others_may_write_is_refused(place: Path, user: ServerUser) -> None:
    folder = given(place / "shared", 0, 0o777)
    assert exchangeable_way(folder, user) == folder
    assert exchangeable_way(given(place / "sticky", MALLORY, 0o1777), user) == place / "sticky"


def test_each_folder_that_a_path_passes_is_looked_at(place: Path, user: ServerUser) -> None:
    """Whatever it comes to: a folder of another user may lead elsewhere the next moment."""
    target, theirs = given(place / "target", 0), given(place / "theirs", MALLORY)
    (place / "direct").symlink_to(target)
    assert exchangeable_way(place / "direct", user) is None
    (theirs / "link").symlink_to(target)
    assert exchangeable_way(theirs / "link", user) == theirs
    (place / "by theirs").symlink_to(theirs / "link")
    assert exchangeable_way(place / "by theirs", user) == theirs
    assert exchangeable_way(theirs / ".." / "target", user) == theirs
    sticky = given(place / "sticky", 0, 0o1777)
    (sticky / "link").symlink_to(target)
    os.chown(sticky / "link", MALLORY, -1, follow_symlinks=False)
    assert exchangeable_way(sticky / "link", user) == sticky / "link"


def test_a_program_starts_in_no_folder_that_a_link_of_the_servers_user_leads_to(
    place: Path, user: ServerUser
) -> None:
    """Python enters the folder as root."""
    secret, theirs = given(place / "secret", 0, 0o700), given(place / "theirs", user.uid)
    (theirs / "link").symlink_to(secret)
    program = Program(
        name="true", path=Path("/bin/true"), arguments=(), folder=place / "evidence",
        output="output", errors="errors", due=Seconds(1.0), environment={"HOME": str(theirs)},
    )  # fmt: skip
    child = ChildHere(program, user)
    assert child.wait(60.0)
    assert child.returncode == 0
    with pytest.raises(UnsafePlaceError):
        ChildHere(replace(program, environment={"HOME": str(theirs / "link")}), user)


class Answers:
    """A connection to a server that names such a file of a table."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows: list[tuple[object, ...]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, query: str, _: object = None) -> Self:
        self.rows = [("t", False, self.path)] if query == RELATIONS else [(16384,)]
        return self

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        return iter(self.rows)

    def fetchone(self) -> tuple[object, ...]:
        return self.rows[0]


def cluster_in(place: Path) -> dict[Part, Path]:
    """A cluster's folders, as placements have them."""
    data = given(place / "data", None)
    folders = {part: place / part.value for part in Part}
    for folder in folders.values():
        if folder != data:
            folder.mkdir()
    (data / "pg_tblspc").mkdir()
    (data / "pg_wal").symlink_to("../wal")
    (data / "pg_tblspc" / "16384").symlink_to("../../temporary")
    (data / "pg_tblspc" / "16385").symlink_to(folders[Part.TABLES])
    (folders[Part.TABLES] / "PG_18").mkdir()
    (folders[Part.TABLES] / "PG_18" / "20000").touch()
    return folders


def placed(expected: dict[Part, Path], path: str) -> dict[str, Any]:
    def connect() -> Any:
        return Answers(path)

    return confirm_placement(connect, expected[Part.DATA], expected)


def test_the_parts_of_a_cluster_are_found_by_its_links(place: Path) -> None:
    expected = cluster_in(place)
    facts = placed(expected, "pg_tblspc/16385/PG_18/20000")
    assert facts["tables"]["files"] == 1
    assert facts["tables"]["device"] == facts["wal"]["device"] != ""


def test_a_path_that_a_server_names_tells_nothing_of_other_files(place: Path) -> None:
    """A file of root's that is there and one that is not: the same is said of both."""
    expected = cluster_in(place)
    secret = given(place / "secret", 0, 0o700)
    (secret / "there").symlink_to(place / "hidden")
    tables = expected[Part.TABLES]
    (tables / "link").symlink_to(secret)
    (expected[Part.DATA] / "pg_tblspc" / "16386").symlink_to(secret)
    said = set()
    for name in ("there", "missing"):
        for path in (f"pg_tblspc/16385/link/{name}", f"pg_tblspc/16386/{name}",
                     f"pg_tblspc/16385/../../../secret/{name}", f"{secret}/{name}"):  # fmt: skip
            with pytest.raises(ServerError) as caught:
                placed(expected, path)
            said.add(caught.value.message.replace(name, "NAME"))
    assert len(said) == 4
    assert not any("hidden" in message for message in said)
