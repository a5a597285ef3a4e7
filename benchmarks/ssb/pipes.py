"""lineorder to a pipe, against lineitem of ``tpchgen-cli``.

The whole pipe is kept to the cores that are measured: the generator, and ``cat``, which reads and
throws away. So a rate per core pays for both ends of the pipe, and two cores can do twice as much.
The start of each program, Python's too, is part of its time.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.ssb.rounds import Ratio, Seconds, ratio
from teiten.model.ssb import SsbFormat

LEAST_TEXT_RATIO = 6.0
TPCHGEN = "tpchgen-cli lineitem"
NAMES = {SsbFormat.TBL: "text", SsbFormat.BINARY: "binary COPY"}


def seconds_of_pipe(command: Sequence[str], cpus: Sequence[int]) -> float:
    """Run a program with its output through a pipe to a reader, both on these CPUs only."""
    kept = ["taskset", "--cpu-list", ",".join(map(str, cpus))]
    begin = time.perf_counter()
    with (
        subprocess.Popen([*kept, *command], stdout=subprocess.PIPE) as maker,
        subprocess.Popen([*kept, "cat"], stdin=maker.stdout, stdout=subprocess.DEVNULL) as reader,
    ):
        assert maker.stdout is not None
        maker.stdout.close()
        reader.wait()
        maker.wait()
    assert maker.returncode == 0, command
    return time.perf_counter() - begin


def our_command(scale: int, form: SsbFormat, threads: int) -> list[str]:
    """lineorder to stdout."""
    return [
        *(sys.executable, "-m", "teiten", "-q", "data", "ssb", "--table", "lineorder"),
        *("--scale", str(scale), "--format", form, "--streams", str(threads), "--to", "-"),
    ]


def their_command(tpchgen: Path, scale: int, threads: int) -> list[str]:
    """lineitem to stdout."""
    return [
        *(str(tpchgen), "--scale-factor", str(scale), "--tables", "lineitem"),
        *("--num-threads", str(threads), "--stdout", "--quiet"),
    ]


def label(what: str, cores: int) -> str:
    """A subject's name."""
    return f"{what} to a pipe, {cores} core{'s' if cores > 1 else ''}"


def makers(scale: int, tpchgen: Path | None, cpus: Sequence[int]) -> dict[str, Callable[[], float]]:
    """What is measured, by name."""
    found: dict[str, Callable[[], float]] = {}
    for cores in sorted({1, len(cpus)}):
        kept = tuple(cpus)[:cores]
        if tpchgen is not None:
            command = their_command(tpchgen, scale, cores)
            found[label(TPCHGEN, cores)] = partial(seconds_of_pipe, command, kept)
        for form, name in NAMES.items():
            command = our_command(scale, form, cores)
            found[label(name, cores)] = partial(seconds_of_pipe, command, kept)
    return found


def ratios(seconds: Seconds, cores: int) -> list[Ratio]:
    """What is told of them."""
    text, binary = NAMES.values()
    found = []
    for number in sorted({1, cores}):
        if label(TPCHGEN, number) in seconds:
            found.append(
                ratio(
                    f"text against tpchgen-cli, {number} cores" if number > 1
                    else "text against tpchgen-cli, 1 core",
                    seconds[label(TPCHGEN, number)],
                    seconds[label(text, number)],
                    LEAST_TEXT_RATIO if number == 1 else None,
                )
            )  # fmt: skip
        name = label(binary, number).replace(" to a pipe", " against text")
        found.append(ratio(name, seconds[label(text, number)], seconds[label(binary, number)]))
    if cores > 1:
        for what in (text, binary):
            name = f"{what}, {cores} cores against 1"
            found.append(ratio(name, seconds[label(what, 1)], seconds[label(what, cores)]))
    return found
