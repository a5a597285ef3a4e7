"""One database of a trial, on a server that Teiten did not start."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg

from teiten.errors import ServerError, TeitenError
from teiten.execute.executor import Facts
from teiten.execute.sites.nodes import TrialNode
from teiten.execute.sites.server_facts import non_default_settings, read_server_facts
from teiten.model.attached import AttachedServer
from teiten.model.installation import Version
from teiten.model.plan import Node, PlannedTrial, TemplateSpec

if TYPE_CHECKING:
    from teiten.execute.sites.attached.campaign import AttachedDatabase, AttachedDatabases

SECRET = re.compile(r"password|passphrase|secret|token|conninfo|_command$|_key", re.IGNORECASE)
"""In the names of parameters whose values may hold a password, such as primary_conninfo."""


def without_secrets(settings: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a server that is somebody's, as they may stand in a ledger."""
    return {name: value for name, value in settings.items() if SECRET.search(name) is None}


class AttachedNode(TrialNode):
    """A database of one trial on one of its servers."""

    def __init__(self, campaign: AttachedDatabases, trial: PlannedTrial, number: Node) -> None:
        super().__init__(campaign.bench, trial, number)
        self._campaign = campaign
        self.server: AttachedServer = permitted(self.template)
        self.found: AttachedDatabase | None = None
        self._copy: str | None = None
        self._sound = False

    @property
    def database(self) -> AttachedDatabase:
        if self.found is None:
            raise ServerError("the trial has no database yet", "see the trial's log")
        return self.found

    @property
    def name(self) -> str | None:
        """The database's, once there is one."""
        return None if self.found is None else self.found.database

    def restore(self, like: str | None = None) -> Facts:
        """``like``: how the first node's database is named, where tables are spread: some engines
        know one name on all nodes."""
        if self._trial.distribution is not None:
            return self._restore_part(like)
        original = self._campaign.original(self.template, self._trial.cluster_of(self.number))
        if not self._restores:
            self.found = self._campaign.open(self.template, original)
            return {"restored": False, "database": original}
        self._copy = self._campaign.copy(self.template, original)
        self.found = self._campaign.open(self.template, self._copy)
        return {"restored": True, "database": self._copy}

    def _restore_part(self, like: str | None) -> Facts:
        """Open this server's part of the tables; trials that only read keep what an engine made of
        theirs."""
        if not self._restores:
            cluster = self._trial.cluster_of(self.number)
            name = self._campaign.kept_part(self.template, cluster, like)
        else:
            name = self._copy = self._campaign.part(self.template, like)
        self.found = self._campaign.open(self.template, name)
        return {"restored": self._restores, "database": name}

    def start(self) -> Facts:
        reported = self.reported = read_server_facts(self.connect)
        settings = without_secrets(non_default_settings(self.connect))
        self._require_version(Version(reported["version_number"]))
        self._own_facts |= {
            "version": reported["version"],
            "settings": settings,
            "session_settings": dict(self._trial.settings),
        }
        return {"version": reported["version_number"], "started": False}

    def prewarm(self) -> Facts:
        return super().prewarm() if self.server.can_prewarm else {"prewarmed": False}

    def checkpoint(self) -> Facts:
        if self.server.can_checkpoint:
            super().checkpoint()
        return {"checkpoint": self.server.can_checkpoint}

    def connect(self) -> psycopg.Connection[Any]:
        return self.database.connect(settings=self._trial.settings)

    def stop(self, *, sound: bool) -> None:
        self._sound = sound
        self._drop_copy()

    def give_back(self) -> None:
        """Drop the copy, and a kept database that a failed trial may have left half made."""
        if not self._restores and self._trial.distribution is not None and not self._sound:
            self._copy = self.name
        self._drop_copy()
        self.found = None

    def _drop_copy(self) -> None:
        """One that cannot be dropped now is dropped at the campaign's end, or by teiten clean."""
        if self._copy is not None:
            with contextlib.suppress(TeitenError, OSError):
                self._campaign.drop(self.template, self._copy)
            self._copy = None

    def _require_version(self, running: Version) -> None:
        """The server may have been replaced since it was planned."""
        planned = self.template.installation.version
        if running != planned:
            raise ServerError(
                f"the server {self.database.route.name} is PostgreSQL {running} now; the campaign"
                f" was planned for {planned}",
                "begin a new campaign: versions are not mixed on one side",
            )


def permitted(template: TemplateSpec) -> AttachedServer:
    """Find what the role of a template's server may do there."""
    attached = template.installation.attached
    if attached is None:
        raise RuntimeError(f"{template.installation.name} is not attached")
    return attached
