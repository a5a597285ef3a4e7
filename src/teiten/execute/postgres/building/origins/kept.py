"""Tarballs that were downloaded, kept as packages are: building again needs no network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from teiten.execute.postgres.building.sources import SourceCode, find_source
from teiten.execute.postgres.provision.packages import Package, keep_package, newest_kept
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source, Version


def keep(workdir: Workdir, name: str, version: Version, file: Path) -> SourceCode:
    """``name``: where it comes from, with its version there."""
    text = str(version)
    three = text if text.count(".") == 2 else f"{text}.0"
    return find_source(str(keep_package(workdir, Source.BUILD, name, three, file).path))


def kept(
    workdir: Workdir, request: VersionRequest, fits: Callable[[Package], bool] = lambda _one: True
) -> SourceCode | None:
    """The newest kept tarball of a version, whole as it was downloaded."""
    package = newest_kept(
        workdir,
        Source.BUILD,
        lambda source: request.accepts_version(source.version.postgres) and fits(source),
    )
    return find_source(str(package.path)) if package is not None else None
