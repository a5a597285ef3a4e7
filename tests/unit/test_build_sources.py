"""What --source may name: a tarball, a folder, a commit; a digest tells content, not the place."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from teiten.errors import UsageError
from teiten.execute.postgres.building.sources import SourceKind, find_source, unpack
from teiten.model.installation import Version
from tests.fixtures.small_source import commit, git


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "postgresql"
    (folder / "src").mkdir(parents=True)
    configure = folder / "configure"
    configure.write_text("#!/bin/sh\nPACKAGE_VERSION='19devel'\n", encoding="utf-8")
    configure.chmod(0o755)
    (folder / "src" / "a.c").write_text("int a;\n", encoding="utf-8")
    return folder


def test_a_folder_its_copy_and_its_tarball(tree: Path, tmp_path: Path) -> None:
    found = find_source(str(tree))
    assert (found.kind, found.version, found.version_text) == (
        SourceKind.DIRECTORY, Version(190000), "19devel",
    )  # fmt: skip
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy)
    assert find_source(str(copy)).digest == found.digest
    (copy / "src" / "a.c").write_text("int b;\n", encoding="utf-8")
    assert find_source(str(copy)).digest != found.digest
    archive = tmp_path / "postgresql-19devel.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tree, "postgresql-19devel")
    packed = find_source(str(archive))
    assert packed.kind is SourceKind.TARBALL and packed.version == found.version
    assert not packed.generated
    target = tmp_path / "unpacked"
    target.mkdir()
    unpack(packed, target)
    assert (target / "src" / "a.c").read_text() == "int a;\n"
    assert (target / "configure").stat().st_mode & 0o111
    times = {path.stat().st_mtime for path in target.rglob("*")}
    assert len(times) == 1


def test_a_checkout_by_ref_as_it_stands_and_changed(tree: Path, tmp_path: Path) -> None:
    first = commit(tree, "first")
    (tree / "src" / "a.c").write_text("int second;\n", encoding="utf-8")
    second = commit(tree, "second")
    at_first = find_source(f"{tree}@{first[:8]}")
    assert at_first.kind is SourceKind.COMMIT and at_first.commit == first
    clean = find_source(str(tree))
    assert clean.commit == second and clean.digest == find_source(f"{tree}@HEAD").digest
    target = tmp_path / "unpacked"
    target.mkdir()
    unpack(at_first, target)
    assert (target / "src" / "a.c").read_text() == "int a;\n"
    (tree / "src" / "new.c").write_text("int new;\n", encoding="utf-8")
    changed = find_source(str(tree))
    assert changed.kind is SourceKind.WORK_TREE and changed.commit is None
    shutil.rmtree(target)
    target.mkdir()
    unpack(changed, target)
    assert (target / "src" / "new.c").exists() and not (target / ".git").exists()
    assert git(tree, "status", "--porcelain") == "?? src/new.c"
    assert git(tree, "rev-parse", "HEAD") == second


def test_an_at_sign_in_the_path_is_no_ref(tree: Path) -> None:
    first = commit(tree, "first")
    (tree.parent / "with").mkdir()
    moved = tree.rename(tree.parent / "with@sign")
    assert find_source(f"{moved}@{first}").commit == first
    assert find_source(str(moved)).path == moved


def test_what_is_no_source_is_refused_by_name(tree: Path, tmp_path: Path) -> None:
    commit(tree, "first")
    with pytest.raises(UsageError, match="no commit 'nowhere'"):
        find_source(f"{tree}@nowhere")
    with pytest.raises(UsageError, match="no such file or folder"):
        find_source(str(tmp_path / "missing"))
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(UsageError, match="holds no configure"):
        find_source(str(plain))
    with pytest.raises(UsageError, match="is no git checkout"):
        find_source(f"{plain}@HEAD")
    text = tmp_path / "text"
    text.write_text("no tar", encoding="utf-8")
    with pytest.raises(UsageError, match="is no tarball"):
        find_source(str(text))
    (plain / "configure").write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(UsageError, match="names no version"):
        find_source(str(plain))


def test_a_folder_that_was_configured_in_place_cannot_be_built(tree: Path) -> None:
    (tree / "config.status").touch()
    with pytest.raises(UsageError, match="configured in place"):
        find_source(str(tree))
