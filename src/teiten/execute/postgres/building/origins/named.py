"""Sources that a person names: tarballs, trees, a repository with tags, a folder of tarballs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.building.git import GitError, git, is_checkout
from teiten.execute.postgres.building.origins.contract import Release, release
from teiten.execute.postgres.building.sources import CONFIGURE, SourceCode, find_source
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.given_paths import expanded

TARBALL = re.compile(
    r"postgresql-(?:[\d.]+_)?(\d+(?:(?:\.\d+)+|~?(?:beta|rc)\d+))(?:\.orig)?\.tar\.(?:bz2|gz|xz)"
)
"""PostgreSQL's own name, and the one of a distribution's source package."""
TAG = re.compile(r"REL_?(\d+(?:(?:_\d+)+|_(?:BETA|RC)\d+))")
"""REL_17_6, REL9_6_24, REL_19_BETA1."""


@dataclass(frozen=True)
class _Offer:
    """A release that can be had, and what ``find_source`` is to be given for it."""

    release: Release
    named: str


class NamedSources:
    """The sources that ``--source`` names, once or several times."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._offers = [offer for text in texts for offer in _offers(text)]

    def source(self, request: VersionRequest) -> SourceCode | None:
        fitting = [offer for offer in self._offers if offer.release.fits(request)]
        best = max(fitting, key=lambda offer: offer.release, default=None)
        return find_source(best.named) if best is not None else None

    def lacking(self) -> str:
        versions = sorted({offer.release for offer in self._offers}, reverse=True)
        return f"--source names {', '.join(map(str, versions[:8])) or 'no release'}"


def _offers(text: str) -> Iterator[_Offer]:
    path = expanded(text).absolute()
    if path.is_dir() and is_checkout(path):
        tagged = list(_tagged(path, text))
        yield from tagged or [_whole(text)]
    elif path.is_dir() and not (path / CONFIGURE).is_file():
        yield from _in_folder(path, text)
    else:
        yield _whole(text)


def _whole(text: str) -> _Offer:
    """A tree or a tarball: whatever state of a version it has, it stands for that version."""
    source = find_source(text)
    return _Offer(release(source.version_text) or Release(source.version), text)


def _tagged(path: Path, text: str) -> Iterator[_Offer]:
    try:
        tags = git(path, "tag", "--list", "REL*").split()
    except GitError as error:
        raise UsageError(f"--source {text}: {error}", "git has to be able to read it") from error
    for tag in tags:
        match = TAG.fullmatch(tag)
        known = release(match[1].replace("_", ".")) if match else None
        if known is not None:
            yield _Offer(known, f"{text}@{tag}")


def _in_folder(path: Path, text: str) -> Iterator[_Offer]:
    offers = []
    for file in sorted(path.iterdir()):
        match = TARBALL.fullmatch(file.name)
        known = release(match[1]) if match else None
        if known is not None and file.is_file():
            offers.append(_Offer(known, str(file)))
    if not offers:
        raise UsageError(
            f"--source {text} holds neither a configure of PostgreSQL nor a tarball of it",
            "name a tarball, its unpacked folder, a git checkout, or a folder of tarballs",
        )
    yield from offers
