"""Facts of a study's variants for the evidence: processors, checksums, memory, storage classes,
emulated nodes, and states of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from teiten.model.memory import SHARED_BUFFERS, checked_limits, shares_of
from teiten.model.metrics import STATE_OF_TABLES
from teiten.model.plan import PlannedTrial
from teiten.model.quantities import parse_size
from teiten.model.storage import StorageClass
from teiten.report.effects import percent
from teiten.report.names import CORES
from teiten.report.numbers import bytes_text, fixed, significant
from teiten.report.tables import Column, Row, Table, TableCell, cells, headings
from teiten.report.view.kit import Kit

CHECKSUMS = "checksums"
Rows = Iterator[tuple[str, str]]


def variant_rows(kit: Kit) -> Rows:
    """Rows of the environment's table; none where the study varies nothing of this kind."""
    yield from _pinning(kit)
    yield from _checksums(kit)
    yield from _memory(kit)
    yield from node_rows(kit)
    shares = [  # of memory, given as shared_buffers
        f"{share} = {kit.t.listed(bytes_text(parse_size(value)) for value in values)}"
        for share, values in shares_of(kit.analysis.plan).items()
    ]
    if shares:
        yield SHARED_BUFFERS, kit.t("list.strong").join(shares)
    for directory in kit.analysis.facts.directories:
        disk = directory.disk
        names = ("file_system", "device", "kind", "mount_point")
        values = {name: getattr(disk, name) for name in names}
        values |= {"path": directory.path, "free": bytes_text(disk.free)}
        yield kit.t("fact.directory"), kit.t("fact.directory.text", **values)


def _pinning(kit: Kit) -> Rows:
    """The processors of each number of cores, as /proc told them in the trials."""
    t = kit.t
    pinned = [trial.facts["pinned"] for trial in kit.analysis.trials if "pinned" in trial.facts]
    processors = {
        (tuple(cpus["server"]), tuple(cpus["pgbench"]))
        for cpus in pinned
        if {"server", "pgbench"} <= cpus.keys()
    }
    parts = [
        t(
            "fact.pinning.text",
            cores=kit.names.context(((CORES, str(len(server))),)),
            server=_listed(server),
            client=_listed(client),
        )
        for server, client in sorted(processors, key=lambda pair: (len(pair[0]), pair))
    ]
    if parts:
        yield t("fact.pinning"), t("list.strong").join([*parts, t("fact.pinning.note")])


def _checksums(kit: Kit) -> Rows:
    t = kit.t
    if kit.study.factor(CHECKSUMS) is None:
        return
    counts = Counter(
        (dict(trial.levels)[CHECKSUMS], str(trial.facts["data_checksums"]))
        for trial in kit.analysis.trials
        if CHECKSUMS in dict(trial.levels) and "data_checksums" in trial.facts
    )
    parts = [
        t("fact.checksums.text", asked=asked, said=answer, count=count)
        for (asked, answer), count in sorted(counts.items())
    ]
    if parts:
        yield t("fact.checksums"), t("list.strong").join(parts)


def _memory(kit: Kit) -> Rows:
    """Each limit, what reading a larger file inside of it came to, and the most that was used."""
    t = kit.t
    checked = checked_limits(kit.analysis.events)
    limits = {trial.number: trial.memory_limit for trial in kit.analysis.plan.trials}
    for limit in sorted({limit for limit in limits.values() if limit is not None}):
        parts = [t("fact.memory-limit.text", limit=bytes_text(limit))]
        check = checked.get(limit)
        if check is not None:
            sizes = {key: bytes_text(check[key]) for key in ("read", "stayed")}
            parts.append(t("fact.memory-limit.checked", version=check["cgroup"], **sizes))
        peaks = [  # as the kernel counted
            trial.facts["memory"]["peak"]
            for trial in kit.analysis.trials
            if limits.get(trial.number) == limit and "peak" in trial.facts.get("memory", {})
        ]
        if peaks:
            parts.append(t("fact.memory-limit.peak", peak=bytes_text(max(peaks))))
        yield t("fact.memory-limit"), t("list.strong").join(parts)


