"""Checked tables to ``model.study.Study``: levels, workloads and settings put together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from teiten.given_paths import expanded
from teiten.model.build import BuildSpec
from teiten.model.hosts import Hosts
from teiten.model.study import (
    GUC_PREFIX,
    DataKind,
    Factor,
    Measure,
    Script,
    Sequential,
    Setting,
    Study,
    Workload,
    WorkloadKind,
)
from teiten.model.text import Bilingual
from teiten.study.data import data_set, layouts
from teiten.study.document import CATALOGUE, Document
from teiten.study.draft import Draft
from teiten.study.levels import SIZED_SETTINGS
from teiten.study.queries import read_queries
from teiten.study.schema import HostsTable, MeasureTable, SettingTable, StudyFile, WorkloadTable
from teiten.study.scripts import read_script
from teiten.study.values import AUTO
from teiten.study.variation import (
    check_layouts,
    own_levels,
    parameter_sets,
    query_groups,
    with_own_levels,
)
from teiten.suggest import did_you_mean

BY_FLAG = Bilingual("set on the command line", "コマンドラインで指定")
COMMAND_LINE = "command line"
_ONE_OF_THEM = "leave out one of the two"


def build(draft: Draft, document: Document, *, profile: str, overrides: tuple[str, ...]) -> Study:
    """The study of a draft. Raises UsageError or StudyError where its parts contradict."""
    tables = draft.checked()
    factors = _factors(draft, tables)
    study = tables.study
    workloads = tuple(_workloads(draft, document, tables, factors))
    factors = _named_queries(draft, factors, workloads)
    check_layouts(draft, study.contrast, factors, workloads)
    _check_queries(draft, tables.measure, workloads)
    return Study(
        name=study.name,
        title=study.title,
        question=study.question,
        purpose=study.purpose,
        sources=study.sources,
        profile=profile,
        conclusive=study.conclusive,
        contrast=study.contrast,
        factors=factors,
        workloads=workloads,
        settings=tuple(_settings(draft, document, tables, factors)),
        measure=_measure(draft, tables.measure, conclusive=study.conclusive),
        server_aliases=tuple((name, one.server) for name, one in tables.servers.items()),
        server_levels=tuple(_server_levels(draft, tables, factors)),
        parameters=parameter_sets(draft, tables, factors),
        builds=tuple(_builds(draft, document, tables, factors)),
        target_seconds=tables.measure.target,
        differences=study.differences,
        file=None if document.built_in else document.path,
        source_text=document.text,
        hosts=_hosts(draft, tables.hosts),
        overrides=overrides,
    )


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
    return Hosts(**named)


def _factors(draft: Draft, tables: StudyFile) -> tuple[Factor, ...]:
    levels = dict(tables.factors)
    if "server" not in levels:
        raise draft.error(
            ("factors",), "names no server", 'add for example server = ["17", "18"], or --servers'
        )
    levels = _with_queries(levels, tables, draft)
    if "clients" not in levels and _has_load(tables, draft):
        raise draft.error(
            ("factors",), "has no clients", 'add for example clients = [1, 4, 16], or "auto"'
        )
    if levels.get("clients"):
        levels["clients"] = _all_clients(levels["clients"], tables, draft)
    levels = with_own_levels(draft, tables, levels)
    _check_contrast(draft, tables.study.contrast, levels)
    _check_fixed_settings(draft, levels)
    return tuple(Factor(name, found) for name, found in levels.items())


def _has_load(tables: StudyFile, draft: Draft) -> bool:
    return any(not table.queries for table in tables.workloads if table.name in draft.selected)


def _with_queries(
    levels: Mapping[str, tuple[str, ...]], tables: StudyFile, draft: Draft
) -> dict[str, tuple[str, ...]]:
    """The factor query is made of the names of the queries; whoever names some selects them."""
    has_queries = any(table.queries for table in tables.workloads if table.name in draft.selected)
    if has_queries:
        return {**levels, "query": levels.get("query", ())}
    if "query" in levels:
        raise draft.error(("factors", "query"), "needs a workload of queries", "give --queries DIR")
    return dict(levels)


def _all_clients(base: tuple[str, ...], tables: StudyFile, draft: Draft) -> tuple[str, ...]:
    """The factor's levels with those that only one workload has, in rising order."""
    own = [table.clients for table in tables.workloads if table.name in draft.selected]
    found = {level for levels in (base, *own) for level in levels}
    return base if found == set(base) else tuple(sorted(found, key=int))


