"""Whether a plan can run on a machine; if not, exactly what falls short; pure.

Servers with ``huge_pages=on`` do not start where too few are reserved. A limit of memory holds a
server, its load generator and the page cache of their files together; servers that run side by side
have one each.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from teiten.errors import MachineError, UsageError
from teiten.factors.registry import rules
from teiten.model.facts import HostFacts
from teiten.model.installation import Version
from teiten.model.memory import MACHINE, memory_of
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.quantities import exact_size, format_size, parse_size
from teiten.model.settings import Refusal, count_setting, size_setting
from teiten.model.setup import every_level
from teiten.model.study import Study
from teiten.model.units import KIB, MIB, Bytes
from teiten.plan.estimate import within
from teiten.plan.nodes import check_machines
from teiten.plan.sites.of import site_in
from teiten.suggest import did_you_mean
from teiten.ways.registry import servers_of_a_start


def check(plan: Plan, facts: HostFacts, folder: Path) -> None:
    """Raise UsageError for a plan that contradicts itself, MachineError for a shortfall.

    ``folder``: where clusters and templates are made; ``facts.disk`` is the disk below it.
    """
    check_connections(plan)
    for factor in rules():
        factor.check_plan(plan, facts)
    check_huge_pages(plan, facts)
    check_limits(plan, facts)
    short = [*_disk_shortfall(plan, facts, folder), *_memory_shortfall(plan, facts)]
    if short:
        raise MachineError(
            "; ".join(what for what, _ in short),
            "; ".join([_smaller(plan), *(remedy for _, remedy in short)]),
        )


def check_connections(plan: Plan) -> None:
    """Every trial's clients fit into its max_connections, with some to spare."""

    def missing(trial: PlannedTrial) -> int:
        needed, available = site_in(plan, trial.template.installation).connections(trial)
        return needed - available

    trial = max(plan.trials, key=missing)
    if missing(trial) > 0:
        raise site_in(plan, trial.template.installation).too_few_connections(trial)


def _disk_shortfall(plan: Plan, facts: HostFacts, folder: Path) -> Iterator[tuple[str, str]]:
    """Each shortfall, and a remedy other than a smaller campaign."""
    short = plan.needs.disk - facts.disk.free
    if short > 0:
        yield (
            f"the plan needs {format_size(plan.needs.disk)} of disk in {folder},"
            f" {format_size(facts.disk.free)} are free: {format_size(short)} short",
            "teiten clean, or --workdir on another disk",
        )


def _memory_shortfall(plan: Plan, facts: HostFacts) -> Iterator[tuple[str, str]]:
    short = plan.needs.memory - facts.memory.available
    if short > 0:
        buffers = max(size_setting(dict(trial.settings), "shared_buffers") for trial in plan.trials)
        clients = max(trial.load.connections for trial in plan.trials)
        count = servers_of_a_start(plan.study)
        servers = "" if count == 1 else f"{count} servers side by side, each with up to "
        what = f"{servers}{format_size(buffers)} of shared buffers, {clients} clients"
        limits = limits_of(plan)
        if limits:
            what = f"a limit of {format_size(limits[-1])}{_of_each(count)}"
        yield (
            f"the plan needs {format_size(plan.needs.memory)} of memory ({what}),"
            f" {format_size(facts.memory.available)} are available: {format_size(short)} short",
            "less with --memory SIZE" if limits else "less with --guc shared_buffers=…",
        )


def _smaller(plan: Plan) -> str:
    scale = max(template.data.scale or 1 for template in plan.templates)
    smaller = f"a smaller scale than {scale} (--set scale=…)"
    return f"--profile standard, or {smaller}" if plan.study.profile == "published" else smaller


NAME = "huge_pages"
SHARE_BESIDE_BUFFERS = 0.03
"""Descriptors, the buffers' hash table and what else grows with shared_buffers."""
BYTES_BESIDE = 32 * MIB
"""WAL buffers, and what grows with nothing."""
BYTES_PER_CONNECTION = 64 * KIB
"""Locks, process slots, statistics."""


def shared_memory(settings: Mapping[str, str]) -> int:
    """About the bytes of shared memory that a server takes; rather too many than too few."""
    buffers = size_setting(settings, "shared_buffers")
    connections = count_setting(settings, "max_connections")
    return int(
        buffers * (1 + SHARE_BESIDE_BUFFERS) + BYTES_BESIDE + connections * BYTES_PER_CONNECTION
    )


def check_huge_pages(plan: Plan, facts: HostFacts) -> None:
    """Raise MachineError where a trial demands huge pages that are not there."""
    demanding = [
        settings
        for settings in (dict(trial.settings) for trial in plan.trials)
        if settings.get(NAME, "").lower() == "on" and not settings.get("huge_page_size")
    ]
    if not demanding:
        return
    memory = facts.memory
    if memory.huge_page_size is None or memory.huge_pages_free is None:
        raise MachineError(
            f"{NAME}=on: {facts.system} tells of no huge pages that could be reserved",
            f"leave it out, or use {NAME}=try",
        )
    needed = max(
        math.ceil(shared_memory(settings) / memory.huge_page_size) for settings in demanding
    )
    free = memory.huge_pages_free
    if needed <= free:
        return
    reserved = memory.huge_pages_total or 0
    size = memory.huge_page_size // KIB
    raise MachineError(
        f"{NAME}=on needs about {needed} huge pages of {size} kB; {free} are free"
        f" ({reserved} are reserved): the server would not start",
        f"reserve them: sysctl -w vm.nr_hugepages={reserved - free + needed}, or use {NAME}=try",
    )


