"""A cluster: a data directory with its server.

A cluster lives in a folder of its own: ``data`` (or another name) for PostgreSQL, the marker, and
what Teiten notes of the server. The folder is Teiten's, and goes with the cluster.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from teiten import connections
from teiten.connections import Conninfo
from teiten.errors import ServerError, UsageError
from teiten.execute.postgres import conf
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.marker import Kind, new_folder, read_marker, remove_marked
from teiten.execute.postgres.programs import run_program
from teiten.execute.postgres.remains import (
    ServerTrace,
    descendants,
    forget_trace,
    is_alive,
    kill_processes,
    remove_shared_memory,
    server_processes,
    trace,
    write_trace,
)
from teiten.execute.postgres.server_log import TAIL, start_failure, wait_until_ready
from teiten.execute.postgres.sockets import (
    choose_port,
    new_socket_directory,
    remove_socket_directory,
)
from teiten.host.system.causes import raise_os_errors_as
from teiten.host.system.detached import end_detached
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError
from teiten.host.system.processes import send_signal, spawn
from teiten.host.system.signals import QUIT
from teiten.host.system.users import ServerUser, own_uid
from teiten.model.installation import SUPERUSER, Installation, initdb_options
from teiten.model.study import Setting
from teiten.model.units import MIB

if TYPE_CHECKING:
    from typing import Self  # 3.11: hosts may have an older Python

BENCH_DATABASE = "bench"
"""The database of every template, which holds the tables."""
WALDIR = 10
"""The major version since which initdb's option for the WAL has this name."""
LARGEST = 4 * MIB
"""Bytes of a configuration file that is read; PostgreSQL's own have 30,000."""
START_TIMEOUT = 60.0
FAST_TIMEOUT = 120.0
IMMEDIATE_TIMEOUT = 15.0
CONFIGURATION, HBA = "postgresql.conf", "pg_hba.conf"
INITDB_CONFIGURATION = "postgresql.initdb.conf"
"""initdb's own postgresql.conf is kept under this name inside the data directory."""
ALTERED = "postgresql.auto.conf"
"""Written by ALTER SYSTEM, and read last by the server."""
LOG = "server.log"
LARGEST_PART = 32 * MIB
"""Bytes of a server's log, from its beginning and from its end: a script can make it of any
length."""
PASSWORDS = "teiten.passwords"
"""In the data directory: a pgpass file."""


class StopManner(StrEnum):
    """How a server ended."""

    FAST = "fast"
    """With a checkpoint, all data written."""
    IMMEDIATE = "immediate"
    KILL = "kill"
    ENDED = "ended"
    """It had ended by itself: it crashed, or was killed."""


@dataclass(frozen=True)
class StartOptions:
    """How a server is started, beside its parameters."""

    cpus: tuple[int, ...] = ()
    """The processors that it, with all of its processes, is pinned to; empty for all."""
    command: tuple[str, ...] = ()
    """A program, with its arguments, that it is run by, and that replaces itself with it."""
    groups: tuple[Path, ...] = ()
    """Control groups that it, with all of its processes, is a member of."""
    space: Path | None = None
    """Its network namespace; None for ours."""
    opening: conf.Opening | None = None
    """Where it listens beside the private socket; None for nowhere."""
    port: int | None = None
    """The number of its port; None for any free one."""
    knows_passwords: bool = False
    """It finds passwords of other servers in a file of its own (``put_passwords``); else it looks
    where libpq does."""


PLAIN = StartOptions()


