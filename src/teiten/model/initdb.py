"""How Teiten's clusters are made, which reports print as a command."""

from __future__ import annotations

from teiten.model.installation import Version

SUPERUSER = "postgres"
CHECKSUMS_BY_DEFAULT = 18
"""The major version since which initdb turns checksums on unless told otherwise."""


def checksums_by_default(version: Version) -> bool:
    return version.major_number >= CHECKSUMS_BY_DEFAULT


def initdb_options(version: Version, *, checksums: bool) -> tuple[str, ...]:
    """The options that make the clusters of all versions alike.

    Nothing is synced: a crash of the machine during initdb makes the cluster worthless anyway, and
    a template is synced as a whole when it is finished.
    """
    options = ["--locale=C", "--encoding=UTF8", f"--username={SUPERUSER}", "--auth=trust", "-N"]
    if checksums:
        options.append("--data-checksums")
    elif checksums_by_default(version):
        options.append("--no-data-checksums")
    return tuple(options)
