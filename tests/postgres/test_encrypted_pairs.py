"""The generator of pairs over TLS: who is trusted, and what of a password is given to whom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.errors import WorkloadError
from teiten.execute.client.address import Address
from teiten.execute.client.paired import PairedResult, PairedRun, run_pairs
from teiten.host.facts.native_part import why_no_pairs
from teiten.kinds.pgbench.load.paired_run import server_of
from teiten.model.installation import Installation
from teiten.model.study import QueryMode, Script
from tests.fixtures.attached import CREATOR, StrangeServer, strange_server

pytestmark = pytest.mark.skipif(
    why_no_pairs() is not None, reason="the native part is not built: make native"
)
SCRIPT = """
SELECT ssl::text AS encrypted FROM pg_stat_ssl WHERE pid = pg_backend_pid() \\gset
SELECT 1 / (CASE ':encrypted' WHEN 'true' THEN 1 ELSE 0 END);
SELECT repeat('y', 1000000);
SELECT repeat('n', 10);
"""
BOUND = "channel_binding=require require_auth=scram-sha-256"


@pytest.fixture(scope="module")
def strange(installation_any: Installation) -> Iterator[StrangeServer]:
    with strange_server(installation_any) as server:
        if not server.certificate.exists():
            pytest.skip("openssl, which makes the certificate, is not here")
        yield server


def run(server: StrangeServer, folder: Path, words: str, host: str = "127.0.0.1") -> PairedResult:
    where = f"host={host} hostaddr=127.0.0.1 port={server.port} user={CREATOR} dbname=postgres"
    one = server_of(Address(f"{where} {words}", environment={"PGPASSWORD": server.password}))
    scripts = [(Script("encrypted.sql", False, SCRIPT), 1)]
    return run_pairs(
        PairedRun([one, one], scripts, 3, QueryMode.SIMPLE, 1, folder, pairs=5, threads=2), 60
    )


@pytest.mark.pg(">=11")  # from which on SCRAM is bound to connections
@pytest.mark.parametrize("mode", ["verify-full", "verify-ca", "require", "prefer", "allow"])
def test_a_load_is_encrypted_as_the_address_says(
    strange: StrangeServer, tmp_path: Path, mode: str
) -> None:
    bound = "" if mode == "allow" else BOUND
    words = f"sslmode={mode} sslrootcert={strange.certificate} {bound}"
    result = run(strange, tmp_path, words)
    if mode == "allow":  # it begins in clear, which the server takes
        assert "division by zero" in result.summary["aborted"][0]["message"]
        return
    assert not result.summary["aborted"] and len(result.pairs) == 15


@pytest.mark.pg(">=18")
def test_whom_the_address_does_not_trust_gets_nothing(
    strange: StrangeServer, tmp_path: Path
) -> None:
    root = f"sslrootcert={strange.certificate}"
    for words, host, said in (
        (f"sslmode=verify-full {root}", "db.example", "not valid for name"),
        ("sslmode=verify-ca sslrootcert=/nonexistent", "127.0.0.1", "/nonexistent"),
        (f"sslmode=verify-ca sslrootcert={tmp_path / 'empty'}", "127.0.0.1", "no certificate"),
        (f"sslmode=disable {BOUND}", "127.0.0.1", "channel binding is required"),
        (f"sslmode=require {root} require_auth=password", "127.0.0.1", "does not allow it"),
    ):
        (tmp_path / "empty").touch()
        with pytest.raises(WorkloadError, match=said):
            run(strange, tmp_path, words, host)
    assert len(run(strange, tmp_path, f"sslmode=verify-ca {root}", "db.example").pairs) == 15
