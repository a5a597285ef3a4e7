"""Sources that a person names: tarballs, trees, a repository with tags, a folder of tarballs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.building.origins.contract import Release, release
from teiten.execute.postgres.building.sources import (
    CONFIGURE,
    GitError,
    SourceCode,
    find_source,
    git,
    is_checkout,
)
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.given_paths import expanded

TARBALL = re.compile(
    r"postgresql-(?:[\d.]+_)?(\d+(?:(?:\.\d+)+|~?(?:beta|rc)\d+))(?:\.orig)?\.tar\.(?:bz2|gz|xz)"
)
"""PostgreSQL's own name, and the one of a distribution's source package."""
TAG = re.compile(r"REL_?(\d+(?:(?:_\d+)+|_(?:BETA|RC)\d+))")
"""REL_17_6, REL9_6_24, REL_19_BETA1."""


class NamedSources:
    """The sources that ``--source`` names, once or several times."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._releases = dict(offer for text in texts for offer in _offers(text))
        """The releases that can be had, by what ``find_source`` is to be given for each."""

    def source(self, request: VersionRequest) -> SourceCode | None:
        fitting = {name: known for name, known in self._releases.items() if known.fits(request)}
        newest = max(fitting, key=fitting.__getitem__, default=None)
        return find_source(newest) if newest is not None else None

    def lacking(self) -> str:
        versions = sorted({*self._releases.values()}, reverse=True)
        return f"--source names {', '.join(map(str, versions[:8])) or 'no release'}"


def _offers(text: str) -> list[tuple[str, Release]]:
    path = expanded(text).absolute()
    if path.is_dir() and is_checkout(path):
        if tagged := list(_tagged(path, text)):
            return tagged
    elif path.is_dir() and not (path / CONFIGURE).is_file():
        return _in_folder(path, text)
    # a tree or a tarball: whatever state of a version it has, it stands for that version
    source = find_source(text)
    return [(text, release(source.version_text) or Release(source.version))]


def _tagged(path: Path, text: str) -> Iterator[tuple[str, Release]]:
    try:
        tags = git(path, "tag", "--list", "REL*").split()
    except GitError as error:
        raise UsageError(f"--source {text}: {error}", "git has to be able to read it") from error
    for tag in tags:
        match = TAG.fullmatch(tag)
        known = release(match[1].replace("_", ".")) if match else None
        if known is not None:
            yield f"{text}@{tag}", known


def _in_folder(path: Path, text: str) -> list[tuple[str, Release]]:
    offers = []
    for file in sorted(path.iterdir()):
        match = TARBALL.fullmatch(file.name)
        known = release(match[1]) if match else None
        if known is not None and file.is_file():
            offers.append((str(file), known))
    if not offers:
        raise UsageError(
            f"--source {text} holds neither a configure of PostgreSQL nor a tarball of it",
            "name a tarball, its unpacked folder, a git checkout, or a folder of tarballs",
        )
    return offers
