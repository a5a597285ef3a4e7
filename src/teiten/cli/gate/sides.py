"""The sides of a gate: servers as ``ab`` takes them, commits, which are built first, versions of an
extension, or folders of SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from teiten.cli.main import Session
from teiten.cli.plan.builds import build_commit
from teiten.cli.plan.two_sides import words_of_sides
from teiten.errors import UsageError
from teiten.execute.postgres.building.extension import ExtensionCommit, with_extension
from teiten.execute.postgres.building.sources import commit_of, named_commit
from teiten.execute.postgres.installations import find_installations, resolve
from teiten.given_paths import expanded
from teiten.host.facts.cpus import allowed_processors
from teiten.model.attached import named_address
from teiten.model.build import BuildSpec
from teiten.model.study import EXTENSION_PREFIX
from teiten.study.sides import BASE, HEAD, SideFlags, SqlFolders, sql_folders

LETTERS = (BASE, HEAD)


@dataclass(frozen=True)
class GateOptions:
    """How the sides are made that are no servers."""

    spec: BuildSpec
    """The build of commits of PostgreSQL; its source is each side's."""
    jobs: int | None = None
    extension: str | None = None
    """The checkout of an extension of which both sides are commits."""
    server: str | None = None
    """The server of sides that are no servers."""


@dataclass(frozen=True)
class GateSides:
    """Both sides, the base first."""

    flags: tuple[SideFlags, SideFlags]
    """The flags of each, with its server."""
    folders: SqlFolders | None = None

    @property
    def words(self) -> list[str]:
        """The words of a command line that gives the sides again, as they are built now."""
        words = words_of_sides(self.flags)
        if self.folders is None:
            return [*(side.server for side in self.flags), *words]
        paths = [str(folder.path) for folder in self.folders.both]
        return [*paths, "--server", self.flags[0].server, *words]

    @property
    def compared(self) -> tuple[SideFlags, SideFlags]:
        """The sides with the levels of their folders."""
        if self.folders is None:
            return self.flags
        base, head = self.flags
        of_base, of_head = map(self.folders.overrides, self.folders.both)
        return (
            replace(base, overrides=(*base.overrides, *of_base)),
            replace(head, overrides=(*head.overrides, *of_head)),
        )


def gate_sides(
    session: Session,
    references: tuple[str, str],
    given: Mapping[str, tuple[str, ...]],
    how: GateOptions,
) -> GateSides:
    """The sides that BASE and HEAD mean; commits are built. ``given``: the flags of single sides.

    Raises UsageError, and BuildError where a commit does not build.
    """
    _check_server(references, how)
    folders = None
    if how.server is not None and how.extension is None and not _are_versions(references):
        folders = sql_folders(*references, LETTERS)
    flags = []
    for letter, reference in zip(LETTERS, references, strict=True):
        server = how.server if folders is not None else None
        overrides = given[f"set_{letter}"]
        if server is None and reference.startswith(EXTENSION_PREFIX):
            assert how.server is not None
            extension, _, version = reference.rpartition("@")
            server, overrides = how.server, (*overrides, f"{extension}={version}")
        flags.append(
            SideFlags(
                letter,
                server or _server_of(session, reference, how),
                overrides,
                given[f"guc_{letter}"],
            )
        )
    return GateSides((flags[0], flags[1]), folders)


def _are_versions(references: tuple[str, str]) -> bool:
    """Whether both are versions of an extension: ``extension:NAME@VERSION``."""
    versions = [reference.startswith(EXTENSION_PREFIX) for reference in references]
    if any(versions) and not all(reference.partition("@")[2] for reference in references):
        raise UsageError(
            f"{' and '.join(references)} are not two versions of an extension",
            "for example extension:postgis@3.4.0 extension:postgis@3.5.0 --server 18",
        )
    return all(versions)


def _check_server(references: tuple[str, str], how: GateOptions) -> None:
    """Raise UsageError where sides are no servers and none is named."""
    if how.server is not None:
        return
    example = "for example --server 18"
    if how.extension is not None:
        raise UsageError(
            f"--extension {how.extension} is built into copies of a server, and none is named",
            example,
        )
    for reference in references:
        if reference.startswith(EXTENSION_PREFIX):
            raise UsageError(
                f"{reference} is a version of an extension, and no server is named that has it",
                example,
            )
        folder = expanded(reference)
        if folder.is_dir() and any(folder.glob("*.sql")):
            raise UsageError(
                f"{reference} is a folder of SQL, and no server is named that runs it", example
            )


def _server_of(session: Session, reference: str, how: GateOptions) -> str:
    """The server that a side means, by a name that ``ab`` takes; a commit is built first."""
    if how.extension is not None:
        assert how.server is not None
        server = resolve(how.server, find_installations(session.workdir))
        checkout = expanded(how.extension).absolute()
        extension = ExtensionCommit(checkout, commit_of(checkout, reference))
        jobs, say = how.jobs or allowed_processors(), session.console.say
        return with_extension(server, extension, session.workdir, jobs=jobs, say=say).name
    commit = None if named_address(reference) is not None else named_commit(reference)
    if commit is None:
        return reference
    checkout, hash_of_commit = commit
    spec = replace(how.spec, source=str(checkout))
    return build_commit(session, spec, hash_of_commit, how.jobs).name
