"""The same as test_strangers.py on a db host over ssh: what the servers' user puts in the place of
files there leads neither root's agent anywhere, nor our own connections, which root's sshd carries.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from teiten.connections import own_environment
from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import ServerError, TeitenError
from teiten.execute.postgres.installations import find_installations
from teiten.execute.postgres.marker import MARKER_NAME
from teiten.execute.sites.hosted import Launch
from teiten.execute.sites.remote.agent.forms import template_form
from teiten.execute.sites.remote.cluster import RemoteCluster
from teiten.execute.sites.remote.hosts import Host
from teiten.host.system.paths import Workdir, default_workdir
from teiten.host.system.users import server_user
from teiten.model.hosts import Role
from teiten.model.installation import Installation
from teiten.model.plan import TemplateSpec
from teiten.model.units import Bytes
from tests.fixtures.campaigns import with_own_installations
from tests.fixtures.hosts import Network, by_ssh, loopback
from tests.fixtures.servers import left_processes, open_folder
from tests.fixtures.storms import assert_secret_is_kept
from tests.fixtures.stranger import (
    KINDS,
    SECRET,
    Canary,
    Stranger,
    listening,
    nothing_hangs,
    put_back,
)
from tests.postgres.test_environment import assert_only_what_is_needed
from tests.postgres.test_strangers import (
    FILES,
    REPLACING,
    assert_a_replaced_file_failed_each_trial,
    study_of,
)

pytestmark = pytest.mark.root
HOSTS = """
[hosts]
db = "db"
client = "db"
db_workdir = "{folder}"
client_workdir = "{folder}"
python = "{python}"
"""
SECONDS = 90


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    with loopback() as found:
        yield found


@dataclass(frozen=True)
class DbHost:
    """A host whose agent has built an empty template."""

    host: Host
    template: dict[str, Any]
    installation: Installation
    folder: Path

    @property
    def template_folder(self) -> Path:
        return self.folder / "templates" / str(self.template["fingerprint"])

    def clone(self, name: str) -> RemoteCluster:
        self.host.call("clusters.clone", key=name, template=self.template, name=name)
        return RemoteCluster(self.host, name, self.installation)

    def data(self, cluster: RemoteCluster) -> Path:
        return self.folder / "clusters" / cluster.key / "data"


@pytest.fixture(scope="module")
def db_host(network: Network, installation_any: Installation) -> Iterator[DbHost]:
    spec = TemplateSpec(installation_any, True, pgbench_data(1), "f" * 64, Bytes(1))
    form = template_form(spec, installation_any)
    with open_folder("teiten-test-") as folder, pytest.MonkeyPatch.context() as patch:
        with by_ssh(network, patch):
            host = Host(Role.DB, "db", sys.executable, str(folder))
            try:
                host.prepare()
                assert host.call("clusters.begin_build", template=form, pgbench="18") is not None
                host.call("clusters.finish_build")
                yield DbHost(host, form, installation_any, folder)
            finally:
                host.close()
        assert left_processes([folder]) == []
        assert not list((folder / "clusters").iterdir())


@pytest.fixture
def stranger(workdir: Workdir) -> Iterator[Stranger]:
    canary = Canary.put(workdir.root / "canary")
    yield Stranger(server_user(), canary)
    canary.assert_untouched()


def test_links_in_the_place_of_the_configuration_in_a_campaign(
    workdir: Workdir, installation_any: Installation, network: Network,
    stranger: Stranger, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A trial in which a file of the server was replaced fails, as on this machine."""
    teiten = with_own_installations(workdir, installation_any.version.major)
    study = study_of(
        teiten,
        f"db:{installation_any.bin_directory}",
        REPLACING.format(file=stranger.canary.file),
    )
    hosts = HOSTS.format(folder=workdir.root / "there", python=sys.executable)
    study.write_text(study.read_text() + hosts)
    with by_ssh(network, monkeypatch):
        done = teiten.run("run", study, "--yes")
    assert done.returncode == 4, done.stderr
    assert "defect" not in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert_a_replaced_file_failed_each_trial(teiten)
    stranger.canary.assert_untouched()
    for folder in (teiten.workdir.campaigns, workdir.root / "there"):
        assert_secret_is_kept(folder, stranger.canary)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_replaced_before_a_step(db_host: DbHost, stranger: Stranger, kind: str) -> None:
    """Files of a stopped cluster before each request; those of the template are root's."""
    host, canary = db_host.host, stranger.canary
    for name in FILES:
        assert not stranger.replace(db_host.template_folder / "data" / name, kind), name
    cluster = db_host.clone("stopped")
    for name in FILES:
        path = db_host.data(cluster) / name
        with put_back(path), nothing_hangs(SECONDS):
            assert stranger.replace(path, kind), name
            host.call("clusters.caches", key=cluster.key, policy="evict")
            told = cluster.replaced_file()
            assert bool(told) == (name == "postgresql.conf" and kind != "own"), told
            assert SECRET.encode() not in cluster.read_configuration() + cluster.read_log()
            canary.assert_untouched()
    path = db_host.data(cluster) / "postgresql.conf"
    with put_back(path), nothing_hangs(SECONDS):
        assert stranger.replace(path, kind)
        with contextlib.suppress(TeitenError):  # a folder cannot be replaced by a file
            cluster.launch(Launch())
        cluster.stop(immediately=True)
    canary.assert_untouched()
    with nothing_hangs(SECONDS):
        cluster.remove()
    assert not db_host.data(cluster).parent.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_replaced_under_a_running_server(
    db_host: DbHost, stranger: Stranger, kind: str
) -> None:
    cluster = db_host.clone("running")
    data = db_host.data(cluster)
    with nothing_hangs(SECONDS):
        cluster.launch(Launch())
    inner = cluster.socket_directory.parent / "s"
    for path in list(inner.iterdir()):
        assert stranger.replace(path, kind)
    with nothing_hangs(SECONDS), cluster.connect() as connection:
        shown = connection.execute("SHOW data_directory").fetchone()
        assert shown == (str(data),)
    for name in FILES:
        assert stranger.replace(data / name, kind), name
    # What is not his stays what it is, and the way to the server is not his.
    for path in (
        data,
        data.parent / "server.log",
        data.parent / MARKER_NAME,
        data.parent / "server.json",
        inner,
        cluster.socket_directory,
        inner.parent / MARKER_NAME,
        cluster.socket_directory / f".s.PGSQL.{cluster.port}",
    ):
        assert not stranger.replace(path, kind), path
    with nothing_hangs(SECONDS):
        assert bool(cluster.replaced_file()) == (kind != "own")
        assert SECRET.encode() not in cluster.read_configuration()
        assert b"ready to accept connections" in cluster.read_log()
        cluster.stop(immediately=True)
        cluster.remove()
    assert not data.parent.exists()
    assert inner.parent.exists() == (kind == "folder")  # what is no socket is not Teiten's
    shutil.rmtree(inner.parent, ignore_errors=True)


