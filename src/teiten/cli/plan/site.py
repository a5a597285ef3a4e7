"""Where a study will run, while it is planned: this machine, or hosts that are reached, asked, and
left as they were. The one file of the command line that asks which of the two it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from teiten.cli.campaign.attached import confirm_reached
from teiten.errors import MachineError
from teiten.execute.postgres.elsewhere import read_directories
from teiten.execute.postgres.modules import NOT_HERE, module_tools
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.execute.sites.local.checks import lacks, throttles_buffered_writes
from teiten.execute.sites.local.emulated import require_emulation
from teiten.execute.sites.local.limit import require_limits
from teiten.execute.sites.local.limit_files import Allowed
from teiten.host.cautions.builds import prewarming_caution
from teiten.host.cautions.machine import cautions, plan_cautions
from teiten.host.cautions.variants import pinned_apart
from teiten.host.facts.machine import read_host_facts
from teiten.host.system.users import server_user
from teiten.model.facts import Caution, HostFacts
from teiten.model.hosts import HostAssignment
from teiten.model.installation import Installation, ModuleTools
from teiten.model.nodes import NodePart
from teiten.model.plan import Plan
from teiten.model.setup import every_level
from teiten.model.study import Study
from teiten.model.units import GIB
from teiten.plan.cells import most_clients
from teiten.plan.checks import limits_of
from teiten.plan.nodes import distribution_cautions, emulated, node_cautions
from teiten.plan.sites.attached import attached_cautions
from teiten.plan.sites.remote import (
    assignment_cautions,
    check_remote,
    host_cautions,
    nodes_on_hosts,
)

if TYPE_CHECKING:
    from teiten.cli.main import Session
    from teiten.execute.sites.remote.hosts import HostPair

SHARED_CORES = "shared-cores"
"""The machine's caution that a plan makes needless whose trials are pinned apart."""
Servers = Sequence[tuple[str, Installation]]
"""Each level of the factor server with its installation."""


@dataclass(frozen=True)
class PlanningSite:
    """The place where a study will run: this machine."""

    session: Session
    copied: ClassVar[bool] = False
    """Programs are copied there."""

    def facts(self) -> HostFacts:
        """Give the facts of the machine where servers run."""
        return read_host_facts(self.session.workdir.root)

    def with_folders(self, facts: HostFacts, sized: Study) -> HostFacts:
        """Add the folders that the study names to the facts, where it can name any."""
        named = (storage_class.path for storage_class in sized.storage if storage_class.path)
        folders = (*every_level(sized, "directory"), *named)
        return replace(facts, directories=read_directories(folders, server_user()))

    def server(self, reference: str) -> Installation | None:
        """The installation in a folder there; None for a reference that is resolved here."""
        del reference
        return None

    def emulating(self, study: Study) -> Study:
        """The study with as much of its nodes emulated as can be there. Raises MachineError where
        it insists on more."""
        if study.nodes is None:
            return study
        return emulated(study, lacks(study.nodes, self.session.workdir.clusters))

    def module_tools(self, server: Installation) -> ModuleTools:
        """Find the tools that compile C functions for a server there."""
        return module_tools(server)

    def check(self, sized: Study, servers: Servers) -> None:
        """Raise UsageError or MachineError for what cannot be had there."""
        del sized, servers

    def placed(self, plan: Plan) -> Plan:
        """The plan with where it runs."""
        return plan

    def ready(self, plan: Plan) -> frozenset[str]:
        """Fingerprints of the plan's templates that are there."""
        store = TemplateStore(self.session.workdir, server_user())
        return frozenset(
            template.fingerprint for template in plan.templates if store.ready(template)
        )

    def cautions(self, plan: Plan, facts: HostFacts) -> tuple[Caution, ...]:
        """List cautions about machines, the plan's demands on them and the way to the servers."""
        of_machine = cautions(facts, clients=most_clients(plan.study))
        if pinned_apart(plan):
            of_machine = tuple(known for known in of_machine if known.code != SHARED_CORES)
        nodes = node_cautions(plan, buffered_writes=throttles_buffered_writes())
        spread, unlike = distribution_cautions(plan), prewarming_caution(plan)
        of_servers = (*nodes, *spread, *unlike, *attached_cautions(plan))
        return (*of_machine, *plan_cautions(plan, facts), *of_servers)


