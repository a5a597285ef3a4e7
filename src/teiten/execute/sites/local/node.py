"""One server of a trial on this machine: a cluster that is cloned from a template."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import psycopg

from teiten.errors import ServerError
from teiten.execute.client.address import Address
from teiten.execute.executor import Facts
from teiten.execute.pinning import confirm
from teiten.execute.postgres.cluster import Cluster, StopManner
from teiten.execute.postgres.initdb import BENCH_DATABASE
from teiten.execute.postgres.placement import confirm_placement
from teiten.execute.postgres.relation_files import path_of, segments
from teiten.execute.postgres.server_log import scan
from teiten.execute.probes.os import OfOneServer, OsReader
from teiten.execute.probes.os_probe import open_reader
from teiten.execute.probes.sampler import Sampler
from teiten.execute.sites.evidence import keep, replaced
from teiten.execute.sites.local.limit import out_of_memory
from teiten.execute.sites.local.node_emulation import EmulatedNode
from teiten.execute.sites.nodes import file_of
from teiten.execute.sites.prewarming import prewarm
from teiten.execute.sites.server_facts import (
    non_default_settings,
    read_server_facts,
    require_checksums,
)
from teiten.host.facts.kernel import boot_id
from teiten.host.system.caches import evict_files
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.page_cache import NOTHING, PageCache, cached, cached_below, evict
from teiten.model.plan import ClusterKey, Node, PlannedTrial
from teiten.model.trial import BOOT, LINKED, Problem
from teiten.model.units import Bytes

if TYPE_CHECKING:
    from teiten.execute.sites.local.keeper import LocalKeeper

OF_START = ("version", "settings", "data_checksums", "data_directory", "machine", BOOT)
"""The facts that a server's start settles."""
SERVER = "server"
CRASHED = "server-crash"
ENDED_UNSAID = "the server has ended, and its log does not say why"
"""Somebody killed its postmaster, or the kernel did."""
Place = tuple[ClusterKey, str | None]
"""Of a cluster; where it is: the folder that the study names."""


@dataclass(frozen=True)
class RunningServer:
    """A server that a pair has left running for the next one."""

    cluster: Cluster
    facts: Facts
    """What it said of itself when it was started."""
    cflags: str


