"""The command that linked a server, and the same with its objects in another order. Pure.

Where functions lie in a program changes its speed by some per cent for no reason of theirs
(Mytkowicz et al., 2009, "Producing wrong data without doing anything obviously wrong").
"""

from __future__ import annotations

import hashlib
import posixpath
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

FOLDER = "src/backend"
"""Where make links the server, below the folder of the objects."""
PROGRAM = "postgres"
_OBJECT, _ARCHIVE = ".o", ".a"


@dataclass(frozen=True)
class LinkCommand:
    """One command of make, run in ``FOLDER``."""

    arguments: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Objects and archives of the build, below the folder of the objects."""
        return tuple(
            posixpath.normpath(posixpath.join(FOLDER, argument))
            for argument in dict.fromkeys(self.arguments)
            if _is_ours(argument)
        )

    @property
    def objects(self) -> int:
        """How many of them have an order; archives are searched in theirs."""
        return sum(argument.endswith(_OBJECT) for argument in self.arguments)

    def ordered(self, seed: int) -> tuple[str, ...]:
        """The command with its objects in the random order of ``seed``; all else stays."""
        objects = [argument for argument in self.arguments if argument.endswith(_OBJECT)]
        order = np.random.default_rng(seed).permutation(len(objects))
        coming = (objects[one] for one in order)
        return tuple(
            next(coming) if argument.endswith(_OBJECT) else argument for argument in self.arguments
        )


def find_link(lines: Iterable[str]) -> LinkCommand | None:
    """The last command in what make wrote that linked the server of objects; None where none is
    understood: the build then keeps no objects."""
    for line in reversed(list(lines)):
        if f" -o {PROGRAM}" not in line:
            continue
        try:
            words = tuple(shlex.split(line))
        except ValueError:
            continue
        command = LinkCommand(words)
        makes = PROGRAM in words and words[words.index(PROGRAM) - 1] == "-o"
        outside = any(file.startswith(("..", "/")) for file in command.files)
        if makes and command.objects > 1 and not outside:
            return command
    return None


def link_seed(campaign: int, trial: int) -> int:
    """Derive a trial's order of linking: one for all its attempts, another for all else."""
    return int.from_bytes(hashlib.sha256(f"link {campaign} {trial}".encode()).digest()[:6])


def _is_ours(word: str) -> bool:
    return word.endswith((_OBJECT, _ARCHIVE)) and not word.startswith(("-", "/"))
