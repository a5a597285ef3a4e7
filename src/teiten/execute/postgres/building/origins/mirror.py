"""A mirror of PostgreSQL's own folder of sources, by the URL that a person gives.

Its layout is PostgreSQL's: ``URL/v17.6/postgresql-17.6.tar.bz2``, and ``….sha256`` beside it.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import urllib.error
import urllib.request
from http.client import HTTPResponse
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.binaries import hash_file
from teiten.execute.postgres.building.origins.contract import kept, of_package, release
from teiten.execute.postgres.building.sources import SourceCode, find_source
from teiten.execute.postgres.provision.packages import Say, keep_package
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source, Version

TIMEOUT = 60.0
"""Seconds without a byte."""
FORMS = ("tar.bz2", "tar.gz")
_FOLDER = re.compile(r"""href=["']?(?:[^"'> ]*/)?v(\d+(?:\.\d+)+)/?["'> ]""")
_SHA256 = re.compile(r"\b([0-9a-f]{64})\b")
HINT = (
    "it has to be laid out as PostgreSQL's folder of sources is: URL/v17.6/postgresql-17.6.tar.bz2"
)


class Mirror:
    """``--mirror URL``"""

    def __init__(self, workdir: Workdir, url: str, say: Say) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise UsageError(
                f"--mirror {url} is no http or https URL", "name files and folders with --source"
            )
        self._workdir = workdir
        self._url = url.rstrip("/")
        self._say = say
        self._versions: list[Version] | None = None

    def source(self, request: VersionRequest) -> SourceCode | None:
        if request.minor is not None:
            return self._get(Version.parse(str(request)))
        fitting = [version for version in self._listed() if request.accepts_version(version)]
        return self._get(max(fitting)) if fitting else None

    def lacking(self) -> str:
        versions = sorted(self._versions or (), reverse=True)
        has = f" (it has {', '.join(map(str, versions[:8]))}, …)" if versions else ""
        return f"{self._url} has no such release{has}"

    def _listed(self) -> list[Version]:
        if self._versions is None:
            page = self._read(f"{self._url}/")
            if page is None:
                raise MachineError(f"--mirror {self._url}: HTTP 404, not found", HINT)
            releases = {release(text) for text in _FOLDER.findall(page.decode("utf-8", "replace"))}
            self._versions = [listed.version for listed in releases if listed is not None]
            if not self._versions:
                raise MachineError(f"--mirror {self._url} lists no release of PostgreSQL", HINT)
        return self._versions

    def _get(self, version: Version) -> SourceCode | None:
        request = VersionRequest(version.major, version.number % 100)
        there = kept(
            self._workdir, request, lambda package: package.name.startswith(f"{self._url}/")
        )
        if there is not None:
            return there
        for form in FORMS:
            url = f"{self._url}/v{version}/postgresql-{version}.{form}"
            answer = self._open(url)
            if answer is not None:
                return self._download(answer, url, version)
        return None

    def _download(self, answer: HTTPResponse, url: str, version: Version) -> SourceCode:
        self._say(f"getting {url}")
        with tempfile.TemporaryDirectory(prefix=".url-", dir=self._workdir.packages) as temporary:
            file = Path(temporary) / url.rpartition("/")[2]
            with answer, file.open("wb") as stream:
                shutil.copyfileobj(answer, stream)
            self._check(url, file)
            tarball = keep_package(self._workdir, Source.BUILD, url, of_package(version), file)
            return find_source(str(tarball.path))

    def _check(self, url: str, file: Path) -> None:
        beside = self._read(f"{url}.sha256") or b""
        checksum = _SHA256.search(beside.decode("ascii", "replace"))
        if checksum is None:
            self._say(f"{url} has no .sha256 beside it: what was downloaded could not be checked")
            return
        if hash_file(file) != checksum[1]:
            raise MachineError(
                f"{url} is damaged: its SHA-256 differs from the one that stands beside it",
                "try again, or another mirror",
            )

    def _read(self, url: str) -> bytes | None:
        answer = self._open(url)
        if answer is None:
            return None
        with answer:
            return bytes(answer.read())

    def _open(self, url: str) -> HTTPResponse | None:
        """None where the mirror says that there is no such file."""
        try:
            return cast("HTTPResponse", urllib.request.urlopen(url, timeout=TIMEOUT))  # noqa: S310 - http and https only
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise MachineError(f"{url}: HTTP {error.code} {error.reason}", HINT) from error
        except OSError as error:
            raise MachineError(
                f"{url} cannot be read: {error}", "look whether the mirror can be reached"
            ) from error