class LocalNode:
    """A cluster of one trial, and its server while it runs."""

    def __init__(
        self, keeper: LocalKeeper, trial: PlannedTrial, number: Node, folder: Path
    ) -> None:
        """``folder``: for evidence."""
        self._keeper, self._trial, self._folder = keeper, trial, folder
        self.number = number
        self.template = dict(trial.nodes)[number]
        self.place: Place = (trial.cluster_of(number), trial.directory)
        study = keeper.bench.plan.study
        restores = study.restores(study.workload(trial.cell.workload))
        self.keeps = not restores and trial.placement is None
        """No trial changes the data, so that the next one can have the cluster. Clusters of
        placements are not kept: a fast storage is small, and holds one at a time."""
        self.facts: Facts = {}
        self.told: dict[str, Any] = {}
        """What the server has said of itself when it was started."""
        self.evidence: list[tuple[str, str]] = []
        self.emulated: EmulatedNode | None = None
        """What makes a machine of its own of it, while it is there."""
        self.found: Cluster | None = None
        """None before there is one, and after it was given back."""
        self.cflags = ""
        self._log_begins = 0
        """Where this trial's part of the server's log begins."""
        self._started = False
        self._crashed = False
        self._sound = False
        """The cluster ended as it should, so that a kept one may be used again."""

    @property
    def cluster(self) -> Cluster:
        if self.found is None:
            raise RuntimeError("the trial has no cluster yet")
        return self.found

    def restore(self) -> Facts:
        kept = self._keeper.kept.get(self.place) if self.keeps else None
        if kept is not None:
            kept.forget_log()
            self.found = kept
            return {"restored": False}
        self.found, report = self._keeper.clone(self._trial, self.number, kept=self.keeps)
        linked = self._keeper.link_facts(self.found)
        if linked is not None:
            self.facts[LINKED] = linked
        return {
            "restored": True,
            "method": str(report.method),
            "clone_seconds": report.seconds,
            "bytes": report.bytes,
        }

    def take(self, server: RunningServer) -> None:
        """Go on with the server of an earlier pair."""
        self.found, self.cflags, self._started = server.cluster, server.cflags, True
        self.facts |= server.facts
        self._log_begins = server.cluster.log_size()

    def start(self, groups: tuple[Path, ...]) -> Facts:
        """``groups``: control groups that the server is a member of, if it has none of its own."""
        cluster, own = self.cluster, self.emulated
        cpus = (own.machine.cpus if own is not None else ()) or self._trial.server_cpus
        cluster.configure(self._keeper.bench.settings_of(self._trial))
        cluster.pin(cpus)
        cluster.join(groups if own is None else (*groups, *own.limit.groups))
        cluster.enter(None if own is None else own.space)
        cluster.open_to(None if own is None else own.opening)
        cluster.start()
        if own is not None:
            self.facts["machine"] = own.facts
        if cpus:
            self.facts["pinned"] = {SERVER: confirm(SERVER, cluster.pid, cpus)}
        self._started = True
        told = self.told = read_server_facts(self.connect)
        require_checksums(told, self.template)
        self.facts["version"] = told["version"]
        self.facts[BOOT] = boot_id()
        self.facts["data_checksums"] = told["data_checksums"]
        if self._trial.placement is not None:
            expected = self._keeper.expected_parts(self._trial, self.number)
            self.facts["placement"] = confirm_placement(
                self.connect, cluster.data_directory, expected
            )
        if self._trial.directory is not None:
            self.facts["data_directory"] = str(cluster.data_directory)
        self.cflags = str(told["build"].get("CFLAGS", ""))
        self.facts["settings"] = non_default_settings(self.connect)
        return {"version": told["version_number"]}

    def prewarm(self) -> Facts:
        return prewarm(self.connect)

    def checkpoint(self) -> Facts:
        with self.connect() as connection:
            connection.execute("CHECKPOINT")
        return {}

    def connect(self) -> psycopg.Connection[Any]:
        return self.cluster.connect(BENCH_DATABASE)

    def address(self) -> Address:
        cluster = self.cluster
        return Address.by_socket(
            cluster.socket_directory,
            cluster.port,
            cluster.user_name,
            BENCH_DATABASE,
            cluster.client_environment,
        )

    def peer_address(self) -> Address:
        """As ``Site.peer_address``."""
        if self.emulated is None or self.emulated.address is None:
            return self.address()
        cluster = self.cluster
        return Address(
            BENCH_DATABASE,
            ("-h", self.emulated.address, "-p", str(cluster.port), "-U", cluster.user_name),
        )

    def sampler(self, postmasters: tuple[int, ...], devices: tuple[str, ...]) -> Sampler:
        """``postmasters``: of all servers on this machine."""
        of = self._keeper.storages.devices
        every = tuple(dict.fromkeys((*devices, *(one for each in of.values() for one in each))))
        return Sampler(
            conninfo=self.cluster.conninfo(BENCH_DATABASE),
            version=self.template.installation.version,
            postmasters=postmasters,
            devices=every,
            reader=self._with_own(open_reader(postmasters, every)),
            storages=of,
            apart=self._keeper.storages.emulated_devices,
        )

    def sampler_beside_others(self) -> Sampler:
        """Of this server alone; another node's has what the machine tells."""
        pids = (self.pid or 0,)
        return Sampler(
            conninfo=self.cluster.conninfo(BENCH_DATABASE),
            version=self.template.installation.version,
            postmasters=pids,
            devices=(),
            reader=self._with_own(OfOneServer(open_reader(pids, ()))),
        )

    def _with_own(self, reader: OsReader) -> OsReader:
        return reader if self.emulated is None else self.emulated.beside(reader, self.pid)

    def page_cache(self, relation: str | None, first: Bytes | None) -> PageCache | None:
        """As ``Site.page_cache``."""
        if relation is None:
            return self._all_cached()
        found, left = NOTHING, first
        with contextlib.closing(self._segments(relation)) as files:
            for file in files:
                one = cached(file, left)
                if one is None:
                    return None
                found += one
                left = None if first is None else Bytes(first - found.size)
        return found

    def _all_cached(self) -> PageCache | None:
        found = NOTHING
        for folder in self._keeper.folders_of(self.cluster):
            one = cached_below(folder)
            if one is None:
                return None
            found += one
        return found

    def evict_all(self) -> bool:
        """The files of the cluster leave the page cache; False where this system cannot."""
        done = [evict_files(one) for one in self._keeper.folders_of(self.cluster)]
        return all(done)

    def evict(self, relation: str) -> bool:
        """As ``Site.evict``."""
        complete = True
        with contextlib.closing(self._segments(relation)) as files:
            for file in files:
                complete &= evict(file)
        return complete

    def _segments(self, relation: str) -> Generator[IO[bytes], None, None]:
        with self.connect() as connection:
            path = path_of(connection, relation)
        if path is None:
            raise ServerError(f"{relation} has no files of its own", "name a table or an index")
        try:
            yield from segments(self.cluster.data_directory, path)
        except OSError as error:
            raise ServerError(
                f"the files of {relation} cannot be read: {error}", "see the trial's log"
            ) from error

    @property
    def name(self) -> str:
        """For messages."""
        return self.found.name if self.found is not None else SERVER

    @property
    def pid(self) -> int | None:
        """The postmaster's, while it runs."""
        return self.found.pid if self.found is not None else None

    def has_ended(self) -> bool:
        """By itself, or by somebody else."""
        return self._started and self.found is not None and not self.found.is_running()

    def is_running(self) -> bool:
        return self.found is not None and self.found.is_running()

    def problems(self) -> tuple[Problem, ...]:
        if self.found is None:
            return ()
        log = self.found.read_log(self._log_begins).decode("utf-8", "replace")
        problems = scan(log)
        if self.has_ended() and not any(one.code == CRASHED for one in problems):
            problems = (Problem(CRASHED, ENDED_UNSAID), *problems)
        self._crashed = any(problem.code == CRASHED for problem in problems)
        return (*self._out_of_memory(), *replaced(self.found), *problems)

    def _out_of_memory(self) -> tuple[Problem, ...]:
        """Processes of an emulated node that the kernel ended because of its limit."""
        if self.emulated is None or self.emulated.machine.memory is None:
            return ()
        found = self.facts["memory"] = self.emulated.limit.readings()
        return out_of_memory(found, self.emulated.machine.memory)

    def stop(self) -> Facts:
        """Fast where the cluster is kept; data that was changed is thrown away, so that its
        shutdown checkpoint, which can take minutes, would be for nothing."""
        if self.found is None:
            return {}
        manner = self.found.stop(immediately=not self.keeps or self._crashed)
        self._sound = manner is StopManner.FAST
        return {"stopped": str(manner)}

    def leave_running(self) -> RunningServer:
        """For the next pair; it is the keeper's from now on."""
        cluster, self.found = self.cluster, None
        self._keeper.kept[self.place] = cluster
        pinned = {"pinned": self.facts["pinned"]} if "pinned" in self.facts else {}
        told = {name: one for name, one in self.facts.items() if name in OF_START}
        return RunningServer(cluster, told | pinned, self.cflags)

    def end(self) -> None:
        """At once, where it still runs."""
        if self.found is not None:
            self.found.stop(immediately=True)

    def give_back(self) -> None:
        """Keep the evidence, and the cluster where the next trial can have it."""
        cluster, self.found = self.found, None
        if cluster is None:
            return
        try:
            self.keep_evidence(cluster)
        finally:
            if self.keeps and self._sound:
                self._keeper.kept[self.place] = cluster
            else:
                if self.keeps:
                    self._keeper.kept.pop(self.place, None)
                self._keeper.remove(cluster)

    def keep_evidence(self, cluster: Cluster) -> None:
        with contextlib.suppress(UnsafePlaceError):  # the trial's problems have told it
            name = file_of(self.number, cluster.log.name)
            keep(self._folder, name, cluster.read_log(self._log_begins))
            self.evidence.append(("server log", name))
        with contextlib.suppress(UnsafePlaceError):
            configuration = cluster.read_configuration()
            if configuration is not None:
                name = file_of(self.number, cluster.configuration.name)
                keep(self._folder, name, configuration)
                self.evidence.append(("configuration", name))
