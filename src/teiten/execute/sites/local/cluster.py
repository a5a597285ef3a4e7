"""A cluster on this machine, with what only its own machine sees and can do."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from teiten.errors import ServerError, TeitenError, WorkloadError
from teiten.execute.applied import confirmed
from teiten.execute.client.address import Address
from teiten.execute.client.contract import Program
from teiten.execute.client.here import ChildHere
from teiten.execute.executor import Facts
from teiten.execute.postgres import elsewhere
from teiten.execute.postgres.beside import ServerSurroundings, filled
from teiten.execute.postgres.binaries import find_binary
from teiten.execute.postgres.building.relinking import LinkedServer
from teiten.execute.postgres.cluster import BENCH_DATABASE, Cluster
from teiten.execute.postgres.marker import read_marker, remove_marked
from teiten.execute.postgres.placement import confirm_placement, path_of, segments
from teiten.execute.probes.os import OsReader
from teiten.execute.sites.hosted import HostedCluster, Launch
from teiten.execute.sites.local.node_emulation import EmulatedNode
from teiten.host.system.affinity import confirm_pinned
from teiten.host.system.page_cache import (
    NOTHING,
    PageCache,
    all_cached,
    cached,
    cached_below,
    empty_caches,
    evict,
)
from teiten.host.system.paths import Workdir
from teiten.model.storage import Part
from teiten.model.study import CachePolicy
from teiten.model.trial import LINKED
from teiten.model.units import Bytes

SERVER = "server"


@dataclass(frozen=True)
class CopyOnDisk:
    """Where a cluster's files are, and what else was made for it."""

    workdir: Workdir
    folders: tuple[Path, ...]
    """All that hold its files, its own first."""
    expected: Mapping[Part, Path]
    """Where the parts of a placement must be found; empty without one."""
    linked: LinkedServer | None
    """A round's own server."""
    in_named_folder: bool
    """The study names where its data are."""

    def remove(self) -> None:
        """Delete what is left of it, if this process has made it."""
        if self.linked is not None:
            with contextlib.suppress(TeitenError, OSError):
                remove_marked(self.linked.folder)
        for folder in self.folders:
            marker = read_marker(folder)
            if marker is not None and marker.maker.is_this_process:
                with contextlib.suppress(TeitenError, OSError):
                    remove_marked(folder)
            elsewhere.forget(self.workdir, folder)


class LocalCluster(Cluster, HostedCluster):
    """``execute.sites.hosted.HostedCluster`` says what the methods do."""

    emulated: EmulatedNode | None = None
    copy: CopyOnDisk

    @property
    def facts(self) -> Facts:
        linked = self.copy.linked
        return {} if linked is None else {LINKED: linked.facts}

    def launch(self, launch: Launch) -> Facts:
        own, cpus = launch.emulated, launch.options.cpus
        self.emulated = own
        self.forget_log()
        self.configure(launch.settings)
        self.start(launch.options)
        facts: Facts = {} if own is None else {"machine": own.facts}
        if cpus:
            facts["pinned"] = {SERVER: confirm_pinned(SERVER, self.pid, cpus)}
        if launch.applied and self.pid is not None:
            facts["applied"] = confirmed(launch.applied, self.pid)
        if self.copy.expected:
            facts["placement"] = confirm_placement(
                lambda: self.connect(BENCH_DATABASE), self.data_directory, self.copy.expected
            )
        if self.copy.in_named_folder:
            facts["data_directory"] = str(self.data_directory)
        return facts

    def has_ended(self) -> bool:
        return not self.is_running()

    def remove(self) -> None:
        try:
            super().remove()
        finally:
            self.copy.remove()

    def address(self) -> Address:
        return Address.by_socket(
            self.socket_directory,
            self.port,
            self.user_name,
            BENCH_DATABASE,
            self.client_environment,
        )

    def peer_address(self) -> Address:
        if self.emulated is None or self.emulated.address is None:
            return self.address()
        options = ("-h", self.emulated.address, "-p", str(self.port), "-U", self.user_name)
        return Address(BENCH_DATABASE, options)

    def spawn(self, program: Program) -> ChildHere:
        here, installation = ServerSurroundings.of(self), self.installation
        path = find_binary(installation.bin_directory, str(program.path))
        if path is None:
            raise WorkloadError(
                f"the installation {installation.name} has no {program.path}",
                f"name one that has it; this one's programs are in {installation.bin_directory}",
            )
        ready = replace(
            program,
            path=path,
            library_path=installation.library_path,
            arguments=tuple(filled(word, here.places) for word in program.arguments),
            environment=here.environment,
        )
        return ChildHere(ready, self.user)

    def with_own_use(self, reader: OsReader) -> OsReader:
        return reader if self.emulated is None else self.emulated.beside(reader, self.pid)

    def empty_caches(self, policy: CachePolicy) -> str:
        return empty_caches(self.copy.folders, everything=policy is CachePolicy.DROP)

    def page_cache(self, relation: str | None, first: Bytes | None) -> PageCache | None:
        if relation is None:
            return all_cached(map(cached_below, self.copy.folders))
        whole, left = NOTHING, first
        with contextlib.closing(self._segments(relation)) as files:
            for file in files:
                part = cached(file, left)
                if part is None:
                    return None
                whole += part
                left = None if first is None else Bytes(first - whole.size)
        return whole

    def evict(self, relation: str) -> bool:
        complete = True
        with contextlib.closing(self._segments(relation)) as files:
            for file in files:
                complete &= evict(file)
        return complete

    def _segments(self, relation: str) -> Generator[IO[bytes], None, None]:
        with self.connect(BENCH_DATABASE) as connection:
            path = path_of(connection, relation)
        if path is None:
            raise ServerError(f"{relation} has no files of its own", "name a table or an index")
        try:
            yield from segments(self.data_directory, path)
        except OSError as error:
            raise ServerError(
                f"the files of {relation} cannot be read: {error}", "see the trial's log"
            ) from error
