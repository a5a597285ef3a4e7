"""lineorder to a pipe, against lineitem of ``tpchgen-cli``.

The whole pipe is kept to the cores that are measured: the generator, and ``cat``, which reads and
throws away. So a rate per core pays for both ends of the pipe, and two cores can do twice as much.
The start of each program, Python's too, is part of its time.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from benchmarks.rounds import Ratio, Seconds, ratio
from benchmarks.running import command_line
from teiten.model.ssb import SsbFormat

LEAST_TEXT_RATIO = 6.0
TPCHGEN = "tpchgen-cli lineitem"
NAMES = {SsbFormat.TBL: "text", SsbFormat.BINARY: "binary COPY"}


def seconds_of_pipes(*pipes: tuple[Sequence[str], Sequence[int]]) -> float:
    """Run programs, each with its output through a pipe to a reader, both on its CPUs only."""
    begin = time.perf_counter()
    with ExitStack() as stack:
        makers = [stack.enter_context(_pipe(command, cpus)) for command, cpus in pipes]
    for maker in makers:
        assert maker.returncode == 0, maker.args
    return time.perf_counter() - begin


@contextmanager
def _pipe(command: Sequence[str], cpus: Sequence[int]) -> Iterator[subprocess.Popen[bytes]]:
    kept = ["taskset", "--cpu-list", ",".join(map(str, cpus))]
    with (
        subprocess.Popen([*kept, *command], stdout=subprocess.PIPE) as maker,
        subprocess.Popen([*kept, "cat"], stdin=maker.stdout, stdout=subprocess.DEVNULL),
    ):
        assert maker.stdout is not None
        maker.stdout.close()
        yield maker


def our_command(scale: int, form: SsbFormat, threads: int, chunk: str = "1/1") -> list[str]:
    """lineorder, or a chunk of it, to stdout."""
    return command_line(
        None,
        *("-q", "data", "ssb", "--table", "lineorder"),
        *("--scale", str(scale), "--format", form, "--streams", str(threads)),
        *("--chunk", chunk, "--to", "-"),
    )


def their_command(tpchgen: Path, scale: int, threads: int) -> list[str]:
    """lineitem to stdout."""
    return [
        *(str(tpchgen), "--scale-factor", str(scale), "--tables", "lineitem"),
        *("--num-threads", str(threads), "--stdout", "--quiet"),
    ]


def label(what: str, cores: int) -> str:
    """A subject's name."""
    return f"{what} to a pipe, {cores} core{'s' if cores > 1 else ''}"


def chunks_label(what: str, cores: int) -> str:
    """The name of one process and pipe for each core, with a chunk each."""
    return f"{what}, a chunk to a pipe by each of {cores} cores"


def makers(scale: int, tpchgen: Path | None, cpus: Sequence[int]) -> dict[str, Callable[[], float]]:
    """What is measured, by name."""
    by_name: dict[str, Callable[[], float]] = {}
    for cores in sorted({1, len(cpus)}):
        kept = tuple(cpus)[:cores]
        if tpchgen is not None:
            command = their_command(tpchgen, scale, cores)
            by_name[label(TPCHGEN, cores)] = partial(seconds_of_pipes, (command, kept))
        for form, name in NAMES.items():
            command = our_command(scale, form, cores)
            by_name[label(name, cores)] = partial(seconds_of_pipes, (command, kept))
            if cores > 1:
                by_name[chunks_label(name, cores)] = partial(
                    seconds_of_pipes,
                    *(
                        (our_command(scale, form, 1, f"{number}/{cores}"), (cpu,))
                        for number, cpu in enumerate(kept, 1)
                    ),
                )
    return by_name


def ratios(seconds: Seconds, cores: int) -> list[Ratio]:
    """What is told of them."""
    text, binary = NAMES.values()
    compared = []
    for number in sorted({1, cores}):
        if label(TPCHGEN, number) in seconds:
            compared.append(
                ratio(
                    label(text, number).replace("to a pipe", "against tpchgen-cli"),
                    seconds[label(TPCHGEN, number)],
                    seconds[label(text, number)],
                    LEAST_TEXT_RATIO,
                )
            )
        name = label(binary, number).replace(" to a pipe", " against text")
        compared.append(ratio(name, seconds[label(text, number)], seconds[label(binary, number)]))
    if cores > 1:
        for what in (text, binary):
            name = f"{what}, {cores} cores against 1"
            alone = seconds[label(what, 1)]
            compared.append(ratio(name, alone, seconds[label(what, cores)]))
            compared.append(ratio(f"{name}, by chunks", alone, seconds[chunks_label(what, cores)]))
    return compared
