"""The sites of a campaign: each trial gets one of the kind that its plan asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from teiten.execute.bench import Bench, ThisMachine
from teiten.execute.client.here import Here
from teiten.execute.sites.attached.campaign import AttachedDatabases
from teiten.execute.sites.contract import CampaignServers
from teiten.execute.sites.local.clusters import LocalClusters
from teiten.execute.sites.remote.clusters import RemoteClusters
from teiten.model.plan import TemplateSpec


class Sites:
    """Every kind of sites that the plan may need; ``finish`` gives all of it back."""

    def __init__(
        self,
        bench: Bench,
        machine: ThisMachine,
        passwords: Mapping[str, str],
        say: Callable[[str], None],
        tell: Callable[[str], None],
    ) -> None:
        """``passwords``: by address of an attached server, those that were in it. ``say``: details;
        ``tell``: what was found and swept on hosts, and what was left. Raises MachineError where
        one cannot be reached."""
        self._remote: RemoteClusters | None = None
        if bench.plan.study.hosts is not None:
            self._remote = RemoteClusters(bench, machine.workdir.root, tell)
        self._here = Here()
        self._local = LocalClusters(bench, machine, self._here, say, tell)
        self._attached = AttachedDatabases(
            bench, machine.workdir.attached, passwords, self._here, say
        )

    def of(self, *templates: TemplateSpec) -> CampaignServers:
        """Where templates, and the trials on them, belong. Raises ValueError where a trial's do not
        belong together."""
        if self._remote is not None:
            return self._remote
        attached = {template.installation.attached is not None for template in templates}
        if len(attached) != 1:
            raise ValueError("some of a trial's nodes are attached, and some are not")
        return self._attached if attached.pop() else self._local

    def finish(self) -> None:
        """Never raises."""
        self._local.finish()
        self._attached.finish()
        if self._remote is not None:
            self._remote.finish()
        self._here.close()