@dataclass(frozen=True)
class PlanningOnHosts(PlanningSite):
    """The hosts of a study, with an open connection to each."""

    pair: HostPair
    assignment: HostAssignment
    copied: ClassVar[bool] = True

    def facts(self) -> HostFacts:
        return self.assignment.db.facts

    def with_folders(self, facts: HostFacts, sized: Study) -> HostFacts:
        del sized
        return facts

    def emulating(self, study: Study) -> Study:
        return emulated(study, [(part, "the servers run on another host") for part in NodePart])

    def server(self, reference: str) -> Installation | None:
        from teiten.execute.sites.remote.packages import inspect_on_each

        return inspect_on_each(self.pair, reference)

    def module_tools(self, server: Installation) -> ModuleTools:
        del server
        return NOT_HERE

    def check(self, sized: Study, servers: Servers) -> None:
        from teiten.execute.sites.remote.hosts import require_same_kind
        from teiten.execute.sites.remote.packages import check_copyable

        check_remote(sized, servers)
        for _, server in servers:
            if not self.pair.db.is_here and not server.on_db_host:
                for host in self.pair.servers:
                    require_same_kind(host)
                check_copyable(server)

    def placed(self, plan: Plan) -> Plan:
        return replace(plan, hosts=self.assignment)

    def ready(self, plan: Plan) -> frozenset[str]:
        fingerprints = [template.fingerprint for template in plan.templates]
        lacking: set[str] = set()
        for number, host in enumerate(self.pair.servers):
            known = host.call("clusters.known_templates", fingerprints=fingerprints)
            wanted = {
                template.fingerprint
                for trial in plan.trials
                for node, template in trial.nodes
                if len(self.pair.servers) == 1 or trial.host_of(node) == number
            }
            lacking |= wanted - set(known)
        return frozenset(set(fingerprints) - lacking)

    def cautions(self, plan: Plan, facts: HostFacts) -> tuple[Caution, ...]:
        further = self.assignment.servers[1:]
        apart = not self.assignment.together
        of_hosts = [
            caution
            for host in self.assignment.each
            for caution in host_cautions(
                cautions(host.facts, clients=most_clients(plan.study)),
                host,
                apart=apart or host in further,
            )
        ]
        own = nodes_on_hosts(plan) if further else node_cautions(plan, buffered_writes=False)
        nodes = (*own, *distribution_cautions(plan))
        return (*of_hosts, *assignment_cautions(plan), *plan_cautions(plan, facts), *nodes)


@contextmanager
def planning_site(session: Session, study: Study) -> Iterator[PlanningSite]:
    """Connect to the study's hosts, where it names any. Whatever connects for a plan does so within
    this, after the question about places that a file alone names."""
    confirm_reached(session, study)
    if study.hosts is None:
        yield PlanningSite(session)
        return
    from teiten.execute.sites.remote.hosts import HostPair

    check_remote(study, ())  # before anything is reached
    with closing(HostPair(study.hosts, session.workdir.root)) as pair:
        yield PlanningOnHosts(session, pair, pair.assignment())


def servers_here(plan: Plan) -> Servers:
    """List the servers whose programs are on this machine, wherever they are to run."""
    return tuple((level, server) for level, server in plan.servers if not server.on_db_host)


def require_here(plan: Plan, folder: Path) -> None:
    """Raise MachineError where this machine cannot limit what a plan wants limited, or emulate
    nodes or a device as it has them. ``folder``: of clusters."""
    nodes = plan.study.nodes
    if nodes is not None and any(trial.machines for trial in plan.trials):
        known = {part for part, _ in nodes.lacking}
        news = [lacking for lacking in lacks(nodes, folder) if lacking[0] not in known]
        emulated(replace(plan.study, nodes=replace(nodes, insist=True)), news)
    limits = limits_of(plan)
    if limits:
        require_limits(Allowed(memory=limits[-1]))
    if any(storage_class.emulation is not None for storage_class in plan.study.storage):
        require_emulation()


def why_no_memory_limit() -> MachineError | None:
    """The reason why this machine, or its rights, permit no limit of memory; None where they do."""
    try:
        require_limits(Allowed(memory=GIB))
    except MachineError as error:
        return error
    return None
