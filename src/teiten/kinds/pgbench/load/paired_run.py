"""Load servers in paired transactions, or try a script on a single one.

How the generator of pairs is to encrypt its connections: as libpq would, of an address.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.bench import Bench
from teiten.execute.client.address import Address
from teiten.execute.client.paired import PairedProcess, PairedResult, PairedRun, PairedServer
from teiten.execute.probes.sampler import Sampler
from teiten.execute.rows import rows_of
from teiten.execute.sites.contract import Site
from teiten.host.facts.cpus import allowed_processors
from teiten.host.system.users import uid_of
from teiten.kinds.pgbench.load.output import other_tables
from teiten.kinds.pgbench.load.process import too_long
from teiten.kinds.pgbench.load.trial import load_problems
from teiten.kinds.pgbench.model import REHEARSAL, PgbenchClients, PgbenchOptions
from teiten.model.study import Script, Workload
from teiten.model.trial import Problem
from teiten.model.units import Seconds
from teiten.ways.registry import way_of_clients

LOOK_EVERY = 0.2
"""Seconds between looks at the generator and the servers while they run."""
GRACE = 60.0
"""Seconds that the generator may take beyond the planned ones."""
NOT_PINNED = "cannot be pinned"
"""The generator's message where it may not move a server's process."""
FAILED = "generator-failed"


@dataclass(frozen=True)
class LoadedSide:
    """A server of a start, and what its clients repeat there."""

    site: Site
    script: Script


@dataclass(frozen=True)
class PairedWork:
    """The load of a workload, the same in every start."""

    bench: Bench
    workload: Workload
    options: PgbenchOptions
    clients: PgbenchClients

    @property
    def threads(self) -> int:
        """The number of the generator's threads."""
        return max(1, min(self.clients.clients, allowed_processors()))

    def run(
        self,
        sides: Sequence[LoadedSide],
        folder: Path,
        seconds: Seconds | None,
        seed: int,
        *,
        pin: bool,
    ) -> PairedRun:
        """``seconds``: None for a single transaction of one client on each server."""
        clients = 1 if seconds is None else self.clients.clients
        script = sides[0].script
        way = way_of_clients(self.bench.plan.study.measure, clients)
        return PairedRun(
            servers=[
                replace(
                    server_of(side.site.address()),
                    texts=None if side.script == script else (side.script.text,),
                )
                for side in sides
            ],
            scripts=[(script, 1)],
            rows=rows_of(self.bench.record, self.workload, self.options.variables, sides[0].site),
            clients=clients,
            protocol=self.clients.query_mode,
            seed=seed,
            folder=folder,
            duration=seconds,
            pairs=1 if seconds is None else None,
            threads=min(clients, self.threads),
            in_step=way.in_step and len(sides) > 1,
            pin=pin and all(side.site.moves_processes for side in sides),
            variables={"scale": str(max(1, int(self.workload.data.scale or 1)))},
        )

    def carry_out(
        self, process: PairedProcess, sides: Sequence[LoadedSide], samplers: Sequence[Sampler] = ()
    ) -> PairedResult:
        """Run to the end, and show how far it is; it is stopped where a server ends."""
        process.start()
        grace = GRACE if process.run.duration is not None else REHEARSAL
        for sampler in samplers:
            sampler.pgbench_pid = process.pid
        began = time.monotonic()
        deadline = began + (process.run.duration or 0.0) + grace
        seen, at = 0, began
        while not process.ended_within(LOOK_EVERY) and time.monotonic() < deadline:
            self.bench.check_interruption()
            now, count = time.monotonic(), process.transactions()
            if now - at >= 1 and count > seen:
                seconds_each = (now - at) / (count - seen)
                self.bench.observer.progress(
                    Seconds(now - began),
                    1 / seconds_each,
                    Seconds(seconds_each * self.clients.clients / len(sides)),
                )
                seen, at = count, now
            if not all(side.site.is_running() for side in sides):
                process.stop()
        return process.wait(timeout=0.1)

    def tried(self, side: LoadedSide, folder: Path) -> None:
        """One transaction of the script. Raises WorkloadError where it is wrong."""
        process = PairedProcess(self.run([side], folder, None, 1, pin=False))
        name = side.script.name
        try:
            result = self.carry_out(process, [side])
        except WorkloadError as error:
            raise WorkloadError(
                f"script {name}: {error.message}", other_tables(error.message) or _CORRECT
            ) from error
        finally:
            process.stop()
        for aborted in result.summary["aborted"]:
            message = aborted["message"]
            raise WorkloadError(f"script {name}: {message}", other_tables(message) or _CORRECT)
        if not result.summary["pairs"]:
            raise too_long(side.script, REHEARSAL)


_CORRECT = (
    "correct it and run again (every script is tried with one transaction before the first trial);"
    " or have pgbench run it: --way classic"
)


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
FILES = {"roots": "sslrootcert", "certificate": "sslcert", "key": "sslkey"}
"""The generator's words for files, and libpq's."""
KEPT_AT_HOME = {"sslrootcert": "root.crt", "sslcert": "postgresql.crt", "sslkey": "postgresql.key"}
"""Where libpq looks without being told, in ``~/.postgresql``."""
UNKNOWN = ("sslcrl", "sslcrldir", "sslkeylogfile", "ssl_max_protocol_version")
ONLY = {"sslnegotiation": "postgres", "gssencmode": DISABLE, "ssl_min_protocol_version": "TLSv1.2"}
"""Parameters of which the generator knows one value."""


def encryption_of(given: Mapping[str, str]) -> dict[str, str] | None:
    """``PairedServer.encryption`` of libpq's parameters of a server; None where connections are in
    clear: by a socket of this machine, or since the address says so. Raises WorkloadError where the
    address asks for what the generator cannot."""
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
    home = Path.home() / ".postgresql"
    known = {name: given.get(parameter) or "" for name, parameter in FILES.items()}
    for name, parameter in FILES.items():
        kept = home / KEPT_AT_HOME[parameter]
        if not known[name] and kept.is_file():
            known[name] = str(kept)
    return {"mode": mode, **{name: value for name, value in known.items() if value}}
