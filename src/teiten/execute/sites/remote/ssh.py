"""The user's own ssh: one connection for each host, with forwarded sockets.

Whatever stands in the user's configuration (aliases, keys, agent, jump hosts) holds; nothing is
asked on the terminal. The connection is ours alone: it neither uses nor leaves a shared one.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.marker import Kind, mark
from teiten.execute.postgres.sockets import bases
from teiten.execute.sites.remote.bundle import LOADER
from teiten.host.system.environment import Inherited, last_words, run_briefly
from teiten.host.system.processes import spawn
from teiten.host.system.users import ServerUser

COMMAND = "TEITEN_SSH_COMMAND"
"""In the environment: another ssh, or one with options (``ssh -F file``), as GIT_SSH_COMMAND is."""
CONNECT_TIMEOUT = 15
ALIVE_INTERVAL, ALIVE_COUNT = 10, 3
"""Seconds without an answer after which a host is asked, and how often in vain."""
FORWARD_TIMEOUT = 30.0
CONTROL = ".s.PGSQL.ssh"
"""The control socket, named so that the sweep of left socket folders removes it too."""
OPTIONS = (
    "BatchMode=yes",
    f"ConnectTimeout={CONNECT_TIMEOUT}",
    f"ServerAliveInterval={ALIVE_INTERVAL}",
    f"ServerAliveCountMax={ALIVE_COUNT}",
    "ControlPersist=no",
    "RemoteCommand=none",
    "PermitLocalCommand=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "StreamLocalBindUnlink=yes",
    "LogLevel=ERROR",
)

_HINTS = (
    (
        r"Could not resolve hostname",
        "see whether the name is right, and known to ssh: ssh {host} true",
    ),
    (
        r"Host key verification failed|HOST IDENTIFICATION HAS CHANGED",
        "make the host known to ssh once by hand: ssh {host} true",
    ),
    (
        r"Permission denied",
        "Teiten asks no password: use a key, or an agent that holds it, so that `ssh {host} true`"
        " works without a question",
    ),
    (
        r"Connection (?:refused|timed out|reset|closed)|No route to host|unreachable"
        r"|Operation timed out",
        "see whether the host runs, and ssh reaches it: ssh {host} true",
    ),
)
_NOT_FOUND = re.compile(r"not found|No such file or directory|Unknown command", re.IGNORECASE)


def ssh_command() -> list[str]:
    """The user's ssh with its options. Raises MachineError where there is none."""
    words = shlex.split(os.environ.get(COMMAND, "")) or ["ssh"]
    if shutil.which(words[0]) is None:
        raise MachineError(
            f"{words[0]} is not installed, and a host can only be reached by it",
            "install OpenSSH's client (Debian: openssh-client)",
        )
    return words


def check_host(name: str, where: str) -> str:
    """A name that ssh takes for a host, not for an option. Raises UsageError."""
    if not name or name.startswith("-") or any(c.isspace() or ord(c) < 32 for c in name):
        raise UsageError(
            f"{where}: {name!r} is no host",
            "name it as for ssh: HOST, USER@HOST, ssh://USER@HOST:PORT, or an alias of its"
            " configuration",
        )
    return name


class Carrier(ABC):
    """The connection that runs an agent, and carries its two streams."""

    host: str
    patience: tuple[float, ...] = (10.0, 3.0)
    """Seconds that an agent has to clean up, and again after each signal, before it is killed."""

    def __init__(self) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the connection
        """The standard error of the process."""
        self.process: subprocess.Popen[bytes] | None = None

    @abstractmethod
    def start(self) -> subprocess.Popen[bytes]:
        """Begin; how it went is seen by what the program there says."""

    @abstractmethod
    def failure(self) -> MachineError:
        """Why it could not be begun."""

    def said(self) -> str:
        """Read the last that the process wrote to standard error; nothing once it is closed."""
        if self.errors.closed:
            return ""
        self.errors.seek(0)
        return self.errors.read()[-65536:].decode("utf-8", "replace").strip()

    def close(self) -> None:
        """End the agent, and with it what runs there; never raises."""
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):  # the sign for it to go
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            _end(self.process, self.patience)
        self.errors.close()


class SshConnection(Carrier):
    """One connection that runs a Python on the host, and forwards sockets of it."""

    def __init__(self, host: str, python: str) -> None:
        super().__init__()
        self.host = host
        self._python = python
        self._command = ssh_command()
        self._folder = _control_folder()

    def start(self) -> subprocess.Popen[bytes]:
        program = f"exec {shlex.quote(self._python)} -I -c {shlex.quote(LOADER)}"
        arguments = [*self._words("ControlMaster=yes"), "-T", "--", self.host, program]
        self.process = spawn(
            arguments,
            inherited=Inherited.PERSON,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        return self.process

    def forward(self, here: Path, there: str) -> None:
        """Make a socket of the host appear here. Raises MachineError."""
        self._control("forward", f"{here}:{there}")

    def cancel(self, here: Path, there: str) -> None:
        """Take a forwarded socket away; nothing where the connection is gone."""
        with contextlib.suppress(MachineError):
            self._control("cancel", f"{here}:{there}")
        with contextlib.suppress(OSError):
            here.unlink()

    def close(self) -> None:
        super().close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def failure(self) -> MachineError:
        """Why it could not be begun: from what ssh, or the shell there, said."""
        complaint = self.said()
        last = complaint.splitlines()[-1].strip() if complaint else "it said nothing"
        for pattern, hint in _HINTS:
            if re.search(pattern, complaint):
                return MachineError(
                    f"the host {self.host} cannot be reached: {last}", hint.format(host=self.host)
                )
        if _NOT_FOUND.search(complaint) and self._python in complaint:
            return MachineError(
                f"there is no {self._python} on the host {self.host}: {last}",
                "a host needs Python 3.9 or newer, and nothing else; its name there is given by"
                " --set hosts.python=NAME",
            )
        return MachineError(
            f"Teiten's agent did not start on the host {self.host}: {last}",
            f"see what `ssh {self.host} {self._python} --version` says",
        )

    def _words(self, master: str) -> list[str]:
        options = (*OPTIONS, master, f"ControlPath={self._folder / CONTROL}")
        return [*self._command, *(word for option in options for word in ("-o", option))]

    def _control(self, what: str, pair: str) -> None:
        arguments = [*self._words("ControlMaster=no"), "-O", what, "-L", pair, "--", self.host]
        complaint = "no answer"
        with contextlib.suppress(TimeoutError):
            done = run_briefly(arguments, inherited=Inherited.PERSON, timeout=FORWARD_TIMEOUT)
            if done.returncode == 0:
                return
            complaint = last_words(done) or self.said() or "refused"
        raise MachineError(
            f"the server's socket on {self.host} cannot be forwarded: {complaint.splitlines()[-1]}",
            "the host's sshd_config must allow it: AllowStreamLocalForwarding yes (its default)",
        )


def _control_folder() -> Path:
    """A marked folder of mode 0700 with a short path."""
    base = bases(ServerUser(name="", uid=None, gid=None))[-1]
    folder = Path(tempfile.mkdtemp(prefix="teiten-", dir=base))
    mark(folder, Kind.SOCKETS)
    return folder


def _end(process: subprocess.Popen[bytes], patience: Sequence[float]) -> None:
    """It ends by itself when its input does; the agent has then cleaned up."""
    for seconds in patience:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
        else:
            return
    process.kill()
    process.wait()
