"""``teiten pg install``: from packages, or built alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from teiten.cli.main import Session
from teiten.cli.plan.builds import build_like, spec_of
from teiten.errors import UsageError
from teiten.execute.postgres.building.like import Sources
from teiten.execute.postgres.provision.install import PGBENCH, install, install_pgbench
from teiten.model.installation import Installation

OF_BUILDS = ("named", "mirror", "apt_sources", "configure", "cflags", "jobs")
OF_PACKAGES = ("client", "newest")
FLAGS = {"named": "--source", "apt_sources": "--apt-sources"}
"""Flags of the parameters whose flag is not their name."""


def installed(
    session: Session, versions: Sequence[str], given: Mapping[str, Any]
) -> list[Installation]:
    """``given``: the flags of the verb by the names of its parameters. Raises UsageError where some
    of them do not go together."""
    _require_together(given)
    say = session.console.say
    done = [install_pgbench(session.workdir, say=say)] if PGBENCH in versions else []
    servers = [version for version in versions if version != PGBENCH]
    if not given["building"]:
        return [
            *(
                install(
                    version, session.workdir,
                    client=given["client"], newest=given["newest"], say=say,
                )
                for version in servers
            ),
            *done,
        ]  # fmt: skip
    sources = Sources(tuple(given["named"]), given["mirror"], given["apt_sources"])
    spec = spec_of("", given["configure"], given["cflags"], meson=False)
    return [*build_like(session, servers, sources, spec, given["jobs"]), *done]


def _require_together(given: Mapping[str, Any]) -> None:
    building = given["building"]
    wrong = [name for name in (OF_PACKAGES if building else OF_BUILDS) if given[name]]
    if wrong:
        flag = FLAGS.get(wrong[0], f"--{wrong[0]}")
        raise UsageError(
            f"{flag} is {'for packages, not for --build' if building else 'for --build'}",
            f"leave {flag} out" if building else f"teiten pg install --build {flag} …",
        )
