"""The form of a whole study file: its tables, those of the kinds of workloads among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainValidator, create_model
from pydantic.fields import FieldInfo

from teiten.factors.registry import plain_names
from teiten.kinds.contract import KindPlan, plan_of
from teiten.kinds.registry import names
from teiten.study.schema import (
    OF_NODES,
    ProfileTable,
    Server,
    StudyTable,
    WorkloadChanges,
    WorkloadTable,
    all_levels,
    levels,
)
from teiten.study.tables import (
    BuildTable,
    ChosenForm,
    ClusterTable,
    HostsTable,
    KeyedError,
    MeasureTable,
    Name,
    NodesTable,
    SettingName,
    SettingTable,
    SettingValue,
    Storage,
    TomlTable,
    as_table,
)
from teiten.suggest import did_you_mean


def kind_of(table: Any) -> str:
    """The kind of a workload: the one that it names, or whose key it has.

    Raises ValueError where there is no such kind, or where the keys tell of several or of none.
    """
    if not isinstance(table, Mapping):
        raise ValueError("must be a table")
    named = table.get("kind")
    if named is not None:
        if named not in names():
            near = did_you_mean(str(named), names())
            raise KeyedError(
                "kind", f"there is no kind {named!r}.{near} Known: {', '.join(names())}"
            )
        return str(named)
    tell = {plan_of(kind).told_by: kind for kind in names()}
    kinds = [kind for key, kind in tell.items() if key is not None and table.get(key)]
    if len(kinds) != 1:
        raise _untold([key for key in tell if key is not None], table, several=bool(kinds))
    return kinds[0]


def _untold(keys: Sequence[str], table: Mapping[str, Any], *, several: bool) -> ValueError:
    """Make the error for a workload whose keys tell of several kinds, or of none."""
    if several:
        return ValueError(f"a workload has one of {', '.join(keys)}, not several")
    known = {key for kind in names() for key in plan_of(kind).table.model_fields}
    unknown = next((key for key in table if key not in known), None)
    if unknown is not None:
        near = did_you_mean(unknown, known) or f" Known: {', '.join(sorted(known))}"
        return KeyedError(unknown, f"unknown key.{near}")
    return ValueError(f"a workload has one of {', '.join(keys)}, or names its kind")


def own_keys(kind: str) -> dict[str, FieldInfo]:
    """The keys of a kind that not every workload has."""
    fields = plan_of(kind).table.model_fields
    return {key: field for key, field in fields.items() if key not in WorkloadTable.model_fields}


@cache
def profile_table() -> type[ProfileTable]:
    """Make the class of profiles: sizes, nodes, levels, all of ``[measure]``, the kinds' keys."""
    of_workloads: Any = dict[Name, workload_changes()]  # type: ignore[misc]
    fields = {
        **_optional(MeasureTable.model_fields),
        **{f"{OF_NODES}{key}": field for key, field in _optional(NodesTable.model_fields).items()},
        **{name: (_levels_of(name) | None, None) for name in plain_names()},
        **_of_kinds(lambda kind: kind.changeable),
        "workloads": (of_workloads, {}),
    }
    made: type[ProfileTable] = create_model(ProfileTable.__name__, __base__=ProfileTable, **fields)
    return made


@cache
def workload_changes() -> type[WorkloadChanges]:
    """Make the class of a profile's changes of one workload."""
    made: type[WorkloadChanges] = create_model(
        WorkloadChanges.__name__,
        __base__=WorkloadChanges,
        **_of_kinds(lambda kind: (*kind.changeable, *kind.changeable_of_one)),
    )
    return made


def _of_kinds(keys: Callable[[KindPlan], Iterable[str]]) -> dict[str, Any]:
    return {
        key: field
        for kind in names()
        for key, field in _optional(own_keys(kind)).items()
        if key in keys(plan_of(kind))
    }


def _levels_of(factor: str) -> Any:
    return Annotated[tuple[str, ...], PlainValidator(partial(levels, factor))]


def _optional(fields: Mapping[str, FieldInfo]) -> dict[str, Any]:
    """Copy fields under their keys so that each may be left out."""
    copied: dict[str, Any] = {}
    for key, field in fields.items():
        form: Any = field.annotation
        for constraint in field.metadata:
            form = Annotated[form, constraint]
        copied[key] = (form | None, None)
    return copied


Workload = Annotated[
    WorkloadTable,
    ChosenForm(
        lambda value: plan_of(kind_of(value)).table,
        lambda value: {**value, "kind": kind_of(value)},
    ),
]
Profile = Annotated[ProfileTable, ChosenForm(lambda _value: profile_table())]
Setting = Annotated[SettingTable, BeforeValidator(partial(as_table, "value"))]


class StudyFile(TomlTable):
    """A whole study file."""

    study: StudyTable
    servers: dict[Name, Server] = Field(default_factory=dict)
    builds: dict[Name, BuildTable] = Field(default_factory=dict)
    clusters: dict[Name, ClusterTable] = Field(default_factory=dict)
    factors: Annotated[dict[str, tuple[str, ...]], PlainValidator(all_levels)]
    parameters: dict[Name, dict[SettingName, SettingValue]] = Field(default_factory=dict)
    workloads: Annotated[list[Workload], Field(min_length=1)]
    settings: dict[SettingName, Setting] = Field(default_factory=dict)
    measure: MeasureTable = MeasureTable()
    hosts: HostsTable = HostsTable()
    storage: dict[Name, Storage] = Field(default_factory=dict)
    nodes: NodesTable | None = None
    profiles: dict[Name, Profile] = Field(default_factory=dict)