def _check_contrast(draft: Draft, contrast: str, levels: Mapping[str, tuple[str, ...]]) -> None:
    if contrast not in levels:
        raise draft.error(
            ("study", "contrast"),
            f"{contrast!r} is not a factor of this study.{did_you_mean(contrast, levels)}",
            f"its factors are {', '.join(levels)}; add levels with --set {contrast}=A,B",
        )
    if contrast == "cores" and not levels[contrast]:
        return  # auto: the machine has two levels or more, or sizing refuses
    if len(levels[contrast]) < 2:
        found = ", ".join(levels[contrast]) or AUTO
        flag = "--servers 17,18" if contrast == "server" else f"--set {contrast}=A,B"
        raise draft.error(
            ("factors", contrast),
            f"{contrast} is contrasted and needs at least two levels, the old one first; it has"
            f" {found}",
            f"give both, for example {flag}",
        )


def _check_fixed_settings(draft: Draft, levels: Mapping[str, tuple[str, ...]]) -> None:
    for name, change in draft.fixed_settings.items():
        varied = levels.get(GUC_PREFIX + name)
        if varied is not None:
            raise draft.error(
                ("settings", name, "value"),
                f"fixes {name} to {change.value}, but the factor {GUC_PREFIX}{name} varies it"
                f" ({', '.join(varied)})",
                _ONE_OF_THEM,
            )


