"""A disk that becomes full at any moment of a campaign, and is given room again.

The working folder is a small file system in memory; a file takes all that is free in it. Then the
campaign has to end with exit code 3 (or 4, where it was the server that failed) and to say what is
wrong, and with room again it has to go on to its end.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from benchmarks.robustness.campaigns import LINES, Small
from benchmarks.robustness.kills import Breaks
from benchmarks.servers import passable_folder

SIZE = "700m"
INODES = 9000
ACCOUNTED = frozenset({0, 3, 4, 130})
FULL_WORDS = ("full", "No space left", "room", "free", "inodes", "disk")


def fill_disks(count: int, seed: int, server: str | None) -> Breaks:
    """Fill the disk ``count`` times, every fourth time its inodes. Needs root.

    Raises PermissionError where no file system can be mounted.
    """
    result = Breaks("full disks")
    random = Random(seed)
    with small_disk() as folder:
        small = Small.made(folder / "work", server)
        with suppress(KeyboardInterrupt):  # a long run that is cut short says what it found
            while result.count < count:
                _fill_once(small, random, result)
        small.kill_last()
        code, output = small.call(*small.next_words())
        result.codes[code] += 1
        if code != 0:
            result.findings.append(f"the last one: exit code {code}: {output[-500:]}")
        else:
            result.findings += small.unfinished()
        result.findings += small.leftovers()
    return result


@contextmanager
def small_disk(size: str = SIZE, inodes: int = INODES) -> Iterator[Path]:
    """A file system of its own, in memory. Raises PermissionError."""
    with passable_folder("teiten-robustness-") as parent:
        place = parent / "disk"
        place.mkdir()
        options = f"size={size},nr_inodes={inodes}"
        words = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise PermissionError(f"no file system can be mounted: {done.stderr.strip()}")
        place.chmod(0o755)
        try:
            yield place
        finally:
            subprocess.run(["umount", "--lazy", place], check=False)


@contextmanager
def full(place: Path, *, inodes: bool = False, left: int = 0) -> Iterator[None]:
    """Nothing is free at a place while the ``with`` lasts, but for ``left`` bytes."""
    hog = place / "hog"
    hog.mkdir()
    try:
        (_take_inodes if inodes else _take_room)(hog)
        if left:
            os.truncate(hog / "file", (hog / "file").stat().st_size - left)
        yield
    finally:
        for file in hog.iterdir():
            file.unlink()
        hog.rmdir()


def _take_room(hog: Path) -> None:
    file = os.open(hog / "file", os.O_CREAT | os.O_WRONLY)
    try:
        for size in (1 << 26, 1 << 22, 1 << 18, 1 << 12):
            try:
                while True:
                    os.posix_fallocate(file, os.fstat(file).st_size, size)
            except OSError:
                continue
    finally:
        os.close(file)


def _take_inodes(hog: Path) -> None:
    try:
        for number in range(10 * INODES):
            (hog / str(number)).touch()
    except OSError:
        return


def _fill_once(small: Small, random: Random, result: Breaks) -> None:
    before = small.kept()
    process = small.start(*small.next_words())
    lines, inodes = random.randrange(LINES), random.random() < 0.25
    output = small.reach(process, lines, random.uniform(0.0, 0.8))
    if output is None:
        with full(small.root.parent, inodes=inodes):
            output = small.end_of(process)
        result.count += 1
        shown = f"disk {result.count} after {lines} lines{' (inodes)' if inodes else ''}"
    else:
        shown = "before the disk was full"
    result.codes[process.returncode] += 1
    result.findings += [f"{shown}: {why}" for why in _wrong(process.returncode, output)]
    result.tell(output)
    result.findings += [f"{shown}: {damage}" for damage in small.damages(before)]
    if process.returncode == 0:
        result.end(small)


def _wrong(code: int, output: str) -> Iterator[str]:
    if code not in ACCOUNTED or "Traceback" in output or "defect of Teiten" in output:
        yield f"exit code {code}: {output[-600:]}"
    elif code != 0 and not any(word in output for word in FULL_WORDS):
        yield f"exit code {code} without the cause: {output[-600:]}"
