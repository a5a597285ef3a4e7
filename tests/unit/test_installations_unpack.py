"""Unpacking what others packed: nothing outside the folder, modes that every user can read."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, make_links, unpack_tar


@pytest.fixture(autouse=True)
def narrow_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def pack(path: Path, *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:xz") as tar:
        for member in members:
            member.size = 3 if member.isreg() else 0
            tar.addfile(member, io.BytesIO(b"abc") if member.isreg() else None)
    return path


def member(
    name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o600
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    return info


def test_files_folders_and_links_with_open_modes(tmp_path: Path) -> None:
    archive = pack(
        tmp_path / "a.txz",
        member("package/native/bin", tarfile.DIRTYPE, mode=0o700),
        member("package/native/bin/postgres", mode=0o4711),
        member("package/native/lib/libpq.so.5", tarfile.SYMTYPE, "libpq.so.5.18"),
        member("package/native/lib/libpq.so.5.18"),
        member("package/native/lib/same", tarfile.LNKTYPE, "package/native/lib/libpq.so.5.18"),
        member("package/README.md"),
    )
    target = tmp_path / "out"
    unpack_tar(archive, target, "package/native")
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*")) == [
        "bin",
        "bin/postgres",
        "lib",
        "lib/libpq.so.5",
        "lib/libpq.so.5.18",
        "lib/same",
    ]
    assert (target / "bin/postgres").stat().st_mode & 0o7777 == 0o755
    assert (target / "lib/libpq.so.5.18").stat().st_mode & 0o7777 == 0o644
    assert (target / "lib").stat().st_mode & 0o7777 == 0o755
    assert (target / "lib/libpq.so.5").readlink() == Path("libpq.so.5.18")
    assert (target / "lib/same").read_bytes() == b"abc"


@pytest.mark.parametrize(
    "evil",
    [
        member("../outside"),
        member("/etc/outside"),
        member("a/../../outside"),
        member("C:/outside"),
        member("..\\outside"),
        member("link", tarfile.SYMTYPE, "../outside"),
        member("link", tarfile.SYMTYPE, "/etc/passwd"),
        member("link", tarfile.LNKTYPE, "../outside"),
        member("link", tarfile.LNKTYPE, "missing"),
        member("device", tarfile.CHRTYPE),
        member("pipe", tarfile.FIFOTYPE),
    ],
    ids=lambda info: f"{info.name}->{info.linkname or info.type.decode()}",
)
def test_nothing_is_written_outside(evil: tarfile.TarInfo, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(UnsafeArchiveError):
        unpack_tar(pack(tmp_path / "a.txz", member("good"), evil), target)
    assert {path.name for path in tmp_path.iterdir()} == {"a.txz", "out"}
    assert {path.name for path in target.iterdir()} == {"good"}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a.txz", member("lib", tarfile.SYMTYPE, "."), member("lib/file"))
    with pytest.raises(UnsafeArchiveError, match="lib is there twice"):
        unpack_tar(archive, tmp_path / "out")


@pytest.mark.parametrize(
    "links",
    [
        [("l", "f/../outside"), ("f", ".")],
        [("a/l", "f/../../outside"), ("a/f", ".")],
        [("f", "."), ("f/l", "../outside")],
        [("a/f", ".."), ("a/f/l", "..")],
        [("l", "a/../../outside")],
        [("l", "")],
        [("l", "/")],
        [("l", "..")],
    ],
    ids=str,
)
def test_links_do_not_lead_outside_together(links: list[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    members = [member(name, tarfile.SYMTYPE, target) for name, target in links]
    target = tmp_path / "out"
    with pytest.raises(UnsafeArchiveError):
        unpack_tar(pack(tmp_path / "a.txz", member("a", tarfile.DIRTYPE), *members), target)
    for path in target.rglob("*"):
        assert path.resolve().is_relative_to(target)
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("first", [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE])
@pytest.mark.parametrize("second", [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE])
def test_what_is_there_twice_is_refused(first: bytes, second: bytes, tmp_path: Path) -> None:
    archive = pack(
        tmp_path / "a.txz",
        member("bin/one"),
        member("twice", first, "bin"),
        member("twice", second, "bin"),
    )
    if first == second == tarfile.DIRTYPE:  # tar itself writes some folders twice
        unpack_tar(archive, tmp_path / "out")
        return
    with pytest.raises(UnsafeArchiveError, match="twice is there twice"):
        unpack_tar(archive, tmp_path / "out")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a.txz", member("lib"), member("lib/file"))
    with pytest.raises(UnsafeArchiveError, match="lib is there twice"):
        unpack_tar(archive, tmp_path / "out")


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    links = [("a", "b"), ("b", "a")]
    with pytest.raises(UnsafeArchiveError, match="leads in a circle"):
        make_links(tmp_path, links)


def test_links_stay_inside(tmp_path: Path) -> None:
    make_links(tmp_path, [("lib/a", "../bin")])
    assert (tmp_path / "lib/a").is_symlink()
    with pytest.raises(UnsafeArchiveError, match=r"lib/b links to \.\./\.\./x, outside"):
        make_links(tmp_path, [("lib/b", "../../x")])
