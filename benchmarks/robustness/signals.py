"""Ctrl-C, SIGTERM and a hangup at any step of a campaign.

Each has to end it in order, with exit code 130 and a word, without a process, a cluster or a socket
folder left; what was measured is kept, and the next start continues.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random

from benchmarks.robustness.campaigns import LINES, Small, socket_folders_of
from benchmarks.robustness.kills import Breaks

Ending = Callable[[subprocess.Popen[str]], None]


def _sent(number: signal.Signals) -> Ending:
    return lambda process: process.send_signal(number)


ENDINGS: dict[str, Ending] = {
    "SIGINT": _sent(signal.SIGINT),
    "SIGTERM": _sent(signal.SIGTERM),
    "SIGHUP": _sent(signal.SIGHUP),
}
IN_ORDER = frozenset({0, 130})


def interrupt_campaigns(count: int, seed: int, server: str | None) -> Breaks:
    """Interrupt ``count`` times; every campaign is continued to its end."""
    result = Breaks("interruptions")
    random = Random(seed)
    # a long run that is cut short says what it found
    with Small.for_a_while(server) as small, suppress(KeyboardInterrupt):
        while result.count < count:
            _interrupt_once(small, random, result)
    return result


def _interrupt_once(small: Small, random: Random, result: Breaks) -> None:
    before = small.kept()
    name = random.choice(list(ENDINGS))
    lines = random.randrange(LINES)
    process = small.start(*small.next_words())
    output = small.reach(process, lines, random.uniform(0.0, 0.8))
    shown = f"{name} after {lines} lines"
    if output is None:
        ENDINGS[name](process)
        output = small.end_of(process)
        result.count += 1
    result.codes[process.returncode] += 1
    result.findings += [f"{shown}: {why}" for why in _wrong(small, process, output)]
    result.findings += [f"{shown}: {damage}" for damage in small.damages(before)]
    if process.returncode == 0:
        result.end(small)


def _wrong(small: Small, process: subprocess.Popen[str], output: str) -> Iterator[str]:
    begun = bool(output.strip())  # before that it is the interpreter that a signal ends
    if process.returncode not in IN_ORDER and (begun or process.returncode >= 0):
        yield f"exit code {process.returncode}: {output[-400:]}"
    if process.returncode == 130 and "interrupted" not in output:
        yield f"not a word: {output[-400:]}"
    if begun and "Traceback" in output:
        yield f"a traceback: {output[-600:]}"
    yield from small.leftovers()
    yield from socket_folders_of({process.pid})
