"""Plans of data sets before anything runs; each kind's own is in ``datasets/KIND/plan.py``."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from teiten.datasets.registry import dataset, names
from teiten.model.distribution import TablePart
from teiten.model.study import DataOptions, DataSet
from teiten.model.units import GIB, MIB, Bytes, Seconds
from teiten.study.locate import Place
from teiten.study.tables import DataTable, KeyedError, ScaledTable
from teiten.suggest import did_you_mean

CLUSTER_BYTES = 64 * MIB
"""The databases that initdb makes, bench's catalogue, and the WAL that a clean stop leaves."""
LOAD_RATE = 30 * MIB
"""Bytes per second that a script makes, and that are laid out in another way."""
READ_RATE = GIB
"""Bytes per second that a statement reads of tables in memory."""


class DataPlan(ABC):
    """A kind of data set; its file ``plan`` holds one as ``PLAN``.

    The rates are assumptions on the careful side for one SSD of a small server; they size a
    campaign and fill its forecast, and enter no result.
    """

    table: ClassVar[type[DataTable]]
    """The keys of ``[workloads.data]``."""
    options: ClassVar[type[DataOptions]]
    """The class of what is the kind's own."""
    told_by: ClassVar[str | None] = None
    """The key that tells the kind of tables that name none; the name of a file."""
    usual: ClassVar[bool] = False
    """Whether tables are of this kind of which nothing is said."""
    keys_are_for: ClassVar[str] = ""
    """Words for what its own keys are for, where another kind is given one: ``tables that a script
    makes``."""
    scales: ClassVar[tuple[float, ...]] = (1,)
    """Coarse steps of scales that a machine's size decides, so that templates are used again."""

    @abstractmethod
    def data_set(self, place: Place, workload: ScaledTable, data: DataTable) -> DataSet:
        """The tables as they are filled. Raises what ``place.error`` makes."""

    def at_scale(self, data: DataSet, scale: float) -> DataSet:
        """The data set at a scale of its own kind that is about this one."""
        return replace(data, scale=max(1, int(scale)))

    def for_memory(self, data: DataSet, memory: Bytes) -> DataSet:
        """The data set where its size is a share of the memory in force."""
        return data

    def shares(self, data: DataSet) -> Mapping[str, float]:
        """Its tables as shares of that memory, by name; empty of others."""
        return {}

    def of_tables(self, data: DataSet, names: Collection[str]) -> DataSet:
        """The data set with these of its tables alone, where it has such by name."""
        return data

    spreads: ClassVar[bool] = False
    """Whether the tables can be spread over several servers."""

    def part_of(self, data: DataSet, part: TablePart) -> DataSet:
        """Take the part of spread tables that one server holds; only where ``spreads``."""
        raise NotImplementedError

    @abstractmethod
    def filled_bytes(self, data: DataSet) -> Bytes:
        """The tables and indexes of a data set whose scale is known, before they are laid out."""

    rate: ClassVar[int] = LOAD_RATE
    """Bytes per second of filling, by one stream."""

    def fill_seconds(self, data: DataSet) -> Seconds:
        """Estimate the seconds of filling, with indexes and what makes its pages visible."""
        return Seconds(self.filled_bytes(data) / self.rate)

    @abstractmethod
    def made_by(self, data: DataSet) -> str:
        """Who makes the tables: ``pgbench -i``."""

    def identity(self, data: DataSet) -> dict[str, Any]:
        """Identify the tables among those of other kinds or options, as JSON; a template of other
        tables is another template. What stands there already stays as it is: the templates on
        users' disks are named by it."""
        return {"kind": data.kind}

    def rows_of(self, data: DataSet) -> str:
        """Identify the rows as the same in another campaign, whatever their scale."""
        return data.kind

    def require(self) -> None:
        """Raise MachineError where what fills them is not on this machine."""

    def described(self, data: DataSet) -> str:
        """In a few words, by whom the tables are made and what they are."""
        return str(data)

    def name_of(self, data: DataSet) -> str:
        """Name the tables; empty where the study's keys say it all."""
        return self.made_by(data)

    tells: ClassVar[tuple[str, ...]] = ("scale",)
    """Which of ``scale`` and of what its options tell say something of them beside the name."""


