"""``teiten clean``: give disk back."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial

import click

from teiten.cli.campaign.uses import Uses, refusal
from teiten.cli.main import Session
from teiten.cli.parameters import json_option, read_value
from teiten.cli.printed.folders import JsonCleaned
from teiten.cli.text.layout import columns
from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.sites.belongings import (
    Belonging,
    BelongingKind,
    belongings,
    remove_belonging,
)
from teiten.host.system.users import server_user
from teiten.ledger.lock import workdir_lock
from teiten.model.quantities import format_duration, format_size, parse_duration
from teiten.model.units import Bytes

DAY = 86_400.0
EXAMPLES = "Examples:  teiten clean --dry-run  ·  teiten clean --all --older-than 30d --yes"


@click.command("clean", epilog=EXAMPLES)
@click.option("--templates", is_flag=True, help="Filled clusters; they are built again if needed.")
@click.option("--packages", is_flag=True, help="Downloads; they are needed to install offline.")
@click.option("--clusters", is_flag=True, help="Clusters left by a Teiten that was killed.")
@click.option("--databases", is_flag=True, help="Databases of Teiten left on attached servers.")
@click.option("--all", "everything", is_flag=True, help="All of these.")
@click.option(
    "--host", metavar="HOST", help="On another host: templates, and programs copied there."
)
@click.option("--host-workdir", metavar="DIR", help="Teiten's folder there, where it is not usual.")
@click.option("--older-than", metavar="TIME", help="Only what was not used for so long: 30d, 12h.")
@click.option("--anyway", is_flag=True, help="Also what a campaign needs that is not complete.")
@click.option("--dry-run", is_flag=True, help="Only list what would be deleted.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@json_option("the list")
@click.pass_obj
def command(  # noqa: PLR0917 - click gives one argument for each option
    session: Session,
    templates: bool,
    packages: bool,
    clusters: bool,
    databases: bool,
    everything: bool,
    host: str | None,
    host_workdir: str | None,
    older_than: str | None,
    anyway: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Give disk back: delete what can be made or downloaded again.

    Without a choice, templates, left clusters and left databases are deleted, and packages are
    kept, as are templates that a campaign needs which is running or can be resumed.
    Campaigns (`teiten rm`) and installations (`teiten pg remove`) are never touched, nor is
    any file or database that Teiten did not make. With --host, all that campaigns have left on that
    host is deleted.
    """
    if host is not None:
        _refuse_beside_host(templates, packages, clusters, databases, older_than, anyway)
        from teiten.cli.clean import kept_on_host

        with kept_on_host(session, host, host_workdir, dry_run=dry_run) as (where, kept, remove):
            _delete(session, where, kept, remove, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    flags = {
        BelongingKind.TEMPLATE: templates,
        BelongingKind.PACKAGE: packages,
        BelongingKind.CLUSTER: clusters,
        BelongingKind.DATABASE: databases,
    }
    kinds = {kind for kind, wanted in flags.items() if wanted or everything}
    kinds = kinds or set(flags) - {BelongingKind.PACKAGE}
    chosen, uses = _choose(session, kinds, older_than), Uses(session.workdir)
    needed_by = {
        item: uses.of_template(item.path.name)
        for item in chosen
        if not anyway and item.kind is BelongingKind.TEMPLATE
    }
    needed = [refusal(item.name, user) for item, user in needed_by.items() if user is not None]
    chosen = tuple(item for item in chosen if needed_by.get(item) is None)
    if needed and not chosen:
        raise needed[0]
    session.console.say(*(f"kept: {reason.message}" for reason in needed))
    where, remove = str(session.workdir.root), partial(_remove, session)
    _delete(session, where, chosen, remove, dry_run=dry_run, yes=yes, as_json=as_json)


def _refuse_beside_host(*given: object) -> None:
    """Refuse what would choose among things here: on a host, everything is deleted. Raises
    UsageError. ``given``: the values of these flags."""
    flags = ("--templates", "--packages", "--clusters", "--databases", "--older-than", "--anyway")
    refused = [flag for flag, value in zip(flags, given, strict=True) if value]
    if refused:
        raise UsageError(
            f"{refused[0]} does not go with --host: all that campaigns have left there is deleted",
            f"leave {refused[0]} out; --dry-run lists what would be deleted",
        )


def _delete(
    session: Session,
    where: str,
    chosen: tuple[Belonging, ...],
    remove: Callable[[Sequence[Belonging]], tuple[Belonging, ...]],
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """List what is chosen, ask, and delete it. Raises MachineError where something is still there
    that was to be deleted."""
    if not as_json:
        _list(session, chosen)
    if dry_run or not chosen:
        if as_json:
            session.console.json(JsonCleaned((), chosen, Bytes(0)))
        return
    if not yes:
        what = "this" if len(chosen) == 1 else f"these {len(chosen)}"
        session.console.ask(
            f"Delete {what} from {where}?",
            asks="`teiten clean` asks before it deletes",
            hint="give --yes to delete without a question, or --dry-run to see what would be"
            " deleted",
        )
    deleted = remove(chosen)
    for belonging in chosen:
        if belonging not in deleted and belonging.kind is not BelongingKind.DATABASE:
            session.console.warn(
                f"not deleted: {belonging.path} is in use, or belongs to another user"
            )
    total = Bytes(sum(belonging.bytes for belonging in deleted))
    session.console.say(f"gave back {format_size(total)}")
    if as_json:
        session.console.json(JsonCleaned(deleted, (), total))
    failed = len(chosen) - len(deleted)
    if failed:
        raise MachineError(
            f"{failed} of what was to be deleted {'is' if failed == 1 else 'are'} still there",
            "see the cautions above; the same command tries again",
        )


def _choose(
    session: Session, kinds: Collection[BelongingKind], older_than: str | None
) -> tuple[Belonging, ...]:
    latest = time.time()
    if older_than is not None:
        latest -= read_value("--older-than", older_than, parse_duration, "30d")
    return tuple(
        belonging
        for belonging in belongings(session.workdir, server_user())
        if belonging.kind in kinds and belonging.last_used <= latest
    )


def _list(session: Session, chosen: Sequence[Belonging]) -> None:
    if not chosen:
        session.console.say("there is nothing to delete")
        return
    rows = []
    for belonging in chosen:
        seconds = max(0.0, time.time() - belonging.last_used)
        age = f"{seconds / DAY:.0f} days" if seconds >= 2 * DAY else format_duration(round(seconds))
        size = format_size(belonging.bytes)
        rows.append((belonging.kind.value, size, f"unused for {age}", belonging.name))
    session.console.text(*columns(rows, right=(1,)))
    total = sum(belonging.bytes for belonging in chosen)
    session.console.say(f"{len(chosen)} in all, {format_size(total)}")


def _remove(session: Session, chosen: Sequence[Belonging]) -> tuple[Belonging, ...]:
    user, removed = server_user(), []
    with workdir_lock(session.workdir.root):
        for belonging in chosen:
            try:
                if remove_belonging(belonging, session.workdir, user):
                    removed.append(belonging)
            except ServerError as error:
                session.console.warn(error.message, error.hint)
    return tuple(removed)
