"""The hosts of a study while it is planned: reached, asked, and left as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from teiten.errors import MachineError
from teiten.host.cautions.machine import cautions
from teiten.model.facts import Caution
from teiten.model.hosts import Placement
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import Study
from teiten.plan.levels import most_clients
from teiten.plan.sites.remote import check_remote, host_cautions, placement_cautions

if TYPE_CHECKING:
    from teiten.cli.main import Session
    from teiten.execute.sites.remote.hosts import HostPair


@dataclass(frozen=True)
class Reached:
    """The hosts of a study, with an open connection to each."""

    pair: HostPair
    placement: Placement

    def server(self, reference: str) -> Installation | None:
        """The installation in a folder of the db host; None for any other reference."""
        from teiten.execute.sites.remote.packages import inspect_there, is_there

        return inspect_there(self.pair.db, reference) if is_there(reference) else None

    def check(self, servers: Sequence[tuple[str, Installation]]) -> None:
        """Raise UsageError or MachineError for servers that cannot run there."""
        from teiten.execute.sites.remote.hosts import require_same_kind
        from teiten.execute.sites.remote.packages import check_copyable

        for _, one in servers:
            if not self.pair.db.is_here and not one.on_db_host:
                require_same_kind(self.pair.db)
                check_copyable(one)

    def ready(self, fingerprints: Sequence[str]) -> frozenset[str]:
        """Those of the templates that are there."""
        found = self.pair.db.call("clusters.known_templates", fingerprints=list(fingerprints))
        return frozenset(found)


@contextmanager
def reached(session: Session, study: Study) -> Iterator[Reached | None]:
    """Connect to the study's hosts; None for a study of this machine alone."""
    if study.hosts is None:
        yield None
        return
    from teiten.execute.sites.remote.hosts import HostPair

    check_remote(study, ())  # before anything is reached
    with HostPair(study.hosts, session.workdir.root) as pair:
        yield Reached(pair, pair.placement())


def machine_cautions(plan: Plan, placement: Placement) -> tuple[Caution, ...]:
    """Of each host, and of the way between them."""
    apart = not placement.together
    found = [
        caution
        for host in placement.each
        for caution in host_cautions(
            cautions(host.facts, clients=most_clients(plan.study)), host, apart=apart
        )
    ]
    return (*found, *placement_cautions(plan))


def on_host(error: MachineError, placement: Placement | None) -> MachineError:
    """A shortfall says on which host it is."""
    if placement is None or not placement.db.name:
        return error
    name = placement.db.name
    hint = error.hint.replace(
        "teiten clean, or --workdir", f"teiten clean --host {name}, or a folder"
    )
    return MachineError(f"host {name}: {error.message}", f"{hint} (hosts.db_workdir)")


def asked_here(plan: Plan) -> Plan:
    """The plan with those servers alone that this machine can ask about parameters."""
    here = tuple((level, one) for level, one in plan.servers if not one.on_db_host)
    levels = {level for level, _ in here}
    trials = tuple(one for one in plan.trials if (one.cell.level("server") or "") in levels)
    return replace(plan, servers=here, trials=trials)
