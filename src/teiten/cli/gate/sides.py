"""The servers of a gate's sides: as ``ab`` takes them, or built of a git checkout first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from teiten.cli.main import Session
from teiten.cli.plan.builds import build_commit, cores
from teiten.errors import UsageError
from teiten.execute.postgres.building.extension import ExtensionCommit, with_extension
from teiten.execute.postgres.building.git import commit_of
from teiten.execute.postgres.building.sources import named_commit
from teiten.execute.postgres.installations import find_installations, resolve
from teiten.given_paths import expanded
from teiten.model.attached import named_address
from teiten.model.build import BuildSpec


@dataclass(frozen=True)
class HowToBuild:
    """Options of the builds of sides that are commits."""

    spec: BuildSpec
    """The build of commits of PostgreSQL; its source is each side's."""
    jobs: int | None = None
    extension: str | None = None
    """The checkout of an extension of which both sides are commits."""
    server: str | None = None
    """The server that is copied for it."""


def server_of(session: Session, reference: str, how: HowToBuild) -> str:
    """The server that a side means, by a name that ``ab`` takes; a commit is built first."""
    if how.extension is not None:
        return _with_extension(session, expanded(how.extension).absolute(), reference, how)
    if how.server is not None:
        raise UsageError(
            "--server is for --extension, whose commits are built into copies of it",
            "name the extension's checkout: --extension DIR",
        )
    if named_address(reference) is not None:
        return reference
    commit = named_commit(reference)
    if commit is None:
        return reference
    checkout, hash_of_commit = commit
    spec = BuildSpec(str(checkout), how.spec.configure, how.spec.cflags, how.spec.meson)
    return build_commit(session, spec, hash_of_commit, how.jobs).name


def _with_extension(session: Session, checkout: Path, ref: str, how: HowToBuild) -> str:
    if how.server is None:
        raise UsageError(
            f"--extension {checkout} is built into copies of a server, and none is named",
            "for example --server 18",
        )
    server = resolve(how.server, find_installations(session.workdir))
    extension = ExtensionCommit(checkout, commit_of(checkout, ref))
    return with_extension(
        server, extension, session.workdir, jobs=how.jobs or cores(), say=session.console.say
    ).name
