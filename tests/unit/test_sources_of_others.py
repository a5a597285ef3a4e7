"""A source that root builds may be another user's, who exchanges what is in it while root reads,
and whose checkout has a configuration of his own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.building import sources
from teiten.execute.postgres.building.sources import SourceKind, find_source, unpack
from teiten.host.system.users import server_user
from tests.fixtures.servers import open_folder
from tests.fixtures.small_source import commit, git
from tests.fixtures.stranger import SECRET, nothing_hangs

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(
        sys.platform == "win32" or os.geteuid() != 0, reason="only root has to take care"
    ),
]
MALLORY = 4_242
FILTER = 'sh -c "id -u >> {notes}; cat"'


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder of root's that all may enter, with a file that is root's alone."""
    with open_folder("teiten-sources-") as folder:
        (folder / "secret").mkdir(mode=0o700)
        (folder / "secret" / "a.c").write_text(SECRET)
        yield folder


@pytest.fixture
def tree(place: Path) -> Path:
    """Mallory's source."""
    folder = place / "mallory" / "postgresql"
    (folder / "src").mkdir(parents=True)
    (folder / "configure").write_text("#!/bin/sh\nPACKAGE_VERSION='19devel'\n", encoding="utf-8")
    (folder / "src" / "a.c").write_text("int a;\n", encoding="utf-8")
    give(place / "mallory", MALLORY)
    return folder


def give(folder: Path, owner: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner, owner, follow_symlinks=False)


@pytest.fixture
def target(place: Path) -> Path:
    folder = place / "target"
    folder.mkdir()
    return folder


def copied(folder: Path) -> str:
    files = (path for path in folder.rglob("*") if path.is_file())
    return "".join(path.read_text() for path in files)


def test_a_source_of_another_user_is_copied(tree: Path, target: Path) -> None:
    (tree / "src" / "link").symlink_to("a.c")
    os.chown(tree / "src" / "link", MALLORY, MALLORY, follow_symlinks=False)
    (tree / "src" / "of roots").touch()
    unpack(find_source(str(tree)), target)
    assert (target / "src" / "a.c").read_text() == "int a;\n"
    assert (target / "src" / "link").readlink() == Path("a.c")
    assert (target / "src" / "of roots").exists()


def test_a_second_name_of_a_file_of_roots_is_not_read(tree: Path) -> None:
    (tree / "b.c").hardlink_to(tree.parents[1] / "secret" / "a.c")
    with pytest.raises(UsageError, match=r"b\.c belongs to user 0"):
        find_source(str(tree))


@pytest.mark.parametrize("name", ["b.c", "configure"])
def test_a_fifo_makes_nobody_wait(tree: Path, name: str) -> None:
    (tree / name).unlink(missing_ok=True)
    os.mkfifo(tree / name)
    with nothing_hangs(60), pytest.raises(UsageError, match=r"is a FIFO|holds no configure"):
        find_source(str(tree))


@pytest.mark.parametrize("name", ["src/a.c", "../../secret/a.c"])
def test_what_is_exchanged_while_root_copies_is_not_followed(
    tree: Path, target: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    source = find_source(str(tree))
    (tree / "src").rename(tree / "away")
    (tree / "src").symlink_to(tree.parents[1] / "secret")
    monkeypatch.setattr(sources, "_files", lambda *_: iter([name]))
    with pytest.raises(MachineError, match="cannot be copied"):
        unpack(source, target)
    assert SECRET not in copied(target)


def test_a_link_that_is_copied_leads_root_nowhere(
    tree: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is a link, and then a folder."""
    secret = tree.parents[1] / "secret"
    source = find_source(str(tree))
    (tree / "away").mkdir()
    (tree / "away" / "new").symlink_to("/")
    (tree / "inner").symlink_to(secret)

    def names(*_: object) -> Iterator[str]:
        yield "inner"
        (tree / "inner").unlink()
        (tree / "away").rename(tree / "inner")
        yield "inner/new"

    monkeypatch.setattr(sources, "_files", names)
    with pytest.raises(MachineError, match="cannot be copied"):
        unpack(source, target)
    assert [path.name for path in secret.iterdir()] == ["a.c"]


@pytest.fixture
def notes(place: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The numbers of the users as whom the filter of the checkout has run, which git asks for a
    file that was changed. Root trusts any checkout."""
    file = place / "notes"
    file.touch()
    file.chmod(0o666)
    (place / "home").mkdir()
    (place / "home" / ".gitconfig").write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(place / "home"))
    (tree / ".gitattributes").write_text("*.c filter=noting\n", encoding="utf-8")
    commit(tree, "first")
    git(tree, "config", "filter.noting.clean", FILTER.format(notes=file))
    (tree / "src" / "a.c").write_text("int b;\n", encoding="utf-8")
    return file


def test_a_checkouts_filters_run_as_its_owner(tree: Path, notes: Path, target: Path) -> None:
    give(tree.parent, MALLORY)
    source = find_source(str(tree))
    assert source.kind is SourceKind.WORK_TREE
    unpack(source, target)
    assert (target / "src" / "a.c").read_text() == "int b;\n"
    assert set(notes.read_text().split()) == {str(MALLORY)}
    assert find_source(f"{tree}@HEAD").kind is SourceKind.COMMIT


def test_they_run_as_the_servers_user_where_others_could_exchange_a_checkout_of_roots(
    tree: Path, notes: Path
) -> None:
    give(tree, 0)
    assert find_source(str(tree)).kind is SourceKind.WORK_TREE
    assert set(notes.read_text().split()) == {str(server_user().uid)}


def test_they_run_as_root_where_the_checkout_is_roots_alone(tree: Path, notes: Path) -> None:
    give(tree.parent, 0)
    assert find_source(str(tree)).kind is SourceKind.WORK_TREE
    assert set(notes.read_text().split()) == {"0"}