class Cluster:
    """A data directory and, when started, its server. Start it from the main thread: the server
    ends with the thread that started it (host.processes)."""

    user_name = SUPERUSER

    def __init__(
        self, installation: Installation, data_directory: Path, user: ServerUser, log: Path | None
    ) -> None:
        """``log``: None for the usual one, beside the data directory."""
        self.installation = installation
        self.data_directory = data_directory.absolute()
        self.user = user
        self.log = log or self.data_directory.parent / LOG
        self._settings: tuple[Setting, ...] = ()
        self._process: subprocess.Popen[bytes] | None = None
        self._trace: ServerTrace | None = None
        self._socket_directory: Path | None = None
        self._port: int | None = None

    @classmethod
    def create(
        cls,
        installation: Installation,
        data_directory: Path,
        *,
        user: ServerUser,
        checksums: bool,
        log: Path | None = None,
        what: Kind = Kind.CLUSTER,
        wal: str | None = None,
    ) -> Self:
        """Make a cluster by initdb. Its folder (the parent) must be new, empty or marked; ``wal``:
        the name of the folder in it that has the WAL, None for the data directory.

        Raises UsageError where a folder is not empty, MachineError where the servers' user cannot
        reach it, ServerError where initdb fails.
        """
        new_folder(data_directory.parent, what, f"{installation.name} {data_directory.name}")
        require_access(data_directory.parent, user)
        if installation.initdb is None or installation.postgres is None:
            raise _without_server(installation)
        options = list(initdb_options(installation.version, checksums=checksums))
        _make_empty(data_directory, user, wal)
        if wal is not None:
            named = "--waldir" if installation.version.major_number >= WALDIR else "--xlogdir"
            options.append(f"{named}={data_directory.parent / wal}")
        run_program(
            [installation.initdb, *options, "--pgdata", data_directory],
            what=f"initdb of PostgreSQL {installation.version}",
            user=user,
            library_path=installation.library_path,
            hint=f"look whether {installation.bin_directory} is complete and {user.name} may read"
            " it",
        )
        with HeldFolder.open_itself(data_directory) as data:
            content = data.read(CONFIGURATION, LARGEST)
            data.write(INITDB_CONFIGURATION, content, user=user)
        return cls(installation, data_directory, user, log)

    @classmethod
    def adopt(
        cls,
        installation: Installation,
        data_directory: Path,
        *,
        user: ServerUser,
        log: Path | None = None,
    ) -> Self:
        """Take a data directory that Teiten made (a clone); its folder must carry the marker."""
        if read_marker(data_directory.parent) is None:
            raise UsageError(
                f"the data folder {data_directory} was not made by Teiten",
                "Teiten starts servers only on copies of its own",
            )
        require_access(data_directory.parent, user)
        return cls(installation, data_directory, user, log)

    @property
    def name(self) -> str:
        """For messages."""
        return f"PostgreSQL {self.installation.version} ({self.installation.name})"

    @property
    def socket_directory(self) -> Path:
        """The folder of the socket; made by start, removed by stop."""
        if self._socket_directory is None:
            raise RuntimeError(f"{self.name} is not started")
        return self._socket_directory

    @property
    def port(self) -> int:
        """The port number; chosen by start."""
        if self._port is None:
            raise RuntimeError(f"{self.name} is not started")
        return self._port

    @property
    def pid(self) -> int | None:
        """The postmaster's, while it runs."""
        return self._process.pid if self._process is not None and self.is_running() else None

    def is_running(self) -> bool:
        """Whether the postmaster lives; when it does not after start, the server crashed."""
        return self._process is not None and self._process.poll() is None

    def configure(self, settings: Sequence[Setting]) -> None:
        """Set the study's parameters for the next start; UsageError where one cannot be set."""
        conf.check(settings)
        self._settings = tuple(settings)

    def put_passwords(self, lines: Iterable[str]) -> None:
        """Lines of pgpass for the started server's own connections to others. In no statement, and
        so in no log, and in no file but this one, which goes with the data directory."""
        with self._held_data() as data:
            text = "".join(f"{line}\n" for line in lines)
            data.write(PASSWORDS, text.encode(), user=self.user)

    def start(self, options: StartOptions = PLAIN, *, timeout: float = START_TIMEOUT) -> None:
        """Start the server and wait (seconds) until it takes connections.

        Raises ServerError with the log's last lines where it does not, MachineError where no
        socket can be made or the named port is taken.
        """
        if self._process is not None:
            raise RuntimeError(f"{self.name} was started already")
        postgres = self.installation.postgres
        if postgres is None:
            raise _without_server(self.installation)
        self._port = choose_port(options.port)
        self._socket_directory = new_socket_directory(self.user)
        try:
            self._write_configuration(options.opening)
            self._wait(self._spawn(postgres, options), timeout)
        except BaseException:
            self.stop(immediately=True, immediate_timeout=min(timeout, IMMEDIATE_TIMEOUT))
            raise

    def stop(
        self,
        timeout: float = FAST_TIMEOUT,
        *,
        immediately: bool = False,
        immediate_timeout: float = IMMEDIATE_TIMEOUT,
    ) -> StopManner:
        """End the server: fast, then (after ``timeout`` seconds) immediate, then by a kill.

        ``immediately``: without the fast attempt, for data that nobody needs any more. Says which
        it took. When it returns no process and no socket of the server is left, nor a program that
        its processes, or a load program of its trial, had started (COPY … TO PROGRAM, ``\\shell``),
        in whatever session.
        """
        manner = StopManner.ENDED
        if self._process is not None:
            first = () if immediately else ((StopManner.FAST, signal.SIGINT, timeout),)
            steps = (*first, (StopManner.IMMEDIATE, QUIT, immediate_timeout))
            started = descendants(self._process.pid)
            try:
                manner = _end(self._process, steps)
            except BaseException:  # a second Ctrl-C: nothing may stay behind
                self._process.kill()
                self._process.wait()
                raise
            finally:
                kill_processes([process for process in started if is_alive(process)])
                if manner is not StopManner.FAST:
                    kill_processes(server_processes(self.data_directory))
                end_detached()
        self._forget()
        return manner

    def read_log(self, begin: int = 0) -> bytes:
        """Read the log from there on (bytes), without the middle where it is long;
        nothing where there is no log. Raises UnsafePlaceError where it is no plain file of ours."""
        try:
            with HeldFolder.open_itself(self.log.parent) as folder:
                return _ends(folder, self.log.name, begin)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise UnsafePlaceError(self.log, f"cannot be read: {error.strerror}") from error

    def log_size(self) -> int:
        """Bytes; 0 where there is no log."""
        with (
            contextlib.suppress(FileNotFoundError),
            HeldFolder.open_itself(self.log.parent) as folder,
        ):
            status = folder.status(self.log.name)
            return 0 if status is None else status.st_size
        return 0

    def forget_log(self) -> None:
        """Delete the log, so that the next start begins one."""
        with (
            contextlib.suppress(FileNotFoundError),
            HeldFolder.open_itself(self.log.parent) as folder,
        ):
            folder.unlink(self.log.name)

    def read_configuration(self) -> bytes | None:
        """Read the configuration file; None where there is none.

        Raises UnsafePlaceError where it is no plain file of the servers' user any more."""
        try:
            with self._held_data() as data:
                return data.read(CONFIGURATION, LARGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            what = f"cannot be read: {error.strerror}"
            raise UnsafePlaceError(self.data_directory / CONFIGURATION, what) from error

    def replaced_file(self) -> str | None:
        """Say what stands in the place of a file of the server; None where the file does."""
        try:
            self.read_configuration()
        except UnsafePlaceError as error:
            return error.message
        return None

    def restore_configuration(self) -> None:
        """Put initdb's own configuration back; nothing of ALTER SYSTEM is left."""
        with self._held_data() as data:
            content = data.read(INITDB_CONFIGURATION, LARGEST)
            data.write(CONFIGURATION, content, user=self.user)
            data.write(ALTERED, b"", user=self.user)

    def conninfo(self, dbname: str, *, folder: Path | None = None, timeout: int = 0) -> Conninfo:
        """For our own connections. ``folder``: of another link to the socket; ``timeout``: of
        connecting, in seconds, 0 for none."""
        return connections.to_own_server(
            folder or self.socket_directory,
            self.port,
            self.user_name,
            dbname,
            peer=self._peer,
            timeout=timeout,
        )

    @property
    def client_environment(self) -> dict[str, str]:
        """For libpq in programs that are not given ``conninfo``."""
        return connections.own_environment(self._peer)

    @property
    def _peer(self) -> str | None:
        """The user who must own the server, where that is another."""
        return self.user.name if self.user.is_other else None

    def connect(self, dbname: str = "postgres") -> psycopg.Connection:
        """Connect as the superuser; psycopg.OperationalError where the server does not answer."""
        return connections.connect(self.conninfo(dbname))

    def remove(self) -> None:
        """Stop the server and delete the cluster's folder."""
        self.stop(immediately=True)
        remove_marked(self.data_directory.parent)

    def _write_configuration(self, opening: conf.Opening | None) -> None:
        required = conf.required_settings(self.socket_directory, self.port, opening)
        doing = f"{self.data_directory / CONFIGURATION} cannot be written"
        hint = "see what has become of the data directory, and whether its disk is full"
        with raise_os_errors_as(doing, hint, ServerError), self._held_data() as data:
            initial = None
            if data.status(INITDB_CONFIGURATION) is not None:
                text = data.read(INITDB_CONFIGURATION, LARGEST).decode("utf-8", "replace")
                initial = conf.parse(text)
            text = conf.render(self._settings, required, initial)
            data.write(CONFIGURATION, text.encode(), user=self.user)
            data.write(ALTERED, b"", user=self.user)
            if opening is not None:
                data.write(HBA, conf.host_rules(opening).encode(), user=self.user)

    def _held_data(self) -> HeldFolder:
        """The data directory. Raises UnsafePlaceError where it is not the servers' user's folder,
        and OSError."""
        held = HeldFolder.open_itself(self.data_directory)
        if held.owner != (own_uid() if self.user.uid is None else self.user.uid):
            held.close()
            raise UnsafePlaceError(self.data_directory, f"does not belong to {self.user.name}")
        return held

    def _spawn(self, postgres: Path, options: StartOptions) -> subprocess.Popen[bytes]:
        passwords = {"PGPASSFILE": str(self.data_directory / PASSWORDS)}
        hint = "see whether its programs may be run, and its processors are still ours"
        with (
            HeldFolder.open_itself(self.log.parent) as folder,
            folder.append_to(self.log.name) as log,
            self._held_data() as data,
            raise_os_errors_as(f"{self.name} cannot be started", hint, ServerError),
        ):
            self._process = process = spawn(
                [*options.command, postgres, "-D", self.data_directory],
                user=self.user,
                library_path=self.installation.library_path,
                folder=data.as_working_folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                death_signal=QUIT,
                cpus=options.cpus,
                groups=options.groups,
                space=options.space,
                environment=passwords if options.knows_passwords else {},
            )
        return process

    def _wait(self, process: subprocess.Popen[bytes], timeout: float) -> None:
        patience = max(2, math.ceil(timeout))

        def connect() -> psycopg.Connection:
            return connections.connect(self.conninfo("postgres", timeout=patience))

        reason = wait_until_ready(lambda: process.poll() is not None, connect, timeout=timeout)
        if reason is not None:
            text = self.read_log(max(0, self.log_size() - TAIL)).decode("utf-8", "replace")
            raise start_failure(self.name, reason, self.log, text)
        self._trace = trace(process.pid, self.data_directory, self.socket_directory)
        write_trace(self.data_directory.parent, self._trace)

    def _forget(self) -> None:
        if self._trace is not None:
            remove_shared_memory(self._trace, own_uid() if self.user.uid is None else self.user.uid)
        if self._socket_directory is not None:
            remove_socket_directory(self._socket_directory)
        forget_trace(self.data_directory.parent)
        self._process = self._trace = self._socket_directory = self._port = None


def _without_server(installation: Installation) -> ServerError:
    return ServerError(
        f"the installation {installation.name} has no server",
        f"install one: teiten pg install {installation.version.major}",
    )


def _make_empty(data_directory: Path, user: ServerUser, wal: str | None) -> None:
    """Make the folders for initdb. Raises UsageError where the data directory is not empty."""
    with HeldFolder.open_or_make(data_directory.parent) as parent:
        with contextlib.suppress(FileExistsError):
            parent.make(data_directory.name).close()
        with parent.inner(data_directory.name) as data:
            if data.entries():
                raise UsageError(
                    f"the data folder {data_directory} is not empty",
                    "name a new or an empty folder; Teiten makes no cluster over other files",
                )
            data.give(user)
        if wal is not None:
            with parent.make(wal) as folder:
                folder.give(user)


def _ends(folder: HeldFolder, name: str, begin: int) -> bytes:
    """A plain file from ``begin`` on; of a very large one the beginning and the end."""
    with folder.read_file(name) as file:
        size = file.seek(0, os.SEEK_END) - begin
        file.seek(begin)
        if size <= 2 * LARGEST_PART:
            return file.read(max(size, 0))
        first = file.read(LARGEST_PART)
        file.seek(-LARGEST_PART, os.SEEK_END)
        left_out = f"\n[{size - 2 * LARGEST_PART:,} bytes left out]\n"
        return first + left_out.encode() + file.read(LARGEST_PART)


def _end(
    process: subprocess.Popen[bytes], steps: Sequence[tuple[StopManner, signal.Signals, float]]
) -> StopManner:
    """Signal the postmaster, harder each time; it ends its own backends until it is killed."""
    if process.poll() is not None:
        return StopManner.ENDED
    for manner, signal_number, timeout in steps:
        send_signal(process, signal_number)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            continue
        return manner
    process.kill()
    process.wait()
    return StopManner.KILL