def _listed(cpus: Iterable[int]) -> str:
    """Numbers as the kernel lists them: ``0-3,8``."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][-1] == cpu - 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


COUNTED = "oldest_transaction_age"
"""A number of transactions; the others are shares."""


def states_table(kit: Kit) -> Table | None:
    """Medians over the counted trials, by state and side; None where no state was made."""
    states = {trial.number: trial.template.data.state for trial in kit.analysis.plan.trials}
    by_state: dict[tuple[str, str], list[dict[str, float]]] = {}
    for trial in kit.analysis.trials:
        state = states.get(trial.number)
        if state is not None and trial.counts:
            state_name = kit.names.context(((state.factor, state.level),))
            key = (state_name, kit.short(kit.side_of(trial)))
            by_state.setdefault(key, []).append(dict(trial.metrics))
    if not by_state:
        return None
    t = kit.t
    columns = (
        *headings(t, "table.states.state"),
        Column(kit.names.factor(kit.study.contrast)),
        *headings(t, *(f"metric.{metric.name}" for metric in STATE_OF_TABLES), numeric=True),
    )
    rows: tuple[Row, ...] = tuple(
        (
            *cells(state_name, side),
            *(_number(kit, metric.name, trials) for metric in STATE_OF_TABLES),
        )
        for (state_name, side), trials in sorted(by_state.items())
    )
    return Table("states", t("table.states.caption"), columns, rows, note=t("table.states.note"))


def _number(kit: Kit, name: str, trials: list[dict[str, float]]) -> TableCell:
    """Empty where it was not counted."""
    values = [metrics[name] for metrics in trials if name in metrics]
    if not values:
        return TableCell("")
    middle = median(values)
    return TableCell(fixed(middle, 0) if name == COUNTED else percent(kit.t, middle, 1), middle)


CHECKED = "nodes-emulated"
"""The event of emulated nodes that were seen to hold."""


def emulates_nodes(kit: Kit) -> bool:
    return any(trial.machines for trial in kit.analysis.plan.trials)


def machine_of_node(kit: Kit) -> tuple[str, ...]:
    """List what each node has for itself where nodes are emulated; empty elsewhere."""
    machine = next(
        (trial.machines[0] for trial in kit.analysis.plan.trials if trial.machines), None
    )
    if machine is None:
        return ()
    limits = (
        ("memory", machine.memory and bytes_text(machine.memory)),
        ("read", machine.read and f"{bytes_text(machine.read)}/s"),
        ("write", machine.write and f"{bytes_text(machine.write)}/s"),
    )
    return tuple(kit.t(f"topology.node-{name}", value=value) for name, value in limits if value)


def node_rows(kit: Kit) -> Rows:
    """A row of the environment's table; none where nodes are plain servers."""
    trials = [trial for trial in kit.analysis.plan.trials if trial.machines]
    if trials:
        most = max(trials, key=lambda trial: len(trial.machines))
        parts = [kit.t("nodes.each"), *_had(kit, most), *_checked(kit), *_peak(kit)]
        yield kit.t("nodes.emulated"), kit.t("list.strong").join(parts)


def _had(kit: Kit, trial: PlannedTrial) -> Iterator[str]:
    t, first = kit.t, trial.machines[0]
    if first.memory is not None:
        yield t("nodes.memory", memory=bytes_text(first.memory))
    if first.read is not None:
        yield t("nodes.read", rate=bytes_text(first.read))
    if first.write is not None:
        yield t("nodes.write", rate=bytes_text(first.write))
    sets = dict.fromkeys(
        t.listed(map(str, machine.cpus)) for machine in trial.machines if machine.cpus
    )
    if sets:
        yield t("nodes.cpus", cpus=" / ".join(sets))


