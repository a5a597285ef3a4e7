"""Sources that ``--source`` names: a tarball, a directory, or a commit of a git checkout, which is
never changed."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from lzma import LZMAError
from pathlib import Path, PurePath, PurePosixPath
from typing import IO

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.binaries import hash_file, hash_open
from teiten.execute.postgres.provision.unpack import (
    EXECUTABLE_BITS,
    UnsafeArchiveError,
    unpack_tar,
    write_file,
)
from teiten.given_paths import expanded
from teiten.host.system.environment import last_words, run_briefly
from teiten.host.system.held_folder import HeldFolder, UnsafePlaceError, exchangeable_way
from teiten.host.system.processes import ending
from teiten.host.system.users import ServerUser, is_root, own_user, server_user, user_of
from teiten.model.installation import Version
from teiten.model.units import MIB

CONFIGURE = "configure"
PARSER = "src/backend/parser/gram.c"
"""Made by bison; in tarballs before 17, never in git."""
LARGEST_SCRIPT = 16 * MIB
"""Bytes of a configure; PostgreSQL's has 600,000."""
CONFIGURED = ("config.status", "src/Makefile.global")
UNPACKED_RATIO = 8
"""A source against its tarball, at most (15.18: 6.9)."""
HINT = (
    "name a tarball (apt-get source postgresql-15), its unpacked folder, or a git checkout with"
    " or without @REF"
)
ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat"}
"""No index is refreshed on disk, nobody is asked."""
_VERSION = re.compile(rb"^PACKAGE_VERSION='([^']+)'", re.MULTILINE)


class SourceKind(StrEnum):
    TARBALL = "tarball"
    DIRECTORY = "directory"
    COMMIT = "commit"
    WORK_TREE = "work tree"
    """A git checkout with changes that are not committed."""


@dataclass(frozen=True)
class SourceCode:
    """A source that was found. ``digest`` is of its content alone, wherever it lies."""

    kind: SourceKind
    path: Path
    prefix: str
    """The folder inside a tarball in which ``configure`` is."""
    commit: str | None
    ref: str | None
    digest: str
    version_text: str
    """The version in ``configure``: ``15.18``, ``19devel``."""
    generated: bool
    """Whether what bison and flex make is there already."""
    bytes: int
    """Unpacked, about."""

    @property
    def version(self) -> Version:
        return Version.parse(self.version_text)

    @property
    def described(self) -> str:
        """For a person: path and commit."""
        if self.commit is None:
            changed = " (with uncommitted changes)" if self.kind is SourceKind.WORK_TREE else ""
            return f"{self.path}{changed}"
        ref = f"@{self.ref}" if self.ref not in (None, self.commit) else ""
        return f"{self.path}{ref} ({self.commit[:12]})"


def find_source(text: str) -> SourceCode:
    """The source that a person names. Raises UsageError where it is none."""
    path, ref = _split(text)
    if path.is_file():
        return _tarball(path)
    if not path.is_dir():
        raise UsageError(f"--source {text}: there is no such file or folder", HINT)
    if is_checkout(path):
        changed = ref is None and bool(_changes(path))
        return (
            _directory(path, SourceKind.WORK_TREE) if changed else _commit(path, ref or "HEAD", ref)
        )
    return _directory(path, SourceKind.DIRECTORY)


def named_commit(text: str) -> tuple[Path, str] | None:
    """The checkout and the whole hash that ``PATH@REF`` names; None where it names something else.

    Raises UsageError where the checkout has no such commit.
    """
    path, ref = _split(text)
    return None if ref is None else (path, commit_of(path, ref))


