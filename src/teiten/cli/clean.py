"""``teiten clean --host``: give back the disk of another host."""

from __future__ import annotations

import sys
from typing import Any

import click

from teiten.cli.main import Session
from teiten.cli.text.layout import columns
from teiten.errors import MachineError, UsageError
from teiten.execute.sites.remote.hosts import Host
from teiten.model.hosts import DEFAULT_PYTHON, Role
from teiten.model.quantities import format_size


def clean_host(
    session: Session,
    name: str,
    workdir: str | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete the templates and the programs that Teiten keeps on a host.

    Raises MachineError where it cannot be reached, or a campaign is measured there.
    """
    host = Host(Role.DB, name, DEFAULT_PYTHON, workdir)
    try:
        if not dry_run:
            for line in host.prepare():
                session.console.say(line)
        found: list[dict[str, Any]] = host.call("belongings.listed")
        if not as_json:
            _list(session, host, found)
        deleted = [] if dry_run or not found else _delete(session, host, found, yes=yes)
    finally:
        host.close()
    size = sum(one["bytes"] for one in deleted)
    if deleted:
        session.console.say(f"gave back {format_size(size)} on {name}")
    failed = 0 if dry_run else len(found) - len(deleted)
    if as_json:
        kept = found if dry_run else []
        session.console.json({"deleted": deleted, "would_delete": kept, "bytes": size})
    if failed:
        raise MachineError(
            f"{failed} of what was to be deleted on {name} is still there, being in use",
            "wait until the campaign there has ended, then repeat",
        )


def _list(session: Session, host: Host, found: list[dict[str, Any]]) -> None:
    if not found:
        session.console.say(f"there is nothing to delete on {host.shown} in {host.workdir}")
        return
    rows = [(one["kind"], format_size(one["bytes"]), one["name"]) for one in found]
    for line in columns(rows, right=(1,)):
        session.console.text(line)


def _delete(
    session: Session, host: Host, found: list[dict[str, Any]], *, yes: bool
) -> list[dict[str, Any]]:
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError(
                "`teiten clean` asks before it deletes, and there is no terminal to ask on",
                "give --yes to delete without a question, or --dry-run to see what would be"
                " deleted",
            )
        click.confirm(f"Delete this from {host.shown} ({host.workdir})?", abort=True, err=True)
    deleted = []
    for one in found:
        if host.call("belongings.remove", kind=one["kind"], folder=one["path"]):
            deleted.append(one)
        else:
            session.console.warn(f"not deleted: {one['path']} is in use")
    return deleted
