"""Requests to an agent and its answers, over ssh or a pipe on this machine."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from typing import IO, Any

from teiten import errors
from teiten.errors import MachineError, TeitenError
from teiten.execute.sites.hosted import HostLostError
from teiten.execute.sites.remote.agent.forms import Message, WireError, read_message, write_message
from teiten.execute.sites.remote.bundle import LOADER, first_words
from teiten.execute.sites.remote.ssh import Carrier
from teiten.host.system.processes import own_python, spawn
from teiten.model.hosts import OLDEST_PYTHON

GREETING = b"teiten-agent "
READY = b"ready"
NOISE_LIMIT = 1 << 16
"""Bytes that a shell's start-up files may print before the agent speaks."""
SIGN_OF_LIFE = 10.0
"""Seconds between two words to an agent, which ends after a minute without one."""
KINDS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, TeitenError)
}


class LocalCarrier(Carrier):
    """An agent on this machine, so that both ends are driven alike."""

    host = "this machine"
    patience = (30.0,)

    def start(self) -> subprocess.Popen[bytes]:
        self.process = spawn(
            own_python("-I", "-c", LOADER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )
        return self.process

    def failure(self) -> MachineError:
        return MachineError(
            f"Teiten's agent did not start on this machine: {self.said()}", "please report it"
        )


class Link:
    """One agent. Any thread may ask; one answer is waited for at a time."""

    def __init__(self, carrier: Carrier, *, oldest: tuple[int, int] = OLDEST_PYTHON) -> None:
        """Start the agent and wait until it speaks. Raises MachineError where it does not."""
        self._carrier = carrier
        self._asking, self._writing = threading.Lock(), threading.Lock()
        self._number = 0
        self.lost = False
        self._closed = threading.Event()
        try:
            process = carrier.start()
            if process.stdin is None or process.stdout is None:
                raise RuntimeError("the agent has no pipes")
            self._stdin: IO[bytes] = process.stdin
            self._stdout: IO[bytes] = process.stdout
            self._greet(oldest)
        except BaseException:
            carrier.close()
            raise
        self._breathing = threading.Thread(target=self._breathe, daemon=True)
        self._breathing.start()

    def call(self, what: str, payload: bytes = b"", /, **values: Any) -> Any:
        """Ask ``part.request``; what it gives. Raises its TeitenError, or HostLostError."""
        return self.ask(what, payload, **values)[0]

    def ask(self, what: str, payload: bytes = b"", /, **values: Any) -> tuple[Any, bytes]:
        """Ask as ``call`` does; what the request gives, and the payload of the answer."""
        with self._asking:
            if self.lost or self._closed.is_set():
                raise self._gone()
            self._number += 1
            request = {"id": self._number, "do": what, "with": values}
            try:
                self._write(Message(request, payload))
                answer = self._answer(self._number)
            except (OSError, WireError, ValueError) as error:
                self.lost = True
                raise self._gone() from error
        if "error" in answer.values:
            raise self._error(what, *answer.values["error"])
        return answer.values.get("gives"), answer.payload

    def close(self) -> None:
        """Let the agent end, and wait until it has; never raises."""
        self._closed.set()
        with contextlib.suppress(Exception):
            self._carrier.close()

    def _greet(self, oldest: tuple[int, int]) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._stdin.write(first_words(oldest))
            self._stdin.flush()
        heard = 0
        while line := self._stdout.readline(NOISE_LIMIT):
            heard += len(line)
            if line.startswith(GREETING):
                self._check(line[len(GREETING) :].split(), oldest)
                return
            if heard >= NOISE_LIMIT:
                break
        raise self._carrier.failure()

    def _check(self, words: list[bytes], oldest: tuple[int, int]) -> None:
        if words == [READY]:
            return
        version = words[-1].decode("ascii", "replace") if words else "unknown"
        needed = ".".join(map(str, oldest))
        raise MachineError(
            f"the host {self._carrier.host} has Python {version}; Teiten needs {needed} or newer"
            " there",
            "name a newer one on that host: --set hosts.python=/path/to/python3",
        )

    def _answer(self, number: int) -> Message:
        """The answer to this request; one to a request that was interrupted is passed over."""
        while (answer := read_message(self._stdout)) is not None:
            if answer.values.get("id") == number:
                return answer
        raise WireError("the agent has ended")

    def _write(self, message: Message) -> None:
        with self._writing:
            write_message(self._stdin, message)

    def _breathe(self) -> None:
        while not self._closed.wait(SIGN_OF_LIFE):
            try:
                self._write(Message({}))
            except (OSError, ValueError):
                self.lost = True
                return

    def _gone(self) -> HostLostError:
        lines = self._carrier.said().splitlines()
        why = f": {lines[-1]}" if lines else ""
        return HostLostError(
            f"the connection to the host {self._carrier.host} is lost{why}",
            "what ran there ends by itself, and finished trials are kept; when the host can be"
            " reached again: teiten resume",
        )

    def _error(self, what: str, kind: str, message: str, hint: str) -> Exception:
        known = KINDS.get(kind)
        if known is None:
            return RuntimeError(f"{what} on the host {self._carrier.host}:\n{message}")
        return known(f"host {self._carrier.host}: {message}", hint)
