"""Checked tables to ``model.study.Study``: levels, workloads and settings put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

from teiten.datasets.plan import plan_of as plan_of_data
from teiten.datasets.plan import with_data_kind
from teiten.factors.contract import WrittenStudy
from teiten.factors.registry import rule
from teiten.given_paths import expanded
from teiten.kinds.contract import OF_LASTING, plan_of
from teiten.model.attached import is_address
from teiten.model.build import BuildSpec
from teiten.model.distribution import AttachedCluster, ClusterStatements
from teiten.model.hosts import HERE, Hosts, NodeHost
from teiten.model.nodes import EmulatedNodes
from teiten.model.study import (
    AS_FILLED,
    CLASSIC,
    LAID_OUT,
    SERVER,
    Factor,
    Layout,
    Measure,
    ParameterSet,
    PreferredWay,
    Sequential,
    Setting,
    Study,
    Workload,
)
from teiten.model.text import Bilingual
from teiten.study.document import CATALOGUE, Document
from teiten.study.draft import Draft
from teiten.study.factors import own_levels, study_factors, with_told_levels
from teiten.study.file import StudyFile
from teiten.study.locate import KeyPath, Place
from teiten.study.schema import WorkloadTable
from teiten.study.scripts import read_sql
from teiten.study.tables import (
    DataTable,
    HostsTable,
    LayoutTable,
    MeasureTable,
    NodesTable,
    PreferredTable,
)
from teiten.study.values import AUTO, SIZED_SETTINGS, titled
from teiten.ways.registry import PREFERRED

BY_FLAG = Bilingual("set on the command line", "コマンドラインで指定")
COMMAND_LINE = "command line"
_ONE_OF_THEM = "leave out one of the two"
_USUAL = {key: field.default for key, field in MeasureTable.model_fields.items()}


def build(draft: Draft, document: Document, *, profile: str, overrides: tuple[str, ...]) -> Study:
    """The study of a draft. Raises UsageError or StudyError where its parts contradict."""
    tables = draft.checked()
    factors = study_factors(draft, tables)
    study = tables.study
    workloads = tuple(_workloads(draft, document, tables, factors))
    factors = with_told_levels(draft, factors, workloads, study.contrast)
    written = WrittenStudy(
        error=draft.error,
        contrast=study.contrast,
        factors=tables.factors,
        parameters=tables.parameters,
        fixed_settings={name: change.value for name, change in draft.fixed_settings.items()},
        measure=tables.measure,
        workloads=workloads,
    )
    for factor in (*factors, *_named_by_workloads(tables)):
        rule(factor.name).check_study(written, factor)
    _check_measure(draft, tables.measure, workloads)
    return Study(
        name=study.name,
        title=titled(study.title, study.name),
        question=study.question,
        purpose=study.purpose,
        sources=study.sources,
        profile=profile,
        conclusive=study.conclusive,
        replicates=study.replicates,
        contrast=study.contrast,
        factors=factors,
        workloads=workloads,
        settings=tuple(_settings(draft, document, tables, factors)),
        measure=_measure(draft, tables.measure, judged=study.conclusive and study.replicates),
        server_aliases=tuple((name, alias.server) for name, alias in tables.servers.items()),
        server_levels=tuple(_server_levels(draft, tables, factors)),
        parameters=tuple(
            ParameterSet(name, tuple(tables.parameters[name].items()))
            for factor in factors
            if factor.name == "parameters"
            for name in factor.levels
        ),
        builds=tuple(_builds(draft, document, tables, factors)),
        target_seconds=tables.measure.target,
        differences=study.differences,
        file=None if document.built_in else document.path,
        source_text=document.text,
        hosts=_hosts(draft, tables.hosts),
        storage=tuple(replace(storage, name=name) for name, storage in tables.storage.items()),
        clusters=tuple(_clusters(draft, tables, factors)),
        nodes=_nodes(draft, tables, factors),
        keep_texts=_keep_texts(draft, tables, workloads),
        overrides=overrides,
        on_command_line=tuple(dict.fromkeys(_on_command_line(draft, tables))),
    )


def _on_command_line(draft: Draft, tables: StudyFile) -> Iterator[str]:
    """List the addresses of servers and the names of hosts that flags have set."""
    servers: dict[KeyPath, Sequence[str]] = {
        ("factors", SERVER): tables.factors.get(SERVER, ()),
        **{("servers", name): (alias.server,) for name, alias in tables.servers.items()},
    }
    client = tables.hosts.client
    places: dict[KeyPath, Sequence[str]] = {
        **{path: tuple(filter(is_address, named)) for path, named in servers.items()},
        ("hosts", "db"): tables.hosts.db or (),
        ("hosts", "client"): () if client is None else (client,),
    }
    for path, named in places.items():
        change = draft.origin(path)
        if change is not None and change.by_flag:
            yield from named


def _keep_texts(draft: Draft, tables: StudyFile, workloads: Sequence[Workload]) -> bool:
    reasons = (plan_of(workload.kind).told_texts(workload) for workload in workloads)
    reason = next(filter(None, reasons), None)
    if not tables.study.keep_texts and reason is not None:
        raise draft.error(
            ("study", "keep_texts"), f"the ledger would hold texts: {reason}", "keep them"
        )
    return tables.study.keep_texts


def _hosts(draft: Draft, table: HostsTable) -> Hosts | None:
    named = {key: value for key, value in table.model_dump().items() if value is not None}
    if table.db is None and table.client is None:
        if table != HostsTable():
            raise draft.error(
                ("hosts",),
                "names neither a db nor a client host",
                'add db = "user@host", or client = "user@host", or both (--db-host, --client-host)',
            )
        return None
    db = table.db or (HERE,)
    twice = next((name for name in db if db.count(name) > 1), None)
    if twice is not None:
        raise draft.error(
            ("hosts", "db"), f"names {twice} twice", "name a host of its own for each node"
        )
    of_each = {"name": db, **_of_db_hosts(draft, table, len(db))}
    first, *more = (
        dict(zip(of_each, values, strict=True)) for values in zip(*of_each.values(), strict=True)
    )
    named |= {"db": first.pop("name"), **{f"db_{key}": value for key, value in first.items()}}
    if more:  # the first of them is the entry, and its servers are reached by their socket
        named.setdefault("client", db[0])
    return Hosts(**named, more=tuple(NodeHost(**host) for host in more))


def _of_db_hosts(draft: Draft, table: HostsTable, hosts: int) -> dict[str, tuple[str, ...]]:
    """Collect what is named for each db host; one folder may be meant for all."""
    named = {}
    for key, values in (("address", table.db_address), ("workdir", table.db_workdir)):
        if values is None:
            continue
        of_hosts = values * hosts if len(values) == 1 and key == "workdir" else values
        if len(of_hosts) != hosts:
            raise draft.error(
                ("hosts", f"db_{key}"),
                f"names {len(of_hosts)} for {hosts} db hosts",
                "one for each db host, in their order",
            )
        named[key] = of_hosts
    return named


def _nodes(draft: Draft, tables: StudyFile, factors: Sequence[Factor]) -> EmulatedNodes | None:
    """A server is in one group with a limit of memory, and has one set of processors."""
    table: NodesTable | None = tables.nodes
    if table is None or not table.emulate:
        return None
    varied = {factor.name for factor in factors}
    for key, rival, elsewhere in (
        ("memory", "measure.memory", tables.measure.memory is not None),
        ("memory", "the factor memory", "memory" in varied),
        ("cpus", "the factor cores", "cores" in varied),
    ):
        if elsewhere and getattr(table, key) is not None:
            raise draft.error(
                ("nodes", key), f"is each node's own, but {rival} sets it for all", _ONE_OF_THEM
            )
    return EmulatedNodes(**table.model_dump(exclude={"emulate"}))


def _clusters(
    draft: Draft, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[tuple[str, AttachedCluster]]:
    """Those of servers that are measured; each is the entry to its nodes."""
    servers = next(factor.levels for factor in factors if factor.name == SERVER)
    for name, table in tables.clusters.items():
        alias = tables.servers.get(name)
        if alias is None or not is_address(alias.server):
            raise draft.error(
                ("clusters", name),
                f"there is no server {name} that runs already",
                f"name the entry of the cluster: --servers {name}=postgresql://role@host/postgres,"
                f" or {name} below [servers]",
            )
        if name in servers:
            statements = table.model_dump(exclude={"nodes"})
            yield name, AttachedCluster(table.nodes, ClusterStatements(**statements))


def _named_by_workloads(tables: StudyFile) -> Iterator[Factor]:
    """Factors whose levels aliases of servers have and workloads name, with these levels."""
    levels: dict[str, list[str]] = {}
    for alias in tables.servers.values():
        for factor, level in alias.levels:
            if rule(factor).of_workloads:
                levels.setdefault(factor, []).append(level)
    for factor, named in levels.items():
        yield Factor(factor, tuple(dict.fromkeys(named)))


def _server_levels(
    draft: Draft, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    varied = {factor.name for factor in factors}
    for alias, server in tables.servers.items():
        for factor, _ in server.levels:
            if factor in varied:
                raise draft.error(
                    ("servers", alias, factor),
                    f"fixes {factor} for {alias}, but the study varies it as a factor",
                    _ONE_OF_THEM,
                )
        if server.levels:
            yield alias, server.levels


def _builds(
    draft: Draft, document: Document, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[tuple[str, BuildSpec]]:
    """The builds that a level of the factor server names, or that an alias of one stands for."""
    servers = next(factor.levels for factor in factors if factor.name == SERVER)
    named = {
        tables.servers[server].server if server in tables.servers else server for server in servers
    }
    for name, table in tables.builds.items():
        if name in tables.servers or name[:1].isdecimal():
            raise draft.error(
                ("builds", name),
                f"{name} is also an alias of a server"
                if name in tables.servers
                else f"{name} reads like a version of PostgreSQL",
                "give the build another name",
            )
        if name not in named:
            continue
        source = None
        if table.source is not None:
            path = expanded(table.source)
            source = str(path if path.is_absolute() else document.path.parent / path)
        yield name, BuildSpec(source, table.configure, table.cflags, table.meson)


def _check_measure(draft: Draft, table: MeasureTable, workloads: Sequence[Workload]) -> None:
    """Check that every workload has the keys of ``[measure]`` that are not at their default."""
    for key in (key for key in MeasureTable.model_fields if getattr(table, key) != _USUAL[key]):
        for workload in workloads:
            kind = plan_of(workload.kind)
            if key in OF_LASTING and not kind.lasts:
                raise draft.error(
                    ("measure", key),
                    f"{key} is not for the workload {workload.name}, which {kind.does}",
                    "leave it out, or leave the workload out",
                )


def _workloads(
    draft: Draft, document: Document, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[Workload]:
    by_name: dict[str, tuple[int, WorkloadTable]] = {}
    for index, table in enumerate(tables.workloads):
        if table.name in by_name:
            raise draft.error(
                ("workloads", index, "name"),
                f"there are two workloads {table.name!r}",
                "give each a name of its own",
            )
        by_name[table.name] = (index, table)
    if not draft.selected:
        raise draft.error(
            ("workloads",), "every workload is optional", "select some: --set workloads=NAME"
        )
    for name in draft.selected:
        index, table = by_name[name]
        workload = _workload(draft, document, index, table)
        yield replace(workload, levels=own_levels(table, tables.factors, factors))


def _workload(draft: Draft, document: Document, index: int, table: WorkloadTable) -> Workload:
    # the catalogue's own come last, so that a copy of one of its studies finds them from anywhere
    folders = (document.path.parent, document.path.parent / "sql", CATALOGUE / "sql")
    place = Place(index, folders, lambda path, message, hint, _: draft.error(path, message, hint))
    kind = plan_of(table.kind)
    data = table.data or DataTable.model_validate(with_data_kind({}))
    workload = Workload(
        name=table.name,
        title=titled(table.title, table.name),
        description=table.description,
        kind=table.kind,
        options=kind.options_of(place, table),
        data=plan_of_data(data.kind).data_set(place, table, data),
        layouts=tuple(_layout(place, name, form) for name, form in data.layouts.items()),
        changes_data=table.changes_data,
        preload=table.preload,
    )
    kind.check(place, workload)
    return workload


def _layout(place: Place, name: str, table: LayoutTable) -> Layout:
    scripts = tuple(read_sql(place, ("data", "layouts", name), script) for script in table.scripts)
    visible = table.all_visible
    return Layout(
        name,
        scripts,
        table.size or (LAID_OUT if scripts else AS_FILLED),
        table.needs,
        visible if isinstance(visible, bool) else visible >= 1.0,
        None if isinstance(visible, bool) else visible,
        table.partitions,
        table.indexes,
    )


def _settings(
    draft: Draft, document: Document, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[Setting]:
    varied = {name for factor in factors for name in rule(factor.name).parameters(factor.name)}
    own = "" if document.built_in else document.path.name
    for name, table in tables.settings.items():
        if name in varied:
            continue
        if table.value == AUTO and name not in SIZED_SETTINGS:
            raise draft.error(
                ("settings", name, "value"),
                f"{name} cannot be derived from the machine",
                f"write a value; auto is for {', '.join(SIZED_SETTINGS)}",
            )
        value = None if table.value == AUTO else table.value
        if name in draft.fixed_settings:
            yield Setting(name, value, BY_FLAG, COMMAND_LINE)
        else:
            yield Setting(name, value, table.reason, table.source or own)


def _measure(draft: Draft, table: MeasureTable, *, judged: bool) -> Measure:
    if judged and table.blocks < 2 and not table.until_decided:
        raise draft.error(
            ("measure", "blocks"),
            "one block gives one pair, and one pair gives no interval",
            "use at least 2 blocks, or --profile quick, which is a quick look",
        )
    if table.rounds and table.restart_every > 1:
        raise draft.error(
            ("measure", "rounds"),
            "a round begins with a start of the servers, and restart_every keeps them up",
            "leave one of them out",
        )
    own = {field.name for field in fields(Measure)}
    values = {key: getattr(table, key) for key in MeasureTable.model_fields if key in own}
    values |= {"sequential": _sequential(draft, table), "slices": _slices(draft, table)}
    return Measure(**{**values, "way": table.way or CLASSIC, "preferred": _preferred(draft, table)})


def _slices(draft: Draft, table: MeasureTable) -> int:
    """pgbench counts whole seconds, so that a slice must be some."""
    if table.duration is not None and table.duration % table.slices:
        near = max(1, round(table.duration / table.slices)) * table.slices
        raise draft.error(
            ("measure", "slices"),
            f"{table.slices} slices do not divide the duration of {table.duration:g} s into whole"
            " seconds, as pgbench needs them",
            f"for example a duration of {near}s; it is the time of all slices of a trial together",
        )
    return table.slices


def _preferred(draft: Draft, table: MeasureTable) -> PreferredWay | None:
    """The way that is tried first, unless a flag names one. A flag that fixes the design, or leaves
    it to the decision, does so in any way."""
    flags = _by_flag(draft)
    if table.way is None:
        return PreferredWay(PREFERRED, _sequential(draft, table))
    if table.preferred is None or "way" in flags:
        return None
    if flags & _DESIGN:
        return PreferredWay(table.preferred.way, _sequential(draft, table))
    return PreferredWay(table.preferred.way, _until_decided(table.preferred))


_DESIGN = {"blocks", "until_decided", "budget", "most_blocks"}
"""The keys of ``[measure]`` that say how many blocks there are."""


def _until_decided(table: MeasureTable | PreferredTable) -> Sequential | None:
    if not table.until_decided:
        return None
    return Sequential(budget=table.budget, most_blocks=table.most_blocks)


def _by_flag(draft: Draft) -> set[str]:
    """The keys of ``[measure]`` that flags set."""
    changes = {key: draft.origin(("measure", key)) for key in MeasureTable.model_fields}
    return {key for key, change in changes.items() if change is not None and change.by_flag}


def _sequential(draft: Draft, table: MeasureTable) -> Sequential | None:
    if table.until_decided:
        return _until_decided(table)
    if table.preferred is not None and table.preferred.until_decided and table.budget is not None:
        most = table.blocks if "blocks" in _by_flag(draft) else table.most_blocks
        return Sequential(budget=table.budget, most_blocks=most)
    for key, value in (("budget", table.budget), ("most_blocks", table.most_blocks)):
        if value is not None:
            raise draft.error(
                ("measure", key),
                f"{key} is for campaigns that end with a decision; this one has"
                f" {table.blocks} blocks",
                "add --until-decided (until_decided = true), or use --blocks alone",
            )
    return None
