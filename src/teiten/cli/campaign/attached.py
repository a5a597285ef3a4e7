"""Attached servers on the command line, and hosts: the questions before they are used, what they
are, and what is left there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teiten.errors import UsageError
from teiten.execute.sites.attached.asking import ask
from teiten.execute.sites.attached.connection import Route
from teiten.execute.sites.attached.databases import notes
from teiten.model.installation import Installation
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.plan import Plan
from teiten.model.study import GUC_PREFIX, Study
from teiten.plan.sites.of import reached, servers_of_others

if TYPE_CHECKING:
    from teiten.cli.main import Session


def confirm_reached(session: Session, study: Study) -> None:
    """Ask before the first connection to servers and hosts that a file alone names: whoever wrote
    it would be given the passwords and keys that libpq and ssh find for them.

    Raises UsageError where nobody can be asked, click.Abort where the answer is no.
    """
    known = session.agreed.union(study.on_command_line)
    news = [place for place in reached(study) if place not in known]
    if not news or session.agreed_to_all:
        return
    where, source = " and ".join(news), study.file or "a file"
    _ask(
        session,
        f"Only {source} names {where}. Connect, with your passwords and keys for it?",
        asks=f"Teiten asks before it connects to {where}, which {source} names and the command line"
        " does not",
        hint="name it there (--servers NAME=postgresql://…, --db-host HOST, --client-host HOST), or"
        " give --yes to go on without a question",
    )
    session.agreed.update(news)


def confirm_attached(session: Session, *plans: Plan, yes: bool) -> None:
    """Ask before databases are made on servers that Teiten did not start.

    Raises UsageError where nobody can be asked, click.Abort where the answer is no.
    """
    where = " and ".join(dict.fromkeys(text for plan in plans for text in servers_of_others(plan)))
    if not where or yes:
        return
    _ask(
        session,
        f"Make databases teiten_… on {where}, load the server, and drop them at the end?",
        asks=f"Teiten asks before it makes databases on {where}, which it did not start",
        hint="give --yes to go on without a question; teiten plan shows what would be done",
    )


def _ask(session: Session, question: str, *, asks: str, hint: str) -> None:
    """Ask a person; a program that reads JSON is refused instead."""
    if session.console.for_programs:
        raise UsageError(f"{asks}, and with --json nobody is asked", hint)
    session.console.ask(question, asks=asks, hint=hint)


def attach(session: Session, study: Study, level: str, address: str) -> Installation:
    """Ask an attached server what it is and permits; changes nothing there.

    Raises UsageError where the address holds a secret that pgbench cannot be given unseen.
    """
    others = sorted(session.secrets.get(address, {}).keys() - {"password"})
    if others:
        raise UsageError(
            f"the address of the server {level} holds {others[0]}, and pgbench could only be given"
            " it where everybody on this machine sees it",
            "use a key without a passphrase (mode 0600), a password, or a tunnel (ssh -L)",
        )
    cluster = study.cluster(level)
    nodes = () if cluster is None else cluster.nodes
    further = ((f"{level}-node-{number}", node) for number, node in enumerate(nodes, start=1))
    asked = [
        ask(Route(name, named, session.passwords.get(named)), _parameters(study))
        for name, named in ((level, address), *further)
    ]
    return replace(asked[0], nodes=tuple(asked[1:]))


def _parameters(study: Study) -> frozenset[str]:
    """The server parameters that a study sets or varies."""
    varied = [factor.name for factor in study.factors]
    varied += [name for _, levels in study.server_levels for name, _ in levels]
    names = [name.removeprefix(GUC_PREFIX) for name in varied if name.startswith(GUC_PREFIX)]
    return frozenset((SHARED_BUFFERS, *names, *(setting.name for setting in study.settings)))


def tell_left(session: Session, campaign: str) -> None:
    """Warn of databases of a campaign that could not be dropped."""
    left = [note for _, note in notes(session.workdir.attached) if note.campaign == campaign]
    if left:
        listed = ", ".join(f"{note.database} on {note.server}" for note in left)
        session.console.warn(
            f"left on an attached server that did not answer: {listed}",
            "teiten clean --databases drops them when it answers again; so does teiten resume",
        )
