"""The agent's life: it does what it is asked, and takes everything with it when it is left alone.

It ends at the end of its standard input, after a minute without a word, and on a signal: then what
it has started is stopped, and what it made for the campaign is deleted.
"""

from __future__ import annotations

from teiten.execute.sites.remote.agent import standins

standins.install()

import contextlib  # noqa: E402 - the stand-ins come before everything that imports their packages
import errno  # noqa: E402
import os  # noqa: E402
import queue  # noqa: E402
import signal  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from types import FrameType  # noqa: E402
from typing import IO, Any  # noqa: E402

from teiten.errors import MachineError, TeitenError  # noqa: E402
from teiten.execute.sites.remote.agent.clusters import Clusters  # noqa: E402
from teiten.execute.sites.remote.agent.forms import (  # noqa: E402
    Message,
    WireError,
    read_message,
    write_message,
)
from teiten.execute.sites.remote.agent.loads import Loads  # noqa: E402
from teiten.execute.sites.remote.agent.machine import HostReader  # noqa: E402
from teiten.execute.sites.remote.agent.packages import Belongings, Packages  # noqa: E402
from teiten.execute.sites.remote.agent.room import AgentFolder  # noqa: E402

GREETING = b"teiten-agent ready\n"
SILENCE = 60.0
"""Seconds without a word after which the other side counts as gone; it says one every few."""
DEFECT = "defect"


class LeftAloneError(BaseException):
    """The other side is gone."""


class Agent:
    """The parts that can be asked, by name."""

    def __init__(self) -> None:
        self.room = AgentFolder()
        self.parts: dict[str, Any] = {
            "room": self.room,
            "machine": HostReader(self.room),
            "belongings": Belongings(self.room),
            "packages": Packages(self.room),
            "clusters": Clusters(self.room),
            "loads": Loads(self.room),
        }

    def do(self, request: Message) -> Message:
        part, _, name = str(request.values["do"]).partition(".")
        if name.startswith("_") or part not in self.parts:
            raise RuntimeError(f"no such request: {part}.{name}")
        values = request.values.get("with", {})
        if request.payload:
            values = {**values, "payload": request.payload}
        given = getattr(self.parts[part], name)(**values)
        return given if isinstance(given, Message) else Message({"gives": given})

    def end(self) -> None:
        """Stop everything, the load first; whatever fails must not keep the rest."""
        for name in ("loads", "machine", "clusters", "packages", "room"):
            with contextlib.suppress(Exception):
                self.parts[name].end()


class Ears:
    """Hears requests in a thread, so that the end is heard in the middle of one too."""

    def __init__(self, stdin: IO[bytes]) -> None:
        self.requests: queue.Queue[Message] = queue.Queue()
        self.gone = False
        self._stdin = stdin
        self._heard = time.monotonic()

    def open(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._left_alone)
        for run in (self._listen, self._watch):
            threading.Thread(target=run, daemon=True).start()

    def close(self) -> None:
        """From now on nothing interrupts."""
        self.gone = True

    def _left_alone(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if not self.gone:
            self.gone = True
            raise LeftAloneError

    def _listen(self) -> None:
        try:
            while (message := read_message(self._stdin)) is not None:
                self._heard = time.monotonic()
                if "do" in message.values:  # else only a sign of life
                    self.requests.put(message)
        except (OSError, WireError, ValueError):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    def _watch(self) -> None:
        while time.monotonic() - self._heard < SILENCE:
            time.sleep(SILENCE / 12)
        os.kill(os.getpid(), signal.SIGTERM)


def main(stdin: IO[bytes]) -> None:
    """Serve until left alone; never returns."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a program prints must not look like an answer
    ears, agent = Ears(stdin), Agent()
    try:
        ears.open()
        answers.write(GREETING)
        answers.flush()
        while not ears.gone:
            with contextlib.suppress(queue.Empty):
                request = ears.requests.get(timeout=1.0)
                write_message(answers, _answered(agent, request))
    except (LeftAloneError, OSError):
        pass
    finally:
        ears.close()
        agent.end()
        sys.stderr.flush()
        os._exit(0)


def _answered(agent: Agent, request: Message) -> Message:
    number = request.values["id"]
    try:
        given = agent.do(request)
    except Exception as error:
        return Message({"id": number, "error": _refusal(error)})
    return Message({"id": number, **given.values}, given.payload)


def _refusal(error: Exception) -> tuple[str, str, str]:
    """An error's kind, or the nearest that the other side knows, its message and its hint."""
    refused = _of_system(error) if isinstance(error, OSError) else error
    if not isinstance(refused, TeitenError):
        return DEFECT, traceback.format_exc(), ""
    own = TeitenError.__module__
    kind = next(kind.__name__ for kind in type(refused).__mro__ if kind.__module__ == own)
    return kind, refused.message, refused.hint


def _of_system(error: OSError) -> MachineError:
    where = f"{error.filename}: " if error.filename else ""
    refusal = f"{where}{error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MachineError(
            f"no disk is left: {refusal}",
            "give disk back there, or name a folder on another disk (hosts.db_workdir,"
            " hosts.client_workdir)",
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return MachineError(
            f"no right to do that: {refusal}",
            "name a folder that the user may write to (hosts.db_workdir, hosts.client_workdir)",
        )
    return MachineError(
        refusal, "name another folder there (hosts.db_workdir, hosts.client_workdir)"
    )
