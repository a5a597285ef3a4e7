"""Where the sources of versions come from, and that builds of several versions are alike."""

from __future__ import annotations

import hashlib
import http.server
import io
import shutil
import tarfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.building.origins.distribution import GONE, HINT, hint_for, packages_in
from teiten.execute.postgres.building.origins.mirror import Mirror
from teiten.execute.postgres.building.origins.named import NamedSources
from teiten.execute.postgres.building.preparing import (
    name_of,
    origins_of,
    prepare_like,
    request_of,
    source_of,
)
from teiten.execute.postgres.building.running import (
    EndedError,
    builds_at_once,
    ended_by,
    together,
)
from teiten.host.system.paths import Workdir
from tests.fixtures.small_source import commit, git

APT = """Package: postgresql-17
Binary: libpq-dev, postgresql-17
Version: 17.6-0+deb13u1
Files:
 0 1 postgresql-17_17.6-0+deb13u1.dsc

Package: postgresql-17
Version: 2:17.11-1
Checksums-Sha256:
 0 1 a

Package: postgresql-17
Version: 17~rc1-1
"""


@pytest.fixture
def workdir(tmp_path: Path) -> Workdir:
    found = Workdir(tmp_path / "workdir")
    found.prepare()
    return found


def quiet(line: str) -> None:
    """Nobody listens."""


def tarball(file: Path, version: str) -> Path:
    text = f"PACKAGE_VERSION='{version}'\n".encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(file, "w:bz2") as tar:
        member = tarfile.TarInfo(f"postgresql-{version}/configure")
        member.size, member.mode = len(text), 0o755
        tar.addfile(member, io.BytesIO(text))
    return file


def test_named_sources_give_the_newest_release_that_fits(tmp_path: Path) -> None:
    folder = tmp_path / "tarballs"
    tarball(folder / "postgresql-17.9.tar.bz2", "17.9")
    newest = tarball(folder / "postgresql-17_17.11.orig.tar.bz2", "17.11")
    tarball(folder / "postgresql-18beta1.tar.bz2", "18beta1")
    repository = tmp_path / "repository"
    repository.mkdir()
    for version, tag in (("18.2", "REL_18_2"), ("18.6", "REL_18_6"), ("19devel", "REL_19_BETA1")):
        (repository / "configure").write_text(f"PACKAGE_VERSION='{version}'\n", encoding="utf-8")
        commit(repository, version)
        git(repository, "tag", tag)
    named = NamedSources((str(folder), str(repository)))
    found = named.source(request_of("17"))
    assert found is not None and found.path == newest
    exactly = named.source(request_of("17.9"))
    assert exactly is not None and exactly.version_text == "17.9"
    tagged = named.source(request_of("build:18"))
    assert tagged is not None and (tagged.version_text, tagged.ref) == ("18.6", "REL_18_6")
    assert named.source(request_of("20")) is None
    named_here = r"no source of PostgreSQL 20: --source names 19beta1, 18.6, 18.2, 18beta1"
    with pytest.raises(UsageError, match=named_here):
        source_of(request_of("20"), [named])
    with pytest.raises(UsageError, match="neither a configure of PostgreSQL nor a tarball"):
        NamedSources((str(tmp_path),))


def test_a_pre_release_stands_for_its_major_version_until_there_is_a_release(
    tmp_path: Path,
) -> None:
    for version in ("19beta2", "19beta10"):
        tarball(tmp_path / f"postgresql-{version}.tar.bz2", version)
    candidate = tarball(tmp_path / "postgresql-19_19~rc1.orig.tar.bz2", "19rc1")
    named = NamedSources((str(tmp_path),))
    found = named.source(request_of("19"))
    assert found is not None and (found.path, found.version_text) == (candidate, "19rc1")
    assert named.source(request_of("19.0")) is None
    assert named.lacking() == "--source names 19rc1, 19beta10, 19beta2"
    released = tarball(tmp_path / "postgresql-19.0.tar.bz2", "19.0")
    found = NamedSources((str(tmp_path),)).source(request_of("19"))
    assert found is not None and found.path == released


