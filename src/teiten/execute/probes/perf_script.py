"""The text of ``perf script`` to folded stacks. Pure.

perf's own readers of that text are scripts of its source tree, and no Python package reads it, so
this does: a sample is a line of its own, then one line ``ADDRESS SYMBOL (FILE)`` for each frame,
the innermost first, then an empty line (perf-script(1), with ``-F pid,ip,sym,dso``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from teiten.model.stacks import FRAMES, KERNEL

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
    name = symbol
    if symbol in {UNKNOWN, ""}:
        name = base if base.startswith("[") else f"[{base}]" if base else UNKNOWN
    else:
        name = _COPIES.sub("", symbol.partition("@@")[0]) or symbol
    return name.replace(FRAMES, ":") + (KERNEL if in_kernel else "")


def _samples(lines: Iterable[str]) -> Iterator[list[str]]:
    """The frames of each sample, innermost first."""
    frames: list[str] | None = None
    for line in lines:
        if not line.strip():
            if frames is not None:
                yield frames
            frames = None
        elif frames is None:
            frames = []
        elif (found := _FRAME.fullmatch(line)) is not None:
            frames.append(frame_name(int(found[1], 16), found[2], found[3]))
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
