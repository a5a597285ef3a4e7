"""A server as the generator of pairs is told of it, and what was wrong with a run of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.client.address import Address
from teiten.execute.client.paired import PairedResult, PairedServer
from teiten.host.system.users import uid_of
from teiten.kinds.pgbench.load.trial import load_problems
from teiten.model.trial import Problem

NOT_PINNED = "cannot be pinned"
"""The generator's message where it may not move a server's process."""
FAILED = "generator-failed"


def problems_of(result: PairedResult, threads: int) -> tuple[Problem, ...]:
    """Problems of a run that ended: clients that could not go on, an end before its time,
    transactions that failed, and a generator that was the bottleneck."""
    summary = result.summary
    aborted = [str(client["message"]) for client in summary["aborted"]]
    if aborted:
        return (Problem(FAILED, "; ".join(dict.fromkeys(aborted[:3]))),)
    if summary["reason"] != "duration":
        return (Problem(FAILED, f"it ended before its time: {summary['reason']}"),)
    failed = sum(sum(server["failures"].values()) for server in summary["servers"])
    return load_problems(failed, result.cpu_seconds, summary["seconds"], threads)


def server_of(address: Address) -> PairedServer:
    """A server as the generator reaches it: behind a socket, or at a host. Raises WorkloadError
    where its address asks for what the generator cannot."""
    given = address.parameters
    peer = address.environment.get("PGREQUIREPEER")
    session = address.environment.get("PGOPTIONS")
    return PairedServer(
        host=given.get("host") or given["hostaddr"],
        port=int(given["port"]),
        user=given["user"],
        database=given["dbname"],
        password=given.get("password"),
        parameters={"options": session} if session else {},
        peer=uid_of(peer) if peer else None,
        require_auth=given.get("require_auth"),
        channel_binding=given.get("channel_binding"),
        address=given.get("hostaddr") if given.get("host") else None,
        encryption=encryption_of(given) if "=" in address.database else None,
    )


DISABLE, DEFAULT = "disable", "prefer"
"""``sslmode``: what leaves all in clear, and what libpq takes where nothing is said."""
FILES = {
    "roots": ("sslrootcert", "root.crt"),
    "certificate": ("sslcert", "postgresql.crt"),
    "key": ("sslkey", "postgresql.key"),
}
"""The generator's words for files, libpq's, and where libpq looks without being told, in
``~/.postgresql``."""
UNKNOWN = ("sslcrl", "sslcrldir", "sslkeylogfile", "ssl_max_protocol_version")
ONLY = {"sslnegotiation": "postgres", "gssencmode": DISABLE, "ssl_min_protocol_version": "TLSv1.2"}
"""Parameters of which the generator knows one value."""


def encryption_of(given: Mapping[str, str]) -> dict[str, str] | None:
    """``PairedServer.encryption``, as libpq would encrypt; None where connections are in clear, by
    a socket or as the address says. Raises WorkloadError for what the generator cannot."""
    mode = given.get("sslmode", DEFAULT)
    if mode == DISABLE or given.get("host", "").startswith("/"):
        return None
    unknown = [name for name in UNKNOWN if given.get(name)]
    unknown += [name for name, value in ONLY.items() if given.get(name) not in {None, "", value}]
    if unknown:
        raise WorkloadError(
            f"the generator of pairs does not know {', '.join(unknown)} of a server's address",
            "have the sides loaded one after the other, by pgbench: --way classic",
        )
    encryption = {"mode": mode}
    for name, (parameter, kept) in FILES.items():
        at_home = Path.home() / ".postgresql" / kept
        file = given.get(parameter) or (str(at_home) if at_home.is_file() else "")
        if file:
            encryption[name] = file
    return encryption
