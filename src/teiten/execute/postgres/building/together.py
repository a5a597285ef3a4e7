"""Several builds at a time, that end together where one of them fails or someone asks for the end.

A build is mostly make's own jobs; configuring and installing are one process each, which is why
several at a time take less than one after another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from teiten.execute.postgres.building.running import Watch

T = TypeVar("T")
JOBS_EACH = 2
"""A build with fewer is slower than its turn after another."""
EVERY = 0.5
"""Seconds between two looks; Ctrl-C is heard by the thread that waits."""


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
            _await(futures)
        except BaseException:
            ending.set()
            for one in futures:
                one.cancel()
            raise
    return [future.result() for future in futures]


def ended_by(ending: threading.Event, watch: Watch) -> Watch:
    """Is asked several times a second while a command runs; what it raises ends the command."""

    def watched(step: str, done: int, total: int) -> None:
        if ending.is_set():
            raise EndedError
        watch(step, done, total)

    return watched


def _await(futures: Sequence[Future[T]]) -> None:
    running = set(futures)
    while running:
        done, running = wait(running, EVERY, FIRST_COMPLETED)
        for future in done:
            future.result()
