"""``teiten clean``: give disk back."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence

import click

from teiten.cli.campaign.uses import Unfinished, Uses, refusal
from teiten.cli.main import Session
from teiten.cli.printed.folders import JsonCleaned
from teiten.cli.text.layout import columns
from teiten.errors import MachineError, ServerError, UsageError
from teiten.execute.sites.belongings import (
    Belonging,
    BelongingKind,
    belongings,
    remove_belonging,
)
from teiten.host.system.users import ServerUser, server_user
from teiten.ledger.lock import workdir_lock
from teiten.model.quantities import format_duration, format_size, parse_duration

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
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
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
        from teiten.cli.clean import clean_host

        clean_host(session, host, host_workdir, dry_run=dry_run, yes=yes, as_json=as_json)
        return
    chosen_kinds = {
        BelongingKind.TEMPLATE: templates,
        BelongingKind.PACKAGE: packages,
        BelongingKind.CLUSTER: clusters,
        BelongingKind.DATABASE: databases,
    }
    kinds = _kinds(chosen_kinds, all_=everything)
    chosen, needed = _parted(session, _choose(session, kinds, older_than), anyway=anyway)
    if needed and not chosen:
        raise refusal(needed[0][0].name, needed[0][1])
    for one, campaign in needed:
        session.console.say(f"kept: {refusal(one.name, campaign).message}")
    if not as_json:
        _list(session, chosen)
    if dry_run or not chosen:
        if as_json:
            session.console.json(JsonCleaned((), chosen, 0))
        return
    if not yes:
        _ask(session, chosen)
    with workdir_lock(session.workdir.root):
        user = server_user()
        deleted = [one for one in chosen if _remove(session, one, user)]
    _tell(session, chosen, deleted, as_json)
    _complain(len(chosen) - len(deleted))


def _kinds(chosen: Mapping[BelongingKind, bool], *, all_: bool) -> frozenset[BelongingKind]:
    if all_:
        return frozenset(BelongingKind)
    if not any(chosen.values()):
        return frozenset(BelongingKind) - {BelongingKind.PACKAGE}
    return frozenset(kind for kind, wanted in chosen.items() if wanted)


def _choose(
    session: Session, kinds: frozenset[BelongingKind], older_than: str | None
) -> tuple[Belonging, ...]:
    latest = time.time() - _age(older_than)
    found = belongings(session.workdir, server_user())
    return tuple(one for one in found if one.kind in kinds and one.last_used <= latest)


def _parted(
    session: Session, found: Sequence[Belonging], *, anyway: bool
) -> tuple[tuple[Belonging, ...], list[tuple[Belonging, Unfinished]]]:
    """Separate what may be deleted from what a campaign that is not complete needs."""
    uses = Uses(session.workdir)
    asked = () if anyway else (BelongingKind.TEMPLATE,)
    both = [(one, uses.of_template(one.path.name) if one.kind in asked else None) for one in found]
    free = tuple(one for one, user in both if user is None)
    return free, [(one, user) for one, user in both if user is not None]


def _complain(failed: int) -> None:
    """Raise MachineError where something is still there that was to be deleted."""
    if failed:
        raise MachineError(
            "1 of what was to be deleted is still there"
            if failed == 1
            else f"{failed} of what was to be deleted are still there",
            "see the cautions above; the same command tries again",
        )


def _age(text: str | None) -> float:
    if text is None:
        return 0.0
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--older-than: {error}", "write for example --older-than 30d") from error


def _list(session: Session, chosen: Sequence[Belonging]) -> None:
    if not chosen:
        session.console.say("there is nothing to delete")
        return
    rows = [(one.kind.value, format_size(one.bytes), _unused(one), one.name) for one in chosen]
    for line in columns(rows, right=(1,)):
        session.console.text(line)
    total = sum(one.bytes for one in chosen)
    session.console.say(f"{len(chosen)} in all, {format_size(total)}")


def _unused(one: Belonging) -> str:
    seconds = max(0.0, time.time() - one.last_used)
    if seconds >= 2 * DAY:
        return f"unused for {seconds / DAY:.0f} days"
    return f"unused for {format_duration(round(seconds))}"


def _ask(session: Session, chosen: Sequence[Belonging]) -> None:
    if not sys.stdin.isatty():
        raise UsageError(
            "`teiten clean` asks before it deletes, and there is no terminal to ask on",
            "give --yes to delete without a question, or --dry-run to see what would be deleted",
        )
    what = "this" if len(chosen) == 1 else f"these {len(chosen)}"
    click.confirm(f"Delete {what} from {session.workdir.root}?", abort=True, err=True)


def _remove(session: Session, one: Belonging, user: ServerUser) -> bool:
    try:
        return remove_belonging(one, session.workdir, user)
    except ServerError as error:
        session.console.warn(error.message, error.hint)
        return False


def _tell(
    session: Session, chosen: Sequence[Belonging], deleted: Sequence[Belonging], as_json: bool
) -> None:
    for one in chosen:
        if one not in deleted and one.kind is not BelongingKind.DATABASE:
            session.console.warn(f"not deleted: {one.path} is in use, or belongs to another user")
    total = sum(one.bytes for one in deleted)
    session.console.say(f"gave back {format_size(total)}")
    if as_json:
        session.console.json(JsonCleaned(tuple(deleted), (), total))
