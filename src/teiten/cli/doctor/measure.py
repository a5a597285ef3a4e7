"""Measurements of ``teiten doctor``: the ceilings of this machine, and a check of paired
transactions, start by start."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import mean

from teiten.analysis.verdict.pairs_check import assess_starts
from teiten.cli.campaign.carry_out import measuring, sweep_leftovers
from teiten.cli.doctor.text import signed, words
from teiten.cli.main import Session
from teiten.cli.plan.builds import newest_server
from teiten.cli.plan.make import plan_study
from teiten.errors import InterruptedCampaignError
from teiten.execute.bench import ThisMachine
from teiten.host.ceilings.measure import PATTERNS, measure_ceilings
from teiten.host.ceilings.measure import SECONDS as SECONDS_OF_A_CEILING
from teiten.host.facts.cgroups import read_cgroup_limits
from teiten.host.facts.cpus import read_cpu_facts
from teiten.host.facts.kept import StartsSoFar, keep_check
from teiten.host.facts.native_part import require_pairs
from teiten.host.system.signals import one_interruption
from teiten.host.system.users import server_user
from teiten.kinds.registry import Stage, kind
from teiten.model.facts import HostFacts
from teiten.model.pairs_check import STARTS, CheckedStart, PairsCheck
from teiten.model.plan import Plan
from teiten.model.quantities import rough_duration
from teiten.model.text import Language
from teiten.model.units import Seconds
from teiten.plan.ordering import LARGEST_SEED
from teiten.study.sides import Shared, null_study
from teiten.ways.registry import PREFERRED

SECONDS = Seconds(10.0)
"""Seconds of load in each start, with each number of clients."""
SCALE = 10
"""Scale of pgbench's tables: 150 MB on each side."""
FIXED = Seconds(4.0)
"""Assumed seconds of a start besides the load, before one was seen."""


def measure(session: Session, language: Language) -> None:
    """Measure and keep the ceilings. Raises MachineError where the disk cannot be measured."""
    session.console.say(
        words(language)(
            "doctor.ceilings_measuring", seconds=f"{PATTERNS * SECONDS_OF_A_CEILING:.0f}"
        )
    )
    limits = read_cgroup_limits()
    measure_ceilings(session.workdir, logical=read_cpu_facts(limits.cpu_quota_cores).logical)


def check_pairs(
    session: Session,
    facts: HostFacts,
    language: Language,
    *,
    starts: int = STARTS,
    seconds: Seconds = SECONDS,
    scale: int = SCALE,
) -> PairsCheck:
    """Measure the starts that are missing, and keep what they came to.

    Raises MachineError where the native part is not here or the machine does not suffice,
    UsageError without a server, InterruptedCampaignError after Ctrl-C; what was measured is kept.
    """
    require_pairs()
    session.workdir.prepare()
    with measuring(session):
        sweep_leftovers(session)
        plan = _plan(session, facts, scale)
        about = f"{plan.templates[0].fingerprint} {facts.cpu.logical} {seconds:g} {starts}"
        so_far = StartsSoFar(session.workdir.caches, facts, about)
        measured = so_far.read()[:starts]
        left = Seconds((starts - len(measured)) * (2 * seconds + FIXED))
        values = {"starts": starts, "kept": len(measured), "time": rough_duration(left)}
        session.console.say(words(language)("doctor.pairs_begin", **values))
        if len(measured) < starts:
            for measured in _measured(session, plan, so_far, starts, seconds):
                session.console.say(_start_text(language, measured, starts))
    check = assess_starts(
        measured,
        measured_at=time.time(),
        version=str(plan.servers[0][1].version),
        delta=plan.study.measure.delta,
        alpha=plan.study.measure.alpha,
    )
    keep_check(session.workdir.caches, facts, check)
    so_far.forget()
    return check


def _plan(session: Session, facts: HostFacts, scale: int) -> Plan:
    """The newest server here against itself, as `teiten null` would have it."""
    clients = str(facts.cpu.logical)
    study = null_study(
        newest_server(session).name, Shared(clients=clients, overrides=(f"scale={scale}",))
    )
    paired = replace(study, measure=replace(study.measure, way=PREFERRED))
    return plan_study(session, paired, seed=None).plan


def _measured(
    session: Session, plan: Plan, so_far: StartsSoFar, starts: int, seconds: Seconds
) -> Iterator[list[CheckedStart]]:
    """All starts so far, after each."""
    machine = ThisMachine(session.workdir, server_user(), ())
    run = kind(plan.study.workloads[0].kind, Stage.RUN)
    measured = so_far.read()
    try:
        with (
            one_interruption() as interruption,
            run.servers_to_check(plan, machine, int(plan.trials[0].load.connections)) as servers,
        ):
            while len(measured) < starts:
                interruption.check()
                start = servers.start(seconds, 1 + secrets.randbelow(LARGEST_SEED - 1))
                so_far.add(start)
                measured.append(start)
                yield measured
    except KeyboardInterrupt:
        raise InterruptedCampaignError(
            f"interrupted after {len(measured)} of {starts} starts; all of them are kept",
            "teiten doctor --pairs continues",
        ) from None


def _start_text(language: Language, measured: list[CheckedStart], starts: int) -> str:
    left = Seconds((starts - len(measured)) * mean(start.took for start in measured))
    at_cores, beyond = measured[-1].loads
    return words(language)(
        "doctor.pairs_start",
        at=len(measured),
        starts=starts,
        throughput=signed(at_cores.equal.throughput),
        typical=signed(at_cores.equal.typical),
        clients=beyond.clients,
        beyond=signed(beyond.equal.throughput),
        time=rough_duration(left),
    )