def unpack(source: SourceCode, folder: Path) -> None:
    """Fill an empty folder with the source; every file gets one time.

    So nothing that a tarball brings made (by bison) looks older than what it was made from.
    Raises MachineError where the source cannot be read.
    """
    try:
        match source.kind:
            case SourceKind.TARBALL:
                unpack_tar(source.path, folder, source.prefix)
            case SourceKind.COMMIT:
                unpack_commit(source.path, source.commit or "HEAD", folder)
            case _:
                with HeldFolder.open(source.path) as held:
                    _copy(held, _files(held, source.kind), folder)
    except UnsafePlaceError as error:
        raise MachineError(
            f"--source {source.path} cannot be copied: {error}",
            "see what is there; nobody may change it while it is copied",
        ) from error
    except (UnsafeArchiveError, tarfile.TarError, LZMAError, zlib.error, EOFError) as error:
        raise MachineError(
            f"--source {source.path} cannot be unpacked: {error}", "get the tarball again"
        ) from error
    moment = folder.stat().st_mtime
    for parent, folders, names in os.walk(folder):
        for name in (*folders, *names):
            os.utime(Path(parent, name), (moment, moment), follow_symlinks=False)


def _split(text: str) -> tuple[Path, str | None]:
    """A path as it is, or path and REF at the first ``@`` before which there is a checkout."""
    whole = expanded(text).absolute()
    if whole.exists():
        return whole, None
    plain = None
    for match in re.finditer("@", text):
        folder = expanded(text[: match.start()] or ".").absolute()
        ref = text[match.end() :]
        if ref and folder.is_dir():
            if is_checkout(folder):
                return folder, ref
            plain = folder
    if plain is not None:
        raise UsageError(f"--source {text}: {plain} is no git checkout", HINT)
    return whole, None


def _tarball(path: Path) -> SourceCode:
    try:
        with tarfile.open(path) as tar:
            configure, generated = _looked_through(tar)
    except (tarfile.TarError, LZMAError, zlib.error, EOFError, OSError) as error:
        raise UsageError(f"--source {path} is no tarball: {error}", HINT) from error
    if configure is None:
        raise UsageError(f"--source {path} holds no configure of PostgreSQL", HINT)
    prefix, script = configure
    text = _version_text(script, path)
    return SourceCode(
        SourceKind.TARBALL, path, "" if prefix == "." else prefix, None, None,
        hash_file(path), text, generated, path.stat().st_size * UNPACKED_RATIO,
    )  # fmt: skip


def _looked_through(tar: tarfile.TarFile) -> tuple[tuple[str, bytes] | None, bool]:
    """The folder of ``configure`` and its text; whether the parser is made already.

    Goes no further than needed: to unpack it all takes seconds.
    """
    configure = None
    for member in tar:
        name = PurePosixPath(member.name)
        if configure is None and name.name == CONFIGURE and len(name.parts) <= 2:
            stream = tar.extractfile(member)
            configure = (str(name.parent), stream.read() if stream else b"")
        elif configure is not None and member.name.endswith(PARSER):
            return configure, True
    return configure, False


def _commit(path: Path, ref: str, named: str | None) -> SourceCode:
    commit = commit_of(path, ref)
    try:
        script = git(path, "show", f"{commit}:{CONFIGURE}").encode("utf-8", "surrogateescape")
        tree = git(path, "rev-parse", f"{commit}^{{tree}}").strip()
        listed = git(path, "ls-tree", "-r", "-l", "--full-tree", commit)
    except GitError as error:
        raise UsageError(
            f"--source {path}@{ref} is no source of PostgreSQL: {error}", HINT
        ) from error
    text = _version_text(script, path)
    rows = [line.split(None, 4) for line in listed.splitlines()]
    size = sum(int(row[3]) for row in rows if row[3].isdecimal())
    generated = any(row[4] == PARSER for row in rows)
    return SourceCode(
        SourceKind.COMMIT, path, "", commit, named, tree, text, generated, size,
    )  # fmt: skip


def _directory(path: Path, kind: SourceKind) -> SourceCode:
    """Describe a folder's files. Raises UsageError where they are no source that can be read."""
    try:
        with HeldFolder.open(path) as held:
            return _described(held, path, kind)
    except (OSError, UnsafePlaceError) as error:
        raise UsageError(f"--source {path}: {error}", HINT) from error


