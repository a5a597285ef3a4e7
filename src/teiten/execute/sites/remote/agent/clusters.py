"""Clusters on this host: templates, copies of them, and their servers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from psycopg import OperationalError

from teiten.connections import connect
from teiten.execute.postgres.beside import ServerSurroundings
from teiten.execute.postgres.cluster import Cluster, StartOptions
from teiten.execute.postgres.conf import Opening
from teiten.execute.postgres.marker import Kind
from teiten.execute.postgres.programs import run_program
from teiten.execute.postgres.sockets import SOCKET, link_socket
from teiten.execute.postgres.templates.build import BUILD_SETTINGS, DATA, end_build
from teiten.execute.postgres.templates.store import DESCRIPTION, TemplateStore
from teiten.execute.sites.remote.agent.forms import BUILT, Message, settings_of, template_of
from teiten.execute.sites.remote.agent.room import AgentFolder
from teiten.host.system.held_folder import UnsafePlaceError
from teiten.host.system.page_cache import empty_caches
from teiten.model.study import CachePolicy


class Clusters:
    """The clusters that the agent has started; each has a key that the other side chose."""

    def __init__(self, room: AgentFolder) -> None:
        self._room = room
        self._clusters: dict[str, Cluster] = {}
        self._entrances: dict[str, Path] = {}
        self._build: ExitStack | None = None

    def known_templates(self, fingerprints: list[str]) -> list[str]:
        """Those of them that are there."""
        folder = self._room.workdir.templates
        return [
            fingerprint
            for fingerprint in fingerprints
            if (folder / fingerprint / DESCRIPTION).is_file()
        ]

    def begin_build(self, template: dict[str, Any], pgbench: str) -> dict[str, Any] | None:
        """Make the cluster of a template and start its server; None where there is no need.

        ``pgbench``: the version that fills it.
        """
        spec, build = template_of(template), ExitStack()
        with build:
            partial = build.enter_context(self._store.building(spec, pgbench, lambda _: None))
            if partial is None:
                return None
            cluster = Cluster.create(
                spec.installation,
                partial / DATA,
                user=self._room.user,
                checksums=spec.checksums,
                what=Kind.TEMPLATE_BUILD,
            )
            build.enter_context(_stopped(cluster))
            cluster.configure(BUILD_SETTINGS)
            cluster.start()
            self._clusters[BUILT] = cluster
            self._entrances[BUILT] = _entrance(cluster)
            self._build = build.pop_all()
        return self.state(BUILT)

    def run(
        self,
        arguments: list[str],
        library_path: str | None,
        environment: dict[str, str],
        what: str,
        hint: str,
    ) -> str:
        """Run a program that fills a cluster, to its end."""
        path = Path(library_path) if library_path else None
        return run_program(
            arguments, what=what, library_path=path, environment=environment, hint=hint
        )

    def finish_build(self) -> None:
        """Stop the server; what it has on the disk is the template."""
        build, self._build = self._build, None
        cluster = self._clusters.pop(BUILT)
        if build is None:
            raise RuntimeError("no template is being built")
        with build:
            end_build(cluster)

    def drop_build(self) -> None:
        """Nothing of it is left."""
        build, self._build = self._build, None
        self._clusters.pop(BUILT, None)
        if build is not None:
            with contextlib.suppress(_DroppedError), build:
                raise _DroppedError

    def clone(self, key: str, template: dict[str, Any], name: str) -> dict[str, Any]:
        """A copy of a template, as the cluster ``key``."""
        spec = template_of(template)
        folder = self._room.workdir.clusters / name
        report = self._store.clone(spec, folder)
        user = self._room.user
        self._clusters[key] = Cluster.adopt(spec.installation, folder / DATA, user=user)
        return {
            "method": str(report.method),
            "seconds": report.seconds,
            "bytes": report.bytes,
        }

    def caches(self, key: str, policy: str) -> str:
        """Empty the page cache by a policy; say what happened."""
        folder = self._clusters[key].data_directory.parent
        return empty_caches((folder,), everything=policy == CachePolicy.DROP)

    def start(
        self,
        key: str,
        settings: list[list[str]],
        opening: dict[str, Any] | None,
        port: int | None,
        passwords: bool,
    ) -> dict[str, Any]:
        """Start a server; ``opening``: where it listens beside its socket; ``passwords``: it will
        be told those of other servers."""
        cluster = self._clusters[key]
        cluster.forget_log()
        cluster.configure(settings_of(settings))
        address = Opening(**opening) if opening is not None else None
        cluster.start(StartOptions(opening=address, port=port, knows_passwords=passwords))
        try:
            self._entrances[key] = _entrance(cluster)
        except BaseException:
            cluster.stop(immediately=True)
            raise
        return self.state(key)

    def state(self, key: str) -> dict[str, Any]:
        cluster = self._clusters[key]
        if not cluster.is_running():
            return {"pid": None}
        return {
            "pid": cluster.pid,
            "socket": str(self._entrances[key]),
            "socket_of_peers": str(cluster.socket_directory),
            "port": cluster.port,
            "environment": cluster.client_environment,
        }

    def surroundings(self, key: str) -> dict[str, Any]:
        """The places and the environment for a program beside a started server."""
        surroundings = ServerSurroundings.of(self._clusters[key])
        return {"places": surroundings.places, "environment": surroundings.environment}

    def put_passwords(self, key: str, lines: list[str]) -> None:
        """By which a started server reaches others."""
        self._clusters[key].put_passwords(lines)

    def stop(self, key: str, immediately: bool) -> str:
        return str(self._clusters[key].stop(immediately=immediately))

    def log(self, key: str, begin: int) -> Message:
        """Read what the server of the last start has written, from the byte ``begin`` on."""
        read = partial(self._clusters[key].read_log, begin)
        return Message({"gives": None}, _what_can_be_read(read))

    def log_size(self, key: str) -> int:
        return self._clusters[key].log_size()

    def configuration(self, key: str) -> Message:
        return Message({"gives": None}, _what_can_be_read(self._clusters[key].read_configuration))

    def replaced(self, key: str) -> str | None:
        """Say what stands in the place of a file of the server; None where the file does."""
        return self._clusters[key].replaced_file()

    def remove(self, key: str) -> None:
        cluster = self._clusters.pop(key, None)
        if cluster is not None:
            cluster.remove()

    def end(self) -> None:
        for cluster in self._clusters.values():  # all stop before the first is deleted
            with contextlib.suppress(Exception):
                cluster.stop(immediately=True)
        with contextlib.suppress(Exception):
            self.drop_build()
        for key in tuple(self._clusters):
            with contextlib.suppress(Exception):
                self.remove(key)

    @property
    def _store(self) -> TemplateStore:
        return TemplateStore(self._room.workdir, self._room.user)


class _DroppedError(Exception):
    """A build is not wanted any more."""


def _entrance(cluster: Cluster) -> Path:
    """The folder of a socket that leads to this server and to no other, and that only we enter.

    Root's sshd, which carries our connections there, goes wherever a link leads. Raises ServerError
    where the servers' user has put something else in the socket's place.
    """
    user = cluster.user
    if not user.is_other:
        return cluster.socket_directory
    entrance = link_socket(cluster.socket_directory, cluster.port, user)
    try:
        connect(cluster.conninfo("postgres", folder=entrance)).close()
    except OperationalError as error:
        raise UnsafePlaceError(
            entrance / f"{SOCKET}{cluster.port}", f"does not lead to the server: {error}"
        ) from error
    return entrance


def _what_can_be_read(read: Callable[[], bytes | None]) -> bytes:
    """A server's file, or why it is none any more."""
    try:
        return read() or b""
    except UnsafePlaceError as error:
        return f"# {error.message}\n".encode()


@contextlib.contextmanager
def _stopped(cluster: Cluster) -> Iterator[None]:
    try:
        yield
    finally:
        cluster.stop(immediately=True)