def test_nobody_speaks_to_another_server(db_host: DbHost, stranger: Stranger) -> None:
    """The socket becomes a link to one of root's, which root's sshd could reach as well."""
    cluster = db_host.clone("linked")
    with nothing_hangs(SECONDS):
        cluster.launch(Launch())
    path = cluster.socket_directory.parent / "s" / f".s.PGSQL.{cluster.port}"
    with listening(stranger.canary.folder.parent / "socket") as other, nothing_hangs(SECONDS):
        path.unlink()
        path.symlink_to(other)
        with cluster.connect() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        cluster.stop(immediately=True)
        cluster.remove()


def test_a_load_program_speaks_to_no_other_server(db_host: DbHost, stranger: Stranger) -> None:
    cluster = db_host.clone("loaded")
    known = find_installations(Workdir(default_workdir()))
    with_it = next(one for one in known if one.pgbench is not None)
    with nothing_hangs(SECONDS):
        cluster.launch(Launch())
    environment = dict(cluster.address().environment)
    assert environment == own_environment(stranger.user.name)
    elsewhere = stranger.canary.folder.parent
    other = elsewhere / f".s.PGSQL.{cluster.port}"
    with listening(other), nothing_hangs(SECONDS), pytest.raises(ServerError, match="requirepeer"):
        cluster.host.call(
            "clusters.run",
            arguments=[str(with_it.pgbench), "-i", "-h", str(elsewhere), "-p", str(cluster.port)],
            library_path=str(with_it.library_path) if with_it.library_path else None,
            environment=environment,
            what="pgbench",
            hint="",
        )
    cluster.remove()


def test_a_script_there_sees_what_a_server_needs(db_host: DbHost, stranger: Stranger) -> None:
    """The agent has its environment of sshd, which is root's."""
    cluster = db_host.clone("seen")
    with nothing_hangs(SECONDS):
        cluster.launch(Launch())
        with cluster.connect() as connection:
            connection.execute("COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; env >seen'")
        text = (db_host.data(cluster) / "seen").read_text()
        assert_only_what_is_needed(text, stranger.user.home)
        cluster.remove()


def test_a_template_that_is_being_built_under_his_hands(
    db_host: DbHost, stranger: Stranger
) -> None:
    """Its server runs as him: its files are replaced before it is finished."""
    form = {**db_host.template, "fingerprint": "e" * 64}
    for name in ("postgresql.conf", "postgresql.initdb.conf", "pg_hba.conf"):
        with nothing_hangs(SECONDS):
            db_host.host.call("clusters.begin_build", template=form, pgbench="18")
            (partial,) = (db_host.folder / "templates").glob("building-*")
            assert stranger.replace(partial / "data" / name, "link to a file")
            with contextlib.suppress(TeitenError):
                db_host.host.call("clusters.finish_build")
            db_host.host.call("belongings.remove", kind="template", folder="e" * 64)
        stranger.canary.assert_untouched()
        assert_secret_is_kept(db_host.folder, stranger.canary)