def _server_levels(
    draft: Draft, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    varied = {factor.name for factor in factors}
    for alias, one in tables.servers.items():
        for factor, _ in one.levels:
            if factor in varied:
                raise draft.error(
                    ("servers", alias, factor),
                    f"fixes {factor} for {alias}, but the study varies it as a factor",
                    _ONE_OF_THEM,
                )
        if one.levels:
            yield alias, one.levels


def _builds(
    draft: Draft, document: Document, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[tuple[str, BuildSpec]]:
    """The builds that a level of the factor server names, or that an alias of one stands for."""
    servers = next(factor.levels for factor in factors if factor.name == "server")
    named = {tables.servers[one].server if one in tables.servers else one for one in servers}
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


def _named_queries(
    draft: Draft, factors: Sequence[Factor], workloads: Sequence[Workload]
) -> tuple[Factor, ...]:
    """The factors with the names of all queries, or of those that were selected."""
    names = tuple(dict.fromkeys(each.name for one in workloads for each in one.queries))
    for factor in factors:
        for level in factor.levels if factor.name == "query" else ():
            if level not in names:
                raise draft.error(
                    ("factors", "query"),
                    f"there is no query {level!r}.{did_you_mean(level, names)}",
                    f"there are {', '.join(names)}",
                )
    return tuple(
        Factor("query", factor.levels or names) if factor.name == "query" else factor
        for factor in factors
    )


def _check_queries(draft: Draft, table: MeasureTable, workloads: Sequence[Workload]) -> None:
    """A query is timed alone, on one server at a time, and by Teiten itself."""
    named = [one.name for one in workloads if one.kind is WorkloadKind.QUERIES]
    asked = {
        "slices": table.slices > 1,
        "restart_every": table.restart_every > 1,
        "flame_graph": table.flame_graph,
    }
    for key in (key for key, found in asked.items() if found and named):
        raise draft.error(
            ("measure", key),
            f"{key} is for loads of pgbench, and the workload {named[0]} times queries one by one",
            "leave it out, or leave the workload out",
        )


def _base_clients(tables: StudyFile, factors: Sequence[Factor]) -> tuple[str, ...]:
    """The levels of a workload without its own: none named where they are all of the factor's."""
    base = tables.factors.get("clients", ())
    found = next((factor.levels for factor in factors if factor.name == "clients"), ())
    return () if base == found else base


def _workloads(
    draft: Draft, document: Document, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[Workload]:
    seen: set[str] = set()
    by_name: dict[str, tuple[int, WorkloadTable]] = {}
    for index, table in enumerate(tables.workloads):
        if table.name in seen:
            raise draft.error(
                ("workloads", index, "name"),
                f"there are two workloads {table.name!r}",
                "give each a name of its own",
            )
        seen.add(table.name)
        by_name[table.name] = (index, table)
    if not draft.selected:
        raise draft.error(
            ("workloads",), "every workload is optional", "select some: --set workloads=NAME"
        )
    for name in draft.selected:
        index, table = by_name[name]
        workload = _workload(draft, document, index, table)
        yield replace(
            workload,
            clients=workload.clients or _base_clients(tables, factors),
            levels=own_levels(table, tables.factors, factors),
        )


def _workload(draft: Draft, document: Document, index: int, table: WorkloadTable) -> Workload:
    # the catalogue's own come last, so that a copy of one of its studies finds them from anywhere
    folders = (document.path.parent, document.path.parent / "sql", CATALOGUE / "sql")
    if bool(table.script) == bool(table.queries):
        raise draft.error(
            ("workloads", index),
            "a workload has either a script or queries",
            'write script = "…" for a load of pgbench, queries = "folder" for timed statements',
        )
    if table.queries:
        return _of_queries(draft, folders, index, table)
    data = data_set(draft, folders, index, table)
    if data.kind is not DataKind.PGBENCH:
        raise draft.error(
            ("workloads", index, "data"),
            "a load of pgbench runs on pgbench's tables",
            "leave data out, or make it a workload of queries",
        )
    try:
        script = read_script(table.script, workload=table.name, folders=folders)
    except ValueError as error:
        raise draft.error(
            ("workloads", index, "script"),
            str(error),
            "name a file beside the study, one of pgbench's own scripts, or write it as a text"
            " of several lines",
        ) from error
    return Workload(
        name=table.name,
        title=table.title,
        description=table.description,
        script=script,
        data=data,
        layouts=layouts(draft, folders, index, table),
        changes_data=table.changes_data,
        preload=table.preload,
        query_mode=table.query_mode,
        invariants=table.invariants,
        pgbench_options=table.pgbench_options,
        clients=table.clients,
    )


def _of_queries(
    draft: Draft, folders: Sequence[Path], index: int, table: WorkloadTable
) -> Workload:
    try:
        queries = read_queries(table.queries, folders)
    except ValueError as error:
        raise draft.error(
            ("workloads", index, "queries"), str(error), "name a folder of files *.sql"
        ) from error
    return Workload(
        name=table.name,
        title=table.title,
        description=table.description,
        script=Script(name=Path(table.queries).name, builtin=False, text=""),
        data=data_set(draft, folders, index, table),
        layouts=layouts(draft, folders, index, table),
        changes_data=table.changes_data,
        preload=table.preload,
        kind=WorkloadKind.QUERIES,
        queries=queries,
        groups=tuple(query_groups(draft, index, table, [one.name for one in queries])),
        runs=table.runs,
        timeout=table.timeout,
        check_answers=table.check_answers,
    )


def _settings(
    draft: Draft, document: Document, tables: StudyFile, factors: Sequence[Factor]
) -> Iterator[Setting]:
    varied = {factor.name for factor in factors}
    for name, table in tables.settings.items():
        if GUC_PREFIX + name not in varied:
            yield _setting(draft, document, name, table)


def _setting(draft: Draft, document: Document, name: str, table: SettingTable) -> Setting:
    value: str | None = table.value
    if value == AUTO:
        if name not in SIZED_SETTINGS:
            raise draft.error(
                ("settings", name, "value"),
                f"{name} cannot be derived from the machine",
                f"write a value; auto is for {', '.join(SIZED_SETTINGS)}",
            )
        value = None
    if name in draft.fixed_settings:
        return Setting(name, value, BY_FLAG, COMMAND_LINE)
    own = "" if document.built_in else document.path.name
    return Setting(name, value, table.reason, table.source or own)


def _measure(draft: Draft, table: MeasureTable, *, conclusive: bool) -> Measure:
    if conclusive and table.blocks < 2 and not table.until_decided:
        raise draft.error(
            ("measure", "blocks"),
            "one block gives one pair, and one pair gives no interval",
            "use at least 2 blocks, or --profile quick, which claims no conclusion",
        )
    return Measure(
        duration=table.duration,
        warmup=table.warmup,
        settle=table.settle,
        blocks=table.blocks,
        caches=table.caches,
        prewarm=table.prewarm,
        delta=table.delta,
        alpha=table.alpha,
        disturbed_share=table.disturbed_share,
        repeats=table.repeats,
        sequential=_sequential(draft, table),
        slices=_slices(draft, table),
        restart_every=table.restart_every,
        flame_graph=table.flame_graph,
        flame_graph_window=table.flame_graph_window,
    )


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


def _sequential(draft: Draft, table: MeasureTable) -> Sequential | None:
    if table.until_decided:
        return Sequential(budget=table.budget, most_blocks=table.most_blocks)
    for key, value in (("budget", table.budget), ("most_blocks", table.most_blocks)):
        if value is not None:
            raise draft.error(
                ("measure", key),
                f"{key} is for campaigns that end with a decision; this one has"
                f" {table.blocks} blocks",
                "add --until-decided (until_decided = true), or use --blocks alone",
            )
    return None
