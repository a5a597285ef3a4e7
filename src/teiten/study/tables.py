"""The tables of a study file that need no kind, factor or data set to be known.

Each refuses unknown keys and converts nothing silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from teiten.model.hosts import DEFAULT_PYTHON
from teiten.model.ssb import SsbVariant
from teiten.model.storage import StorageClass
from teiten.model.study import CLASSIC, FLAME_GRAPH_WINDOW, CachePolicy, QueryMode
from teiten.model.text import Bilingual
from teiten.model.units import Bytes, Seconds, Share
from teiten.study import values


class KeyedError(ValueError):
    """An error in one entry of a table that is read as a whole."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class ChosenForm:
    """A table that is read in the form that is chosen for it."""

    choose: Callable[[Any], type[BaseModel]]
    """Its form. Raises ValueError where there is none."""
    complete: Callable[[Any], Any] = lambda value: value
    """The value with what its form adds."""

    def read(self, value: Any) -> BaseModel:
        return self.choose(value).model_validate(self.complete(value))

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)


Name = Annotated[str, PlainValidator(values.name)]
Text = Annotated[Bilingual, PlainValidator(values.text)]
Texts = Annotated[tuple[Bilingual, ...], PlainValidator(values.texts)]
Words = Annotated[tuple[str, ...], PlainValidator(values.words)]
Scale = Annotated[int | float | None, PlainValidator(values.scale)]
Size = Annotated[Bytes | None, PlainValidator(values.size)]
Memory = Annotated[Bytes | None, PlainValidator(values.memory)]
Rate = Annotated[Bytes | None, PlainValidator(values.rate)]
Fillfactor = Annotated[int, PlainValidator(partial(values.whole, least=10, most=100))]
Mode = Annotated[QueryMode, PlainValidator(partial(values.member, QueryMode))]
Preload = Annotated[tuple[str, ...], PlainValidator(values.libraries)]
Options = Annotated[tuple[str, ...], PlainValidator(values.options)]
Measured = Annotated[Seconds | None, PlainValidator(partial(values.whole_seconds, least=1))]
WarmUp = Annotated[Seconds | None, PlainValidator(values.whole_seconds)]
Window = Annotated[Seconds, PlainValidator(values.window)]
Time = Annotated[Seconds, PlainValidator(values.duration)]
Target = Annotated[Seconds, PlainValidator(values.target)]
Budget = Annotated[Seconds, PlainValidator(values.budget)]
Caches = Annotated[CachePolicy, PlainValidator(partial(values.member, CachePolicy))]
Delta = Annotated[Share, PlainValidator(values.delta)]
Alpha = Annotated[Share, PlainValidator(values.alpha)]
DisturbedShare = Annotated[Share | None, PlainValidator(values.disturbed_share)]
Count = Annotated[int, Field(ge=1, le=10_000)]
WayOfPairs = Annotated[str | None, PlainValidator(values.way)]
Preferred = Annotated[str, PlainValidator(values.preferred_way)]
Slices = Annotated[int, Field(ge=1, le=100)]
Repeats = Annotated[int, Field(ge=0, le=10)]
Storage = Annotated[StorageClass, PlainValidator(values.storage)]
NodeAddresses = Annotated[tuple[str, ...], PlainValidator(values.node_addresses)]
Statements = Annotated[str, PlainValidator(values.statements)]
HostName = Annotated[str, PlainValidator(values.host_name)]
HostFolder = Annotated[str, PlainValidator(values.host_folder)]
HostNames = Annotated[tuple[str, ...], PlainValidator(partial(values.listed, values.host_name))]
HostFolders = Annotated[tuple[str, ...], PlainValidator(partial(values.listed, values.host_folder))]
"""One for each db host."""
SettingName = Annotated[str, PlainValidator(values.setting_name)]
SettingValue = Annotated[str, PlainValidator(values.setting_value)]
Variant = Annotated[SsbVariant, PlainValidator(partial(values.member, SsbVariant))]
Rows = Annotated[int, PlainValidator(values.rows)]
Growth = Annotated[Share | None, PlainValidator(values.growth)]
Visible = Annotated[bool | Share, PlainValidator(values.visible)]
Major = Annotated[int | None, PlainValidator(values.major)]


class TomlTable(BaseModel):
    """A table of the study file: unknown keys are refused, nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def as_table(key: str, value: Any) -> Any:
    """A table may be written as the bare value of one of its keys."""
    return value if isinstance(value, dict) else {key: value}


class LayoutTable(TomlTable):
    """A layout: what is done to the tables after they were filled."""

    scripts: Words = ()
    size: Growth = None
    needs: Major = None
    all_visible: Visible = True
    partitions: Annotated[int, Field(ge=1)] | None = None
    indexes: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _of_partitions(self) -> Self:
        if self.indexes and self.partitions is None:
            raise ValueError("indexes is how many each of the partitions has")
        return self


class DataTable(TomlTable):
    """Keys of all tables that are not pgbench's usual ones; each kind of data adds its own."""

    kind: str = ""
    layouts: dict[Name, Annotated[LayoutTable, BeforeValidator(partial(as_table, "scripts"))]] = {}


class ScaledTable(TomlTable):
    """The keys of a workload that say how large its tables are."""

    name: Name
    scale: Scale = None
    fillfactor: Fillfactor = 100


class BuildTable(TomlTable):
    """A server that is built from source."""

    source: str | None = None
    configure: Options = ()
    cflags: str | None = None
    meson: bool = False


class SettingTable(TomlTable):
    value: SettingValue
    reason: Text = Bilingual("", "")
    source: str = ""


class PreferredTable(TomlTable):
    """A way that a study takes where it can be had, and the design that it then has."""

    way: Preferred
    until_decided: bool = False
    budget: Budget | None = None
    most_blocks: Count | None = None


class MeasureTable(TomlTable):
    duration: Measured = None
    target: Target | None = None
    warmup: WarmUp = None
    settle: Time = Seconds(1.0)
    blocks: Count = 5
    caches: Caches = CachePolicy.KEEP
    prewarm: bool = True
    delta: Delta = Share(0.02)
    alpha: Alpha = Share(0.05)
    disturbed_share: DisturbedShare = None
    repeats: Repeats = 2
    slices: Slices = 1
    restart_every: Count = 1
    until_decided: bool = False
    budget: Budget | None = None
    most_blocks: Count | None = None
    flame_graph: bool = False
    flame_graph_window: Window = FLAME_GRAPH_WINDOW
    memory: Memory = None
    way: WayOfPairs = CLASSIC
    preferred: PreferredTable | None = None
    rounds: bool = False


class NodesTable(TomlTable):
    """Resources of each node of a trial, emulated as a machine of its own."""

    emulate: bool = True
    memory: Memory = None
    cpus: Count | None = None
    read: Rate = None
    write: Rate = None
    insist: bool = False


class ClusterTable(TomlTable):
    """Servers that run already, and the SQL that makes them one database."""

    nodes: NodeAddresses
    on_nodes: Statements = ""
    on_entry: Statements = ""
    for_each_node: Statements = ""
    distribute: Statements = ""


class HostsTable(TomlTable):
    """Where servers and pgbench run; what is not named is this machine."""

    db: HostNames | None = None
    client: HostName | None = None
    db_address: HostNames | None = None
    db_port: Annotated[int, Field(ge=1024, le=65535)] | None = None
    python: HostName = DEFAULT_PYTHON
    db_workdir: HostFolders | None = None
    client_workdir: HostFolder | None = None
