"""Stand-ins for what Teiten's modules import and a bare Python lacks: as much as they use there.

The same modules that run on this machine run on a host; of ``psutil``, ``filelock``,
``platformdirs``, ``psycopg`` and ``numpy`` they then find these, which read /proc themselves.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import signal
import socket
import struct
import sys
import time
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

PROTOCOL_3 = 196608
READY_TIMEOUT = 5.0
STATUS_RUNNING, STATUS_ZOMBIE = "running", "zombie"


class ProcessError(Exception):
    """psutil.Error: the process is gone, or not ours to see."""


class Process:
    """psutil.Process, from /proc."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._started = int(self._fields()[19])

    def _fields(self) -> list[bytes]:
        """Those of its stat, from its state on."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:  # noqa: PTH123 - as the kernel has it
                data = file.read()
            return data[data.rindex(b")") + 2 :].split()
        except (OSError, ValueError) as error:
            raise ProcessError(str(error)) from error

    def create_time(self) -> float:
        return self._started / os.sysconf("SC_CLK_TCK") + boot_time()

    def ppid(self) -> int:
        return int(self._fields()[1])

    def name(self) -> str:
        try:
            return Path(f"/proc/{self.pid}/comm").read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise ProcessError(str(error)) from error

    def cwd(self) -> str:
        try:
            return str(Path(f"/proc/{self.pid}/cwd").readlink())
        except OSError as error:
            raise ProcessError(str(error)) from error

    def is_running(self) -> bool:
        try:
            fields = self._fields()
        except ProcessError:
            return False
        return int(fields[19]) == self._started and fields[0] != b"Z"

    def status(self) -> str:
        return STATUS_RUNNING if self.is_running() else STATUS_ZOMBIE

    def send_signal(self, number: int) -> None:
        try:
            if self.is_running():
                os.kill(self.pid, number)
        except OSError as error:
            raise ProcessError(str(error)) from error

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def process_iter() -> Iterator[Process]:
    for name in os.listdir("/proc"):  # noqa: PTH208 - quick
        if name.isdigit():
            try:
                yield Process(int(name))
            except ProcessError:
                continue


def wait_procs(processes: Sequence[Process], timeout: float | None = None) -> None:
    end = time.monotonic() + (timeout or 0.0)
    while any(process.is_running() for process in processes) and time.monotonic() < end:
        time.sleep(0.02)


def boot_time() -> float:
    for line in Path("/proc/stat").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("btime "):
            return float(line[6:])
    raise ProcessError("no btime in /proc/stat")


def cpu_count(logical: bool = True) -> int | None:
    return os.cpu_count() if logical else None


class LockTimeoutError(Exception):
    """filelock.Timeout."""


class FileLock:
    """filelock.FileLock: the kernel's lock of an open file."""

    def __init__(self, path: str | Path, timeout: float = -1, **_: Any) -> None:
        self._path = path
        self._timeout = timeout
        self._descriptor: int | None = None

    def acquire(self, timeout: float | None = None, **_: Any) -> FileLock:
        patience = self._timeout if timeout is None else timeout
        end = None if patience < 0 else time.monotonic() + patience
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if end is not None and time.monotonic() >= end:
                    os.close(descriptor)
                    raise LockTimeoutError(str(self._path)) from None
                time.sleep(0.05)
            else:
                self._descriptor = descriptor
                return self

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> FileLock:
        if self._descriptor is None:
            self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class DatabaseError(Exception):
    """psycopg.Error."""


class OperationalError(DatabaseError):
    """psycopg.OperationalError: the server does not answer."""


def make_conninfo(**values: Any) -> str:
    """psycopg.conninfo.make_conninfo, for ``connect`` below alone."""
    return "\0".join(f"{name}={value}" for name, value in values.items())


class Conninfo:
    """psycopg.pq.Conninfo: ``connect`` below reads no environment, so that nothing of it has to be
    overridden."""

    @staticmethod
    def get_defaults() -> list[Any]:
        return []


def _values(conninfo: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in conninfo.split("\0") if part)


def connect(conninfo: str, **_: Any) -> Greeted:
    """Ask a server by its Unix socket whether it takes connections; no more can be had here."""
    values = _values(conninfo)
    path = f"{values['host']}/.s.PGSQL.{values['port']}"
    words = (b"user", values["user"].encode(), b"database", values["dbname"].encode())
    body = struct.pack("!i", PROTOCOL_3) + b"\0".join(words) + b"\0\0"
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(READY_TIMEOUT)
            connection.connect(path)
            if values["requirepeer"]:
                _require_peer(connection, values["requirepeer"])
            connection.sendall(struct.pack("!i", len(body) + 4) + body)
            answer = connection.recv(4096)
            if answer[:1] == b"R":
                connection.sendall(b"X" + struct.pack("!i", 4))
                return Greeted()
    except OSError as error:
        raise OperationalError(f"{path}: {error}") from error
    raise OperationalError(answer[5:].replace(b"\0", b" ").decode("utf-8", "replace") or "closed")


def _require_peer(connection: socket.socket, user: str) -> None:
    """Check a socket's peer as libpq's requirepeer. Raises OSError where another user answers."""
    credentials = connection.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
    )
    if struct.unpack("3i", credentials)[1] != pwd.getpwnam(user).pw_uid:
        raise OSError(f"requirepeer specifies {user}, but another user answers")


class Greeted:
    """A connection that was made, and closed."""

    def close(self) -> None:
        """Nothing is open any more."""


class NDArray:
    """numpy.typing.NDArray, which only annotations need."""

    def __class_getitem__(cls, _: Any) -> Any:
        return cls


def user_data_dir(name: str, **_: Any) -> str:
    base = os.environ.get("XDG_DATA_HOME", "").strip()
    return str(Path(base) / name if base else Path.home() / ".local/share" / name)


def disk_partitions(all: bool) -> list[Any]:  # noqa: A002, ARG001 - psutil's
    """None: asked only where /proc tells of no file system, as in a folder that is a root."""
    return []


def install() -> None:
    """Put the stand-ins where imports look first."""
    numpy = _module("numpy", float64=float)
    psycopg = _module(
        "psycopg",
        Error=DatabaseError,
        OperationalError=OperationalError,
        connect=connect,
        sql=_module("psycopg.sql"),
        conninfo=_module("psycopg.conninfo", make_conninfo=make_conninfo),
        errors=_module("psycopg.errors"),
        pq=_module("psycopg.pq", Conninfo=Conninfo),
    )
    _module("numpy.typing", NDArray=NDArray)
    numpy.__dict__["typing"] = sys.modules["numpy.typing"]
    for module in (numpy, psycopg):
        module.__dict__["__path__"] = []
    _module(
        "psutil",
        Error=ProcessError,
        STATUS_ZOMBIE=STATUS_ZOMBIE,
        Process=Process,
        process_iter=process_iter,
        wait_procs=wait_procs,
        cpu_count=cpu_count,
        disk_usage=shutil.disk_usage,
        disk_partitions=disk_partitions,
    )
    _module("filelock", FileLock=FileLock, Timeout=LockTimeoutError)
    _module("platformdirs", user_data_dir=user_data_dir)


def _module(name: str, **values: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(values)
    sys.modules[name] = module
    return module
