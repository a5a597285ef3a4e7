"""Servers of Teiten's own builds, linked again in another order of their objects.

A build keeps the objects of its server and the command that linked them, beside what it installed.
A linked server is a folder with a ``postgres`` of its own; all else in it is a link to the
installation, which PostgreSQL finds beside the program.

Where functions lie in a program changes its speed by some per cent for no reason of theirs
(Mytkowicz et al., 2009, "Producing wrong data without doing anything obviously wrong").
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import shlex
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from teiten.errors import BuildError
from teiten.execute.postgres.binaries import BrokenBinaryError, ask_version, hash_file
from teiten.execute.postgres.building.running import BuildStep, CompileProgress, run_step
from teiten.execute.postgres.marker import Kind, new_folder, remove_marked
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, unpack_tar
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.users import ServerUser
from teiten.model.installation import Installation
from teiten.model.units import MIB, Seconds

OBJECTS, COMMAND = "link-objects.tar.gz", "link-command.json"
LARGEST_PROGRAM = 1024 * MIB
"""Bytes of a server with all that a debugger wants."""


@dataclass(frozen=True)
class LinkedServer:
    """An installation whose ``postgres`` was linked anew; ``folder`` has it, and is marked."""

    installation: Installation
    folder: Path
    seed: int
    seconds: Seconds

    @property
    def facts(self) -> dict[str, object]:
        """For the ledger."""
        return {
            "seed": self.seed,
            "fingerprint": self.installation.fingerprint,
            "seconds": self.seconds,
        }


def keeping(command: LinkCommand, objects: Path, destination: Path) -> BuildStep:
    """The step of a build that packs what linking needs into the installation."""
    pack = 'archive=$1; folder=$2; shift 2; exec tar -czf "$archive" -C "$folder" -- "$@"'
    words = ("sh", "-c", pack, "sh", str(destination / OBJECTS), str(objects), *command.files)
    return BuildStep("keep objects", words)


def write_command(installation: Path, command: LinkCommand) -> None:
    (installation / COMMAND).write_text(json.dumps(command.arguments), encoding="utf-8")


def forget_objects(installation: Path) -> None:
    """Let an installation be one whose server cannot be linked again."""
    (installation / OBJECTS).unlink(missing_ok=True)
    (installation / COMMAND).unlink(missing_ok=True)


def link_again(
    installation: Installation,
    seed: int,
    folder: Path,
    user: ServerUser,
    check: Callable[[], None],
) -> LinkedServer:
    """A server with its objects in the order of ``seed``, in a new ``folder``.

    ``check`` is asked while the linker runs, and may raise. Raises BuildError where it cannot be
    linked (a compiler or library of the build is gone); nothing is left then.
    """
    begin = time.monotonic()
    new_folder(folder, Kind.BUILD, f"{installation.name} linked again")
    try:
        folder.chmod(0o755)
        program = _link(installation.bin_directory.parent, seed, folder, user, check)
        linked = replace(
            installation,
            bin_directory=program.parent,
            postgres=program,
            fingerprint=hash_file(program),
        )
    except BaseException:
        remove_marked(folder)
        raise
    return LinkedServer(linked, folder, seed, Seconds(time.monotonic() - begin))


def _link(
    installed: Path, seed: int, folder: Path, user: ServerUser, check: Callable[[], None]
) -> Path:
    objects, log = folder / "objects", folder / "link.log"
    objects.mkdir()
    try:
        command = LinkCommand(tuple(json.loads((installed / COMMAND).read_text(encoding="utf-8"))))
        unpack_tar(installed / OBJECTS, objects)
    except (OSError, ValueError, tarfile.TarError, UnsafeArchiveError) as error:
        raise BuildError(f"the kept objects of {installed} cannot be read: {error}", "") from error
    (objects / FOLDER).mkdir(parents=True, exist_ok=True)
    with HeldFolder.open_itself(objects) as held:
        held.give_all(user)
    step = BuildStep("link", command.ordered(seed))
    run_step(
        step,
        folder=objects / FOLDER,
        log=log,
        user=user,
        progress=CompileProgress(),
        watch=lambda *_: check(),
        environment={"TMPDIR": str(objects), "HOME": str(objects)},
    )
    program = _beside(installed, objects / FOLDER, folder / "server")
    with HeldFolder.open_itself(folder) as held:
        held.remove(objects.name)
    try:
        ask_version(program)
    except BrokenBinaryError as error:
        raise BuildError(f"what was linked does not run: {error}", "") from error
    return program


def _beside(installed: Path, made: Path, server: Path) -> Path:
    """The program among links to all else of its installation."""
    with HeldFolder.open_itself(made) as held:
        content = held.read(PROGRAM, LARGEST_PROGRAM)
    (server / "bin").mkdir(parents=True)
    for entry in installed.iterdir():
        if entry.is_dir() and entry.name != "bin":
            (server / entry.name).symlink_to(entry)
    for entry in (installed / "bin").iterdir():
        if entry.name != PROGRAM:
            (server / "bin" / entry.name).symlink_to(entry)
    program = server / "bin" / PROGRAM
    program.write_bytes(content)
    program.chmod(0o755)
    return program


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
        coming = (objects[place] for place in order)
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
