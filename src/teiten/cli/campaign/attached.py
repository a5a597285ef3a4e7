"""Attached servers on the command line: what they are, and what is left there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from teiten.errors import UsageError
from teiten.execute.sites.attached.asking import ask
from teiten.execute.sites.attached.connection import Route
from teiten.execute.sites.attached.databases import notes
from teiten.model.installation import Installation
from teiten.model.memory import SHARED_BUFFERS
from teiten.model.study import GUC_PREFIX, Study

if TYPE_CHECKING:
    from teiten.cli.main import Session


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