def test_what_apt_lists_is_read_without_epochs() -> None:
    found = packages_in(APT, "postgresql-17")
    assert [(str(one.postgres), one.version) for one in found] == [
        ("17.6", "17.6-0+deb13u1"), ("17.11", "2:17.11-1"), ("17rc1", "17~rc1-1"),
    ]  # fmt: skip
    candidate = found[-1].postgres
    assert candidate.fits(request_of("17")) and not candidate.fits(request_of("17.0"))
    assert packages_in(APT, "postgresql-18") == []


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    root = tmp_path / "mirror"
    root.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's
            """Nobody reads it."""

    handler = partial(Quiet, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", root
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_mirror_gives_the_newest_checks_it_and_is_asked_once(
    mirror: tuple[str, Path], workdir: Workdir
) -> None:
    url, root = mirror
    tarball(root / "v17.9/postgresql-17.9.tar.bz2", "17.9")
    file = tarball(root / "v17.10/postgresql-17.10.tar.bz2", "17.10")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    (root / "v17.10/postgresql-17.10.tar.bz2.sha256").write_text(f"{digest}  {file.name}\n")
    said: list[str] = []
    found = Mirror(workdir, f"{url}/", said.append).source(request_of("17"))
    assert found is not None and found.version_text == "17.10"
    assert said == [f"getting {url}/v17.10/postgresql-17.10.tar.bz2"]
    older = Mirror(workdir, url, said.append).source(request_of("17.9"))
    assert older is not None and "could not be checked" in said[-1]
    assert Mirror(workdir, url, quiet).source(request_of("16")) is None
    shutil.rmtree(root / "v17.10")
    kept = Mirror(workdir, url, quiet).source(request_of("17.10"))
    assert kept == found
    wrong = tarball(root / "v17.12/postgresql-17.12.tar.bz2", "17.12")
    wrong.with_name(f"{wrong.name}.sha256").write_text("0" * 64)
    with pytest.raises(MachineError, match="its SHA-256 differs"):
        Mirror(workdir, url, quiet).source(request_of("17.12"))
    with pytest.raises(MachineError, match="HTTP 404"):
        Mirror(workdir, f"{url}/nothing", quiet).source(request_of("17"))
    with pytest.raises(UsageError, match="no http or https URL"):
        Mirror(workdir, "ftp://example.org", quiet)


def test_versions_on_both_sides_of_a_default_are_given_the_same(
    tmp_path: Path, workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ICU is there by default from 16 on only. Nothing is compiled: the compiler is any program
    that tells its version."""
    room = "teiten.execute.postgres.building.prerequisites"
    monkeypatch.setattr(f"{room}.COMPILERS", ("sh -c 'echo 1.0' sh",))
    monkeypatch.setattr(f"{room}._compiles", lambda _compiler, _program: True)
    monkeypatch.setattr(f"{room}._missing_programs", lambda *_: [])
    files = [str(tarball(tmp_path / f"{one}.tar.bz2", one)) for one in ("15.18", "17.11")]
    origins = origins_of(workdir, quiet, files)
    found = [source_of(request_of(version), origins) for version in ("15", "17")]
    builds = prepare_like(found, ("--with-lz4",), "-O2")
    assert list(builds) == ["build:15.18", "build:17.11"]
    older, newer = builds.values()
    assert older.tools.configure == ("--with-lz4", "--with-icu")
    assert newer.tools.configure == ("--with-lz4",)
    assert older.tools.compiler_version == newer.tools.compiler_version
    assert len(prepare_like((*found, *found), (), None)) == 2  # one release asked for twice
    without = prepare_like(found, ("--without-icu",), "-O2")
    assert {one.tools.configure for one in without.values()} == {("--without-icu",)}


def test_builds_share_the_cores_and_end_together() -> None:
    assert [builds_at_once(3, jobs) for jobs in (1, 2, 4, 8)] == [1, 1, 2, 3]
    ending, ended = threading.Event(), threading.Event()
    watch = ended_by(ending, lambda _step, _done, _total: None)

    def slow() -> None:
        try:
            for _ in range(1000):
                watch("compile", 0, 0)
                time.sleep(0.01)
        except EndedError:
            ended.set()
            raise

    def failing() -> None:
        raise MachineError("it does not build", "")

    with pytest.raises(MachineError, match="it does not build"):
        together([slow, failing], ending, 2)
    assert ended.is_set()
    assert together([lambda: 1, lambda: 2], threading.Event(), 1) == [1, 2]


def test_a_mirror_behind_its_own_lists_is_told_from_one_without_the_package() -> None:
    gone = "E: Failed to fetch http://mirror/pool/postgresql-17_17.12.dsc  404  Not Found [IP: ::1]"
    assert hint_for(f"apt-get source postgresql-17=17.12-1 failed:\n{gone}") == GONE
    assert hint_for("apt knows no source packages (there is no deb-src line)") == HINT
    assert hint_for("E: Unable to find a source package for postgresql-4040") == HINT


def test_a_pre_release_is_installed_under_its_own_name(tmp_path: Path) -> None:
    file = tarball(tmp_path / "postgresql-19rc1.tar.bz2", "19rc1")
    found = NamedSources((str(file),)).source(request_of("19"))
    assert found is not None
    assert name_of(found) == "build:19rc1"
