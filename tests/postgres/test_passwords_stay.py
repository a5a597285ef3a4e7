"""What a person keeps for other servers in the environment and at home, Teiten's connections to its
own servers do not use: not where the servers' user has put a server of his own in the place of the
socket and asks for a password, and not where a variable names another host."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from teiten.errors import TeitenError
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program
from teiten.execute.client.here import ChildHere
from teiten.execute.client.paired import PairedRun, run_pairs
from teiten.execute.postgres.cluster import Cluster
from teiten.execute.postgres.installations import choose_pgbench, find_installations
from teiten.execute.probes.postgres import SamplingConnection
from teiten.host.facts.native_part import why_no_pairs
from teiten.host.system.paths import Workdir, default_workdir
from teiten.kinds.pgbench.load.paired_run import server_of
from teiten.model.study import QueryMode, Script
from teiten.model.units import Seconds
from tests.fixtures.asking import AskingServer, asking_at

WORD = f"of-another-server-{os.getpid()}"
pytestmark = pytest.mark.pg(">=18")  # the libraries of clients decide, and not the server


@dataclass(frozen=True)
class Planted:
    """Where passwords are kept."""

    folder: Path
    patch: pytest.MonkeyPatch

    def variable(self) -> None:
        self.patch.setenv("PGPASSWORD", WORD)

    def file(self) -> None:
        self.patch.setenv("PGPASSFILE", str(self._passwords("passwords")))

    def home(self) -> None:
        self._passwords(".pgpass")
        self.patch.setenv("HOME", str(self.folder))

    def service(self) -> None:
        services = self.folder / "services"
        services.write_text(f"[kept]\npassword={WORD}\n")
        self.patch.setenv("PGSERVICEFILE", str(services))
        self.patch.setenv("PGSERVICE", "kept")

    def _passwords(self, name: str) -> Path:
        path = self.folder / name
        path.write_text(f"*:*:*:*:{WORD}\n")
        path.chmod(0o600)
        return path


WAYS: tuple[Callable[[Planted], None], ...] = (
    Planted.variable, Planted.file, Planted.home, Planted.service,
)  # fmt: skip


@pytest.fixture(params=WAYS, ids=[way.__name__ for way in WAYS])
def planted(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in list(os.environ):
        if name.startswith("PG"):
            monkeypatch.delenv(name)
    request.param(Planted(tmp_path, monkeypatch))


@pytest.fixture
def asking(running_cluster: Cluster) -> Iterator[AskingServer]:
    socket = running_cluster.socket_directory / f".s.PGSQL.{running_cluster.port}"
    notes = running_cluster.data_directory / "notes"
    with asking_at(socket, notes, running_cluster.user) as server:
        yield server


@pytest.mark.usefixtures("planted")
def test_our_own_connections_give_none(running_cluster: Cluster, asking: AskingServer) -> None:
    with pytest.raises(psycopg.OperationalError):
        running_cluster.connect()
    with pytest.raises(psycopg.OperationalError):
        SamplingConnection(
            running_cluster.conninfo("postgres"), running_cluster.installation.version
        )
    assert asking.asked == 2
    assert asking.given == []


@pytest.mark.usefixtures("planted")
def test_load_programs_give_none(
    running_cluster: Cluster, asking: AskingServer, tmp_path: Path
) -> None:
    pgbench = choose_pgbench(find_installations(Workdir(default_workdir())))
    address = _address(running_cluster)
    program = Program(
        "pgbench",
        pgbench.path,
        ("-n", "-S", "-t", "1", *address.options, address.database),
        tmp_path / "run",
        "output",
        "errors",
        Seconds(1.0),
        library_path=pgbench.library_path,
        environment=address.environment,
    )
    child = ChildHere(program)
    assert child.wait(60) and child.returncode != 0
    if why_no_pairs() is None:
        run = PairedRun(
            [server_of(address)], [(Script("x.sql", False, "SELECT 1;"), 1)], 1,
            QueryMode.SIMPLE, 1, tmp_path / "pairs", pairs=1,
        )  # fmt: skip
        with pytest.raises(TeitenError, match="password"):
            run_pairs(run, 60)
    assert asking.asked > (why_no_pairs() is None)
    assert asking.given == []


def test_no_variable_leads_them_elsewhere(
    running_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOSTADDR": "127.0.0.1", "PGTARGETSESSIONATTRS": "standby", "PGSSLMODE": "verify-full",
        "PGREQUIREAUTH": "scram-sha-256", "PGCHANNELBINDING": "require", "PGGSSENCMODE": "require",
        "PGOPTIONS": "-c work_mem=64kB", "PGCONNECT_TIMEOUT": "1", "PGSSLROOTCERT": "/nonexistent",
        "PGMINPROTOCOLVERSION": "3.2", "PGCLIENTENCODING": "LATIN1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with running_cluster.connect() as connection:
        shown = connection.execute("SELECT current_setting('work_mem')").fetchone()
        assert shown == ("4MB",)
        assert connection.info.encoding == "utf-8"


def _address(cluster: Cluster) -> Address:
    return Address.by_socket(
        cluster.socket_directory,
        cluster.port,
        cluster.user_name,
        "postgres",
        cluster.client_environment,
    )