def least_memory(study: Study) -> Bytes:
    """The smallest memory in force of any trial of a study whose machine is known."""
    levels = every_level(study, "memory")
    limits = [parse_size(level) for level in levels if level != MACHINE]
    return min([memory_of(study), *limits])


def limits_of(plan: Plan) -> tuple[Bytes, ...]:
    """Every limit of a plan's trials once, the smallest first."""
    return tuple(sorted({limit for trial in plan.trials for limit in trial.memory_limits}))


def check_limits(plan: Plan, facts: HostFacts) -> None:
    """Raise MachineError for a limit above the machine's memory, or below what a trial needs."""
    kinds = {(trial.kind, trial.load.connections): trial for trial in plan.trials}
    for trial in kinds.values():
        if trial.memory_limits:
            _check_huge_pages(trial, facts)
        if trial.machines:
            check_machines(trial, servers_of_a_start(plan.study), facts)
        limit = trial.memory_limit
        if limit is None:
            continue
        _check_machine(plan.study, limit, facts)
        needed = within(plan.study, trial)
        if needed > limit:
            raise _too_small(trial, limit, needed)


def _of_each(count: int) -> str:
    """In a sentence about a limit: of how many servers each has it."""
    return "" if count == 1 else f" for each of {count} servers side by side"


def _check_machine(study: Study, limit: Bytes, facts: HostFacts) -> None:
    total, count = facts.memory.total, servers_of_a_start(study)
    if limit * count > total:
        raise MachineError(
            f"memory={exact_size(limit)}{_of_each(count)}: the machine has {format_size(total)}",
            f"a smaller limit, or --memory {MACHINE} for all that there is",
        )


def _check_huge_pages(trial: PlannedTrial, facts: HostFacts) -> None:
    """Huge pages that are reserved count to no control group (Linux, hugetlb in cgroup-v2.rst)."""
    asked = dict(trial.settings).get("huge_pages", "try").lower()
    if facts.memory.huge_pages_free and asked not in ("off", "false", "no", "0"):
        raise MachineError(
            f"{facts.memory.huge_pages_free} huge pages are free, and with huge_pages={asked} the"
            " server would have its shared buffers in them, outside of the limit of memory",
            "--guc huge_pages=off, or give the pages back: sysctl -w vm.nr_hugepages=0; with huge"
            " pages measure without a limit: --memory machine",
        )


def _too_small(trial: PlannedTrial, limit: Bytes, needed: Bytes) -> MachineError:
    buffers = size_setting(dict(trial.settings), "shared_buffers")
    clients = trial.load.connections
    load = "1 client" if clients == 1 else f"{clients} clients"
    return MachineError(
        f"memory={exact_size(limit)} is too small for {trial.cell}: the server takes about"
        f" {format_size(needed)}, {format_size(needed - limit)} more"
        f" ({format_size(buffers)} of shared buffers, {load}), and leaves nothing for the page"
        " cache",
        "a larger --memory, a smaller share of shared_buffers, or fewer clients",
    )


VERSIONS = Path(__file__).with_name("parameter_versions.toml")
"""Words the hint about a parameter that a server would refuse; the servers themselves decide
(``execute.postgres.parameters`` asks them)."""


def check_parameters(refusals: Sequence[Refusal]) -> None:
    """Raise UsageError for the first refusal, with the number of the others."""
    if not refusals:
        return
    refusal, *others = refusals
    server, name = f"server {refusal.server}: PostgreSQL {refusal.version}", refusal.name
    more = f" (and {len(others)} more)" if others else ""
    if refusal.unknown:
        raise UsageError(
            f"{server} does not know the parameter {name}{more}",
            f"{_lifetime_text(refusal) or _meant(refusal)}leave {name} out, or choose other"
            " servers",
        )
    raise UsageError(
        f"{server} refuses {name} = {refusal.value}: {refusal.message}{more}", _value_hint(refusal)
    )


def lifetime(name: str) -> tuple[str | None, ...]:
    """The first and the last major version that has a parameter; None is beyond those known."""
    ends = (_versions()[end].items() for end in ("since", "until"))
    return tuple(next((major for major, names in end if name in names), None) for end in ends)


def _meant(refusal: Refusal) -> str:
    near = did_you_mean(refusal.name, refusal.known).strip()
    return f"{near} Else " if near else ""


def _lifetime_text(refusal: Refusal) -> str:
    since, until = lifetime(refusal.name)
    if since is not None and until is not None:
        return f"{refusal.name} exists in PostgreSQL {since} to {until}: "
    if since is not None:
        return f"{refusal.name} exists since PostgreSQL {since}: "
    return "" if until is None else f"{refusal.name} exists up to PostgreSQL {until}: "


def _value_hint(refusal: Refusal) -> str:
    name, value = refusal.name, refusal.value
    own = f"{refusal.hint.rstrip('.')}; " if refusal.hint else ""
    since, option = (
        _versions()[table].get(name, {}).get(value.lower()) for table in ("values", "configure")
    )
    if since is not None and refusal.version < Version.parse(since):
        return f"{own}{value} exists since PostgreSQL {since}: choose later servers"
    if option is not None:
        return (
            f"{own}{value} needs a server that was built {option}: yours, or teiten pg install"
            f" {refusal.version.major} --build --configure {option}"
        )
    if since is not None:
        return f"{own}{value} needs a server that was built with it"
    return f"{own}correct {name} in the study or on the command line"


@cache
def _versions() -> dict[str, dict[str, Any]]:
    return tomllib.loads(VERSIONS.read_text(encoding="utf-8"))
