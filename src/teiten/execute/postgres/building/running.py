"""Builds while they run.

Each command runs as the unprivileged user, into a log that is read for its progress and for why it
failed; it is watched, and ends with us. Several builds run at a time, and end together where one of
them fails or someone asks for the end: a build is mostly make's own jobs, and configuring and
installing are one process each, so that several at a time take less than one after another.
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from teiten.errors import BuildError
from teiten.host.system.environment import Inherited
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.processes import end_group, spawn
from teiten.host.system.signals import KILL
from teiten.host.system.users import ServerUser

Watch = Callable[[str, int, int], None]
"""Is told the step, and how many files of how many are compiled (0 of 0 where none are)."""
EVERY = 0.25
"""Seconds between two looks at the log."""
GRACE = 5.0
"""Seconds that a compiler has to end."""


@dataclass(frozen=True)
class BuildStep:
    """One command of a build."""

    name: str
    """For a person: configure, compile, compile contrib, install."""
    arguments: tuple[str, ...]
    counts: bool = False
    """It compiles: its progress is counted in files."""


def run_step(
    step: BuildStep,
    *,
    folder: Path,
    log: Path,
    user: ServerUser,
    progress: CompileProgress,
    watch: Watch,
    environment: dict[str, str],
) -> None:
    """Run a command to its end; its process group ends with us, however that is.

    Raises BuildError with the lines that tell why, and the log's path.
    """
    with log.open("ab") as output:
        output.write(f"\n$ {' '.join(step.arguments)}\n".encode())
        output.flush()
        begin = output.tell()
        try:
            with HeldFolder.open_itself(folder) as held:
                process = spawn(
                    step.arguments,
                    user=user,
                    folder=held.as_working_folder,
                    environment=environment,
                    inherited=Inherited.COMPILER,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    death_signal=KILL,
                )
        except OSError as error:
            raise BuildError(f"{step.arguments[0]} cannot be started: {error}", "") from error

    def tell() -> None:
        watch(step.name, *((progress.done, progress.total) if step.counts else (0, 0)))

    try:
        exit_code = _follow(process, log, begin, progress, tell)
    except BaseException:
        end_group(process, GRACE)  # make tells its compilers
        raise
    if exit_code != 0:
        with log.open("rb") as written:
            written.seek(begin)
            lines = written.read().decode("utf-8", "replace").splitlines()
        reasons = "\n".join(f"  {line}" for line in why_it_failed(lines))
        raise BuildError(
            f"{step.name} failed (exit code {exit_code}):\n{reasons}", f"the whole log is {log}"
        )


def _follow(
    process: subprocess.Popen[bytes],
    log: Path,
    begin: int,
    progress: CompileProgress,
    tell: Callable[[], None],
) -> int:
    rest = b""
    with log.open("rb") as written:
        written.seek(begin)
        while True:
            ended = process.poll()
            *lines, rest = (rest + written.read()).split(b"\n")
            for line in lines:
                progress.read(line.decode("utf-8", "replace"))
            tell()
            if ended is not None:
                return ended
            time.sleep(EVERY)


COMPILED = re.compile(r"^(?:\S*/)?(?:gcc|g\+\+|cc|clang|ccache|\S*-gcc(?:-\d+)?)\b.* -c\b")
NINJA = re.compile(r"^\[(\d+)/(\d+)\]")
FAULT = re.compile(
    r"(?:: (?:fatal )?error: |^error: |^configure: error: |undefined reference|ERROR: "
    r"|: \*\*\* |^ld: |: not found$|^FAILED: |No space left on device)"
)
MOST_LINES = 12
FILES = 1320
"""Compiled by make in PostgreSQL 15 with contrib (1322); others are near."""


class CompileProgress:
    """How many files are compiled, line by line of make's or ninja's output."""

    def __init__(self) -> None:
        self.done = 0
        self.total = FILES

    def read(self, line: str) -> None:
        ninja = NINJA.match(line)
        if ninja is not None:
            self.done, self.total = int(ninja[1]), int(ninja[2])
        elif COMPILED.match(line):
            self.done += 1
            self.total = max(self.total, self.done)


def why_it_failed(lines: Sequence[str]) -> list[str]:
    """The lines from the first fault on; the last lines where none is known.

    With several jobs, make goes on for a while after the fault, so the end does not tell.
    """
    kept = [line.rstrip() for line in lines if line.strip()]
    first = next((index for index, line in enumerate(kept) if FAULT.search(line)), None)
    if first is None:
        return kept[-MOST_LINES:]
    begin = max(0, first - 1)
    return kept[begin : begin + MOST_LINES]


T = TypeVar("T")
JOBS_EACH = 2
"""A build with fewer is slower than its turn after another."""


class EndedError(Exception):
    """Another build failed, or the end was asked for."""


def builds_at_once(builds: int, jobs: int) -> int:
    """How many builds share ``jobs`` compilers."""
    return max(1, min(builds, jobs // JOBS_EACH))


def together(works: Sequence[Callable[[], T]], ending: threading.Event, at_once: int) -> list[T]:
    """Run them, each in a thread; raises what the first that failed raised, when all have ended.

    ``ending`` is set where they are to end; their watches ask for it (``ended_by``).
    """
    with ThreadPoolExecutor(at_once, thread_name_prefix="build") as threads:
        futures = [threads.submit(work) for work in works]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            ending.set()
            for future in futures:
                future.cancel()
            raise
    return [future.result() for future in futures]


def ended_by(ending: threading.Event, watch: Watch) -> Watch:
    """Is asked several times a second while a command runs; what it raises ends the command."""

    def watched(step: str, done: int, total: int) -> None:
        if ending.is_set():
            raise EndedError
        watch(step, done, total)

    return watched