def _described(held: HeldFolder, path: Path, kind: SourceKind) -> SourceCode:
    script = held.status(CONFIGURE)
    if script is None or not stat.S_ISREG(script.st_mode):
        raise UsageError(f"--source {path} holds no configure of PostgreSQL", HINT)
    built = next((name for name in CONFIGURED if _status(held, name) is not None), None)
    if built is not None and kind is SourceKind.DIRECTORY:
        raise UsageError(
            f"--source {path} was configured in place ({built} is there), and cannot be built"
            " outside of it",
            f"make -C {path} distclean, or name a tarball or a git checkout",
        )
    digest, size = hashlib.sha256(), 0
    for name in _files(held, kind):
        with _outer(held, name) as (folder, last):
            status = folder.status(last)
            if status is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path / name))
            size += status.st_size
            runs = stat.S_ISREG(status.st_mode) and bool(status.st_mode & EXECUTABLE_BITS)
            digest.update(f"{name}\0{runs}\0".encode("utf-8", "surrogateescape"))
            digest.update(_content(folder, last, status).encode("utf-8", "surrogateescape"))
    text = _version_text(held.read(CONFIGURE, LARGEST_SCRIPT, shared=True), path)
    parser = _status(held, PARSER)
    generated = parser is not None and stat.S_ISREG(parser.st_mode)
    return SourceCode(kind, path, "", None, None, digest.hexdigest(), text, generated, size)


def _content(folder: HeldFolder, name: str, status: os.stat_result) -> str:
    """Where a link leads, or a plain file's hash. Raises UnsafePlaceError for anything else."""
    if stat.S_ISLNK(status.st_mode):
        return folder.read_link(name)
    with folder.read_file(name, shared=True) as file:
        return hash_open(file)


def _copy(held: HeldFolder, names: Iterable[str], folder: Path) -> None:
    """Copy files and links to an empty folder of ours."""
    links = []
    for name in names:
        with _outer(held, name) as (outer, last):
            status = outer.status(last)
            if status is not None and stat.S_ISLNK(status.st_mode):
                links.append((name, outer.read_link(last)))
                continue
            with outer.read_file(last, shared=True) as content:
                mode = os.fstat(content.fileno()).st_mode
                write_file(folder / name, content, bool(mode & EXECUTABLE_BITS))
    with HeldFolder.open(folder) as target:
        for name, leads_to in links:  # last: nothing is written through them
            with _outer(target, name, make=True) as (outer, last):
                outer.link(last, leads_to)


@contextmanager
def _outer(held: HeldFolder, name: str, *, make: bool = False) -> Iterator[tuple[HeldFolder, str]]:
    """The folder of a file below another, and the file's name there. ``make``: what is missing.
    Raises UnsafePlaceError where it is not below that, or a link is on the way."""
    path = PurePath(name)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise UnsafePlaceError(held.path / name, "is not in the folder")
    with held.below(path.parts[:-1], make=make) as folder:
        yield folder, path.name


def _status(held: HeldFolder, name: str) -> os.stat_result | None:
    """Read the status of a file of the source itself; None where there is none."""
    with suppress(FileNotFoundError, UnsafePlaceError), _outer(held, name) as (folder, last):
        return folder.status(last)
    return None