def _checked(kit: Kit) -> Iterator[str]:
    """Tell what was seen of the emulated nodes before the first trial."""
    details = [event.detail for event in kit.analysis.events if event.kind == CHECKED]
    for detail in details[-1:]:
        if detail.get("addresses"):
            yield kit.t("nodes.addresses", addresses=kit.t.listed(detail["addresses"]))
        if detail.get("counted") is not None:
            sizes = {name: bytes_text(detail[name]) for name in ("read", "counted")}
            yield kit.t("nodes.checked.read", version=detail["cgroup"], **sizes)


def _peak(kit: Kit) -> Iterator[str]:
    """The most memory that any node used in any trial, as the kernel counted."""
    planned = {trial.number for trial in kit.analysis.plan.trials if trial.machines}
    peaks = [
        node["memory"]["peak"]
        for trial in kit.analysis.trials
        if trial.number in planned
        for node in trial.facts.get("nodes", {"1": trial.facts}).values()
        if "peak" in node.get("memory", {})
    ]
    if peaks:
        yield kit.t("nodes.peak", peak=bytes_text(max(peaks)))


MEASURED = "storage"
"""The event of storages that were measured."""
RATES = ("sequential_read", "sequential_write")
COUNTS = ("random_reads", "random_writes", "fsyncs")


def emulated(kit: Kit) -> tuple[str, ...]:
    """The names of the storage classes that are no devices of this machine."""
    return tuple(known.name for known in kit.study.storage if known.emulation is not None)


def storage_name(kit: Kit, name: str) -> str:
    """``slow``, ``slow (emulated)``"""
    return kit.t("storage.emulated", name=name) if name in emulated(kit) else name


def storage_tables(kit: Kit) -> Iterator[Table]:
    """One table of all storage classes; none where they were not measured."""
    t = kit.t
    events = [event for event in kit.analysis.events if event.kind == MEASURED]
    # the last time: a campaign that was resumed has measured them again
    speeds: Mapping[str, Any] = events[-1].detail.get("storages", {}) if events else {}
    known = [storage_class for storage_class in kit.study.storage if storage_class.name in speeds]
    if not known:
        return
    columns = (
        *headings(t, "storage.column.name", "storage.column.device"),
        *headings(t, *(f"storage.column.{key}" for key in (*RATES, *COUNTS)), numeric=True),
    )
    rows = tuple(_row(kit, storage, speeds[storage.name]) for storage in known)
    tools = t("list.separator").join(dict.fromkeys(str(speed["tool"]) for speed in speeds.values()))
    yield Table(
        "storage-speeds", t("storage.caption"), columns, rows, note=t("storage.note", tools=tools)
    )


def _row(kit: Kit, storage: StorageClass, measured: Mapping[str, Any]) -> Row:
    device = kit.t(
        "storage.device",
        folder=storage.path or measured["folder"],
        device=kit.t.listed(measured["devices"]) or measured["device"],
        file_system=measured["file_system"],
        kind=measured["kind"],
    )
    return (
        *cells(storage_name(kit, storage.name)),
        TableCell(_limits(kit, storage) or device),
        *(TableCell(f"{bytes_text(measured[key])}/s", measured[key]) for key in RATES),
        *(TableCell(significant(measured[key]), measured[key]) for key in COUNTS),
    )


def _limits(kit: Kit, storage: StorageClass) -> str:
    """Tell the size and the limits of an emulated device; empty for any other."""
    emulation = storage.emulation
    if emulation is None:
        return ""
    t = kit.t
    limits = [
        t(f"storage.limit.{name}", value=f"{bytes_text(value)}/s" if "band" in name else
          significant(value))
        for name, value in emulation.limits
    ]  # fmt: skip
    text = t("list.separator").join(limits) or t("storage.limit.none")
    return t("storage.device.emulated", size=bytes_text(emulation.size), limits=text)
