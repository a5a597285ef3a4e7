"""perf(1) on a server's processes: sampled call stacks, and a few counters.

Sampling is by ``cpu-clock``, a timer of each process's own CPU time: it needs no hardware counters,
so it works in virtual machines too, and a sample stands for the same CPU time everywhere. perf is
attached to the postmaster and all of its processes; those that they start inherit it. It starts
idle and is told to begin through a pipe, so that no load runs before it is attached.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from teiten.errors import TeitenError
from teiten.host.system import processes
from teiten.model.stacks import FRAMES, KERNEL, CallGraph

RATES = (499, 199, 99)
"""Samples per second of CPU time, of which the quickest is taken that fits; primes, so that they do
not beat with what the server does at round intervals."""
MOST_SAMPLES = 30_000
"""About, in a window: each takes 8 kB of disk with DWARF, and half a millisecond to unwind."""
STACK_BYTES = 16_384
"""Bytes of a stack that are kept for unwinding by DWARF."""
ATTACHING = 15.0
"""Seconds that perf may take to attach to all processes."""
ENDING = 30.0
UNWINDING = 600.0
EVENTS = {
    "task-clock": "cpu_seconds",
    "context-switches": "context_switches",
    "page-faults": "page_faults",
    "instructions": "instructions",
    "cycles": "cycles",
}
HARDWARE = frozenset({"instructions", "cycles"})
IN_KERNEL = frozenset({"context-switches", "page-faults"})
"""Events that happen there, wholly or in part."""


class PerfError(TeitenError):
    """perf did not do what was asked: told by a caution, never the end of a trial."""


@dataclass(frozen=True)
class PerfWay:
    """How a window is sampled."""

    perf: str
    call_graph: CallGraph
    kernel: bool
    frequency: int


def rate_for(seconds: float, busy: int) -> int:
    """The rate for a window in which at most ``busy`` processes run at once."""
    expected = seconds * max(1, busy)
    return next((rate for rate in RATES if rate * expected <= MOST_SAMPLES), RATES[-1])


def call_graph_for(cflags: str) -> CallGraph:
    """Frame pointers where the server was built with them (pg_config's CFLAGS), else DWARF."""
    has_pointers = "-fno-omit-frame-pointer" in cflags.split()
    return CallGraph.FRAME_POINTERS if has_pointers else CallGraph.DWARF


class PerfSession:
    """``begin``, load, ``end``, then ``read``; ``abandon`` at any time."""

    def __init__(self, way: PerfWay, pids: Sequence[int], folder: Path) -> None:
        self._way = way
        self._folder = folder
        self._pids = ",".join(map(str, pids))
        self._data = folder / "perf.data"
        self._recorder = _Attached(folder, "record", self._record_words())
        self._counter = _Attached(folder, "stat", self._stat_words())
        self._counting = True

    def begin(self) -> None:
        """Attach and start. Raises PerfError with perf's own message. Without counters it goes on
        by sampling alone."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._recorder.begin()
        try:
            self._counter.begin()
        except PerfError:
            self._counting = False

    def end(self) -> None:
        """Raises PerfError where perf had ended before, or wrote nothing."""
        if self._counting:
            with contextlib.suppress(PerfError):
                self._counter.end()
        self._recorder.end()
        if not self._data.exists():
            raise self._recorder.failure("it wrote no samples")

    def read(self) -> Folded:
        """The stacks of the window. Raises PerfError where perf cannot read its own file."""
        words = ["script", "--no-inline", "-i", self._data, "-F", "pid,ip,sym,dso"]
        errors = self._folder / "script.err"
        with errors.open("wb") as sink:
            reading = processes.spawn(
                [self._way.perf, *map(str, words)], stdout=subprocess.PIPE, stderr=sink
            )
            try:
                if reading.stdout is None:
                    raise RuntimeError("perf script was started without a pipe")
                with reading.stdout as pipe:
                    folded = fold(line.decode("utf-8", "replace") for line in pipe)
                code = reading.wait(UNWINDING)
            finally:
                reading.kill()
                reading.wait()
        if code != 0:
            raise PerfError(f"perf script: {_first_line(errors)}", "look at the trial's log")
        return folded

    def counters(self) -> dict[str, float]:
        """Read what perf stat counted; empty where it could not."""
        return parse_counters(self._counter.said()) if self._counting else {}

    def abandon(self) -> None:
        """End perf, and give back the disk; never raises, may be called twice."""
        self._recorder.kill()
        self._counter.kill()
        self._data.unlink(missing_ok=True)

    def _record_words(self) -> list[str]:
        way = self._way
        graph = f"dwarf,{STACK_BYTES}" if way.call_graph is CallGraph.DWARF else "fp"
        event = "cpu-clock" if way.kernel else "cpu-clock:u"
        sampling = ["-e", event, "-F", str(way.frequency), "--call-graph", graph]
        return [way.perf, "record", *sampling, "-o", str(self._data), "-p", self._pids]

    def _stat_words(self) -> list[str]:
        user = "" if self._way.kernel else ":u"
        events = ",".join(f"{name}{user if name in HARDWARE else ''}" for name in EVENTS)
        return [self._way.perf, "stat", "-x", ",", "-e", events, "-p", self._pids]


class _Attached:
    """One perf that starts idle, and is told through a named pipe to begin."""

    def __init__(self, folder: Path, name: str, words: Sequence[str]) -> None:
        self._control, self._answer = folder / f"{name}.control", folder / f"{name}.answer"
        self._errors = folder / f"{name}.err"
        pipes = f"fifo:{self._control},{self._answer}"
        self._words = [*words, "--delay=-1", f"--control={pipes}"]
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        for path in (self._control, self._answer):
            path.unlink(missing_ok=True)
            os.mkfifo(path, 0o600)
        with self._errors.open("wb") as errors:
            try:
                self._process = processes.spawn(
                    self._words,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    death_signal=signal.SIGKILL,
                )
            except OSError as error:
                raise PerfError(str(error), "install perf") from error
        control = os.open(self._control, os.O_RDWR)
        answer = os.open(self._answer, os.O_RDWR | os.O_NONBLOCK)
        try:
            os.write(control, b"enable\n")
            self._wait_for(answer)
        except BaseException:
            self.kill()
            raise
        finally:
            os.close(control)
            os.close(answer)

    def _wait_for(self, answer: int) -> None:
        deadline = time.monotonic() + ATTACHING
        while not select.select([answer], [], [], 0.05)[0]:
            if self._ended():
                raise self.failure("it ended at once")
            if time.monotonic() > deadline:
                raise self.failure(f"it had not attached after {ATTACHING:g} s")

    def end(self) -> None:
        """Ask it to write what it has and end."""
        process = self._process
        if process is None or self._ended():
            raise self.failure("it ended before the window did")
        process.send_signal(signal.SIGINT)
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            self.kill()
            raise self.failure(f"it had not ended after {ENDING:g} s") from None

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def said(self) -> str:
        return self._errors.read_text(encoding="utf-8", errors="replace")

    def failure(self, otherwise: str) -> PerfError:
        return PerfError(_first_line(self._errors) or otherwise, "see the trial's log")

    def _ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None


def parse_counters(text: str) -> dict[str, float]:
    """The counters of ``perf stat -x,`` by our names, in base units; what was not counted is left
    out."""
    counters: dict[str, float] = {}
    for line in text.splitlines():
        fields = line.split(",")
        if len(fields) < 3:
            continue
        event, _, modifier = fields[2].partition(":")
        try:
            value = float(fields[0])
        except ValueError:  # <not supported>, <not counted>
            continue
        if event in IN_KERNEL and "u" in modifier:
            continue  # a plain user's: perf leaves out the kernel, and tells a false 0
        if event in EVENTS:
            counters[EVENTS[event]] = value / 1000 if fields[1] == "msec" else value
    return counters


def _first_line(path: Path) -> str:
    """Find the first line in which perf says why it failed; empty where there is none."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    lines = (line.strip() for line in text.splitlines())
    noise = {"", "Error:", "Events disabled", "Events enabled"}
    return next((line[:300] for line in lines if line not in noise), "")


UNKNOWN = "[unknown]"
MAIN = "main"
_FRAME = re.compile(r"\s*([0-9a-f]+) (.*?) \(((?:[^()]|\(deleted\))*)\)(?: \(inlined\))?\s*")
_COPIES = re.compile(r"(?:\.(?:part|isra|constprop|cold|lto_priv|llvm|localalias)(?:\.\d+)?)+$")
"""Suffixes that compilers append to the name of a function that they have split or specialised."""
_KERNEL_HALF = 1 << 63


@dataclass
class Folded:
    """Folded stacks and their samples."""

    stacks: Counter[str] = field(default_factory=Counter)
    truncated: int = 0
    """Samples whose user frames did not reach ``main``."""


def fold(lines: Iterable[str]) -> Folded:
    """Every sample as one folded stack, from ``main`` (or the kernel's entry) inwards.

    A sample without any frame counts as ``[unknown]``. Lines that are no frame end nothing: what
    perf says in between is skipped.
    """
    folded = Folded()
    for frames in _samples(lines):
        stack, whole = _stack(frames)
        folded.stacks[stack] += 1
        folded.truncated += not whole
    return folded


def frame_name(address: int, symbol: str, file: str) -> str:
    """A frame's name: the function's, else the file's in brackets; kernel frames are marked."""
    base = file.removesuffix(" (deleted)").rpartition("/")[2]
    in_kernel = address >= _KERNEL_HALF or base.startswith("[kernel") or base.endswith(".ko")
    if symbol in {UNKNOWN, ""}:
        name = base if base.startswith("[") else f"[{base}]" if base else UNKNOWN
    else:
        name = _COPIES.sub("", symbol.partition("@@")[0]) or symbol
    return name.replace(FRAMES, ":") + (KERNEL if in_kernel else "")


def _samples(lines: Iterable[str]) -> Iterator[list[str]]:
    """The frames of each sample, innermost first.

    A sample is a line of its own, then one line ``ADDRESS SYMBOL (FILE)`` for each frame, then an
    empty line (perf-script(1), with ``-F pid,ip,sym,dso``).
    """
    frames: list[str] | None = None
    for line in lines:
        if not line.strip():
            if frames is not None:
                yield frames
            frames = None
        elif frames is None:
            frames = []
        elif (frame := _FRAME.fullmatch(line)) is not None:
            frames.append(frame_name(int(frame[1], 16), frame[2], frame[3]))
    if frames is not None:
        yield frames


def _stack(frames: list[str]) -> tuple[str, bool]:
    """Folded, without what runs before ``main``; whether it is whole."""
    if not frames:
        return UNKNOWN, False
    outermost_first = frames[::-1]
    if MAIN in outermost_first:
        return FRAMES.join(outermost_first[outermost_first.index(MAIN) :]), True
    in_kernel_alone = all(frame.endswith(KERNEL) for frame in frames)
    return FRAMES.join(outermost_first), in_kernel_alone