def _files(held: HeldFolder, kind: SourceKind) -> Iterator[str]:
    """Relative names in order; of a work tree, what git does not ignore."""
    if kind is SourceKind.WORK_TREE:
        listed = git(held.path, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        tracked = {name for name in listed.split("\0") if name}
        yield from sorted(name for name in tracked if _status(held, name) is not None)
        return
    names = []
    for folder, name, status in held.walk():
        path = held.relative(folder, name)
        if not stat.S_ISDIR(status.st_mode) and ".git" not in PurePath(path).parts[:-1]:
            names.append(path)
    yield from sorted(names)


def unpack_commit(checkout: Path, commit: str, folder: Path) -> None:
    """Fill an empty folder with the files of a commit. Raises MachineError where git refuses."""
    with tempfile.TemporaryFile(dir=folder.parent) as archive:
        try:
            git(checkout, "archive", "--format=tar", commit, stdout=archive)
        except GitError as error:
            raise MachineError(
                f"{checkout}: git archive: {error}", "git fsck may tell more"
            ) from error
        archive.seek(0)
        unpack_tar(archive, folder)


def _changes(path: Path) -> str:
    try:
        return git(path, "status", "--porcelain", "--untracked-files=normal").strip()
    except GitError as error:
        if "work tree" in str(error):
            return ""
        raise UsageError(f"--source {path}: {error}", "git has to be able to read it") from error


def _version_text(script: bytes, where: Path) -> str:
    match = _VERSION.search(script)
    try:
        text = match[1].decode() if match else ""
        Version.parse(text)
    except ValueError as error:
        raise UsageError(
            f"--source {where}: its configure names no version of PostgreSQL", HINT
        ) from error
    return text


class GitError(Exception):
    """A refusal of git's in its words; the caller knows what it means."""


def is_checkout(folder: Path) -> bool:
    """Whether a folder is a work tree's top, or a bare repository."""
    bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
    return (folder / ".git").exists() or bare


def git(
    folder: Path,
    *arguments: str,
    stdout: IO[bytes] | None = None,
    good: Collection[int] = (0,),
) -> str:
    """Run git for its output. Raises GitError with its last line, MachineError where it is missing.

    ``stdout``: takes what git writes instead; the answer is then empty. ``good``: exit codes that
    are no failure.
    """
    program = shutil.which("git")
    if program is None:
        raise MachineError("git is missing", "sudo apt-get install git")
    user, options = _as_whom(folder)
    done = run_briefly(
        [program, *options, "-C", str(folder.absolute()), *arguments],
        given=ENVIRONMENT,
        user=user,
        stdout=stdout if stdout is not None else subprocess.PIPE,
        timeout=None,
    )
    if done.returncode not in good:
        lines = done.stderr.decode(errors="replace").splitlines()
        fatal = next((line for line in lines if line.startswith("fatal: ")), "")
        ended = f"git {arguments[0]}: it {ending(done.returncode)}"
        raise GitError(fatal or last_words(done) or ended)
    return (done.stdout or b"").decode("utf-8", "surrogateescape")


def _as_whom(folder: Path) -> tuple[ServerUser | None, tuple[str, ...]]:
    """The user as whom git runs in a folder, None for ourselves, and its options: git starts what
    the checkout's configuration names (filters, pagers), and believes whom the folder belongs to
    at the moment when it looks. Root's git runs in a folder of another user as he does, and in one
    of root's that others could exchange as the servers' user. Raises GitError where it cannot be
    reached."""
    options = ("-c", "core.fsmonitor=false")
    if not is_root():
        return None, options
    try:
        if exchangeable_way(folder, own_user()) is None:
            return None, options
        with HeldFolder.open(folder) as held:
            owner = held.owner
    except (OSError, UnsafePlaceError) as error:
        raise GitError(str(error)) from error
    if owner == 0:
        return server_user(), (*options, "-c", "safe.directory=*")
    return user_of(owner), options


def commit_of(folder: Path, ref: str) -> str:
    """The commit that a ref names. Raises UsageError where there is none, or git refuses."""
    try:
        git(folder, "rev-parse", "--git-dir")
    except GitError as error:  # for example a checkout that belongs to somebody else
        raise UsageError(
            f"--source {folder}: {error}", f"git -C {folder} status tells what git asks for"
        ) from error
    try:
        return git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options",
                   f"{ref}^{{commit}}").strip()  # fmt: skip
    except GitError as error:
        raise UsageError(
            f"{folder} has no commit {ref!r}", f"git -C {folder} log --oneline shows them"
        ) from error