def plan_of(kind: str) -> DataPlan:
    """Load the plan of a kind of data set. Raises KeyError for an unknown one."""
    plan = dataset(str(kind), "plan").PLAN
    assert isinstance(plan, DataPlan), f"datasets/{kind}/plan.py holds no DataPlan"
    return plan


def own_keys(kind: str) -> tuple[str, ...]:
    """The keys of ``[workloads.data]`` that not every kind of data has."""
    return tuple(
        key for key in plan_of(kind).table.model_fields if key not in DataTable.model_fields
    )


def kind_of(table: Mapping[str, Any]) -> str:
    """The kind of tables: the one that is named, or whose key is there, or the usual one.

    Raises ValueError where there is no such kind.
    """
    named = table.get("kind")
    if named:
        if named not in names():
            near = did_you_mean(str(named), names())
            raise KeyedError("kind", f"must be one of {', '.join(names())}, not {named!r}.{near}")
        return str(named)
    by_key = (name for name in names() if (key := plan_of(name).told_by) and table.get(key))
    return next(by_key, None) or next(name for name in names() if plan_of(name).usual)


def data_form(table: Any) -> type[DataTable]:
    """The form of ``[workloads.data]``. Raises ValueError where it has none, or a key of another
    kind of data."""
    if not isinstance(table, Mapping):
        raise ValueError("must be a table")
    kind = kind_of(table)
    for another in (name for name in names() if name != kind):
        for key in own_keys(another):
            if key in table and key not in plan_of(kind).table.model_fields:
                meant = plan_of(another).keys_are_for
                raise KeyedError(key, f"{key} is for {meant}; these are of the kind {kind}")
    return plan_of(kind).table


def with_data_kind(table: Any) -> Any:
    return {**table, "kind": kind_of(table)}


def data_bytes(data: DataSet) -> Bytes:
    """The tables and indexes of a data set whose scale is known, in its layout."""
    grown = 1.0 if data.layout is None else data.layout.size
    grown *= 1.0 if data.state is None else data.state.size
    return Bytes(math.ceil(plan_of(data.kind).filled_bytes(data) * grown))


def query_seconds(data: DataSet) -> Seconds:
    """One execution of a statement that reads most of a data set; nobody knows before."""
    return Seconds(data_bytes(data) / READ_RATE)


def template_bytes(data: DataSet) -> Bytes:
    """A template's folder with this data set."""
    return Bytes(data_bytes(data) + CLUSTER_BYTES)


def is_laid_out(data: DataSet) -> bool:
    """Whether something is done to the tables after they were filled."""
    in_state = data.state is not None and bool(data.state.recipe)
    return in_state or (data.layout is not None and bool(data.layout.scripts))


def build_seconds(data: DataSet) -> Seconds:
    """A template: initdb, start, what fills it, layout, clean stop."""
    plan = plan_of(data.kind)
    laid_out = plan.filled_bytes(data) / LOAD_RATE if is_laid_out(data) else 0.0
    return Seconds(3.0 + plan.fill_seconds(data) + laid_out)


def made_by(data: DataSet) -> str:
    """Who makes the tables, and lays them out."""
    made = plan_of(data.kind).made_by(data)
    scripts = [script.name for script in data.layout.scripts] if data.layout is not None else []
    return f"{made}, then {', '.join(scripts)}," if scripts else made


def described(data: DataSet) -> str:
    """In a few words, by whom the tables are made and what they are."""
    return plan_of(data.kind).described(data)


def rows_of(data: DataSet) -> str:
    """Identify the rows as the same in another campaign, whatever their scale."""
    return plan_of(data.kind).rows_of(data)
