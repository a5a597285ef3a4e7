"""Changes of a study by a profile and the command line, with the same keys.

A key is short (``clients``, ``scale``, ``duration``, ``guc:work_mem``) or names its table
(``measure.duration``, ``workloads.read.scale``, ``settings.work_mem``).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from teiten.datasets.plan import own_keys as own_data_keys
from teiten.datasets.plan import plan_of as plan_of_data
from teiten.datasets.registry import names as data_kinds
from teiten.errors import UsageError
from teiten.factors.registry import plain_names, rules
from teiten.given_paths import expanded
from teiten.kinds.contract import plan_of
from teiten.kinds.registry import names as kinds
from teiten.model.attached import named_address
from teiten.model.study import EXTENSION_PREFIX, GUC_PREFIX
from teiten.model.text import Bilingual
from teiten.study.schema import StudyTable, WorkloadTable
from teiten.study.tables import BuildTable, HostsTable, MeasureTable, NodesTable, TomlTable
from teiten.study.values import name as alias_name
from teiten.study.values import options
from teiten.suggest import did_you_mean

KEYS = {
    "measure": tuple(MeasureTable.model_fields),
    "study": tuple(key for key in StudyTable.model_fields if key != "differences"),
    "hosts": tuple(HostsTable.model_fields),
    "nodes": tuple(NodesTable.model_fields),
}
"""The keys that flags and profiles change, by their table."""
_WORKLOAD_KEYS = tuple(
    key
    for key in WorkloadTable.model_fields
    if key not in {"name", "kind", "optional", "yours", "data"}
)
_OF_ONE_WORKLOAD = ("title", "description", "levels")
"""Keys that are never changed for all workloads at once."""

LAYOUT_KEY = "data.layouts."
"""Before a layout's name."""
BESIDE = "workload"
"""A user's script beside the study's own workloads."""
TAGS = "tags"
"""Selects the workloads that have one of these words."""
TABLES = (*KEYS, "servers", "builds", "factors", "workloads", "settings", "storage")

_YES_NO = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


@dataclass(frozen=True)
class Change:
    """One value for one key."""

    key: str
    value: Any
    """The value as TOML would give it."""
    origin: str
    """For an error: ``--set clients``, or the place in the study file."""
    text: str
    """``KEY=VALUE``, for the record."""
    by_flag: bool = True
    hint: str = ""
    """A hint at what else to write, where the flag knows better than the study."""


@dataclass(frozen=True)
class StudyFlags:
    """Flags of the command line that change a study, as they were written."""

    profile: str | None = None
    servers: Sequence[str] = ()
    """Levels of the factor server, each perhaps several between commas."""
    overrides: Sequence[str] = ()
    """``KEY=VALUE`` of ``--set``."""
    gucs: Sequence[str] = ()
    """``NAME=VALUE`` of ``--guc``."""
    blocks: int | None = None
    """With ``until_decided``, the most."""
    delta: str | None = None
    """``2%``"""
    alpha: str | None = None
    until_decided: bool = False
    """Sequentially, within ``budget``."""
    budget: str | None = None
    """``30m``"""
    source: str | None = None
    """The source of those of the study's builds that name none."""
    flame_graph: bool = False
    """Sample call stacks after each counted trial."""
    queries: str | None = None
    """A folder whose queries take the place of the study's."""
    schema: str | None = None
    """A dump; each file in the folder ``queries`` is then a workload on its tables."""
    rows: str | None = None
    """How many times over the rows of ``schema`` are to be there: ``10x``."""
    keep_texts: bool = False
    """The ledger holds the statements on the tables of ``schema``, and not their fingerprints."""
    workload: str | None = None
    """A script beside the study's own workloads."""
    memory: str | None = None
    """``2GiB``"""
    storage: Sequence[str] = ()
    """``NAME=DIR``"""


UNCHANGED = StudyFlags()


def workload_keys(kind: str) -> tuple[str, ...]:
    """List the keys that may be changed of one workload of a kind."""
    rules_of_kind = plan_of(kind)
    return (*_WORKLOAD_KEYS, *rules_of_kind.changeable, *rules_of_kind.changeable_of_one)


def shared_workload_keys() -> tuple[str, ...]:
    """Short keys that change every workload that has them."""
    common = (key for key in _WORKLOAD_KEYS if key not in _OF_ONE_WORKLOAD)
    own = (key for kind in kinds() for key in plan_of(kind).changeable)
    return tuple(dict.fromkeys((*common, *own)))


def special_keys() -> dict[str, str | None]:
    """Short keys that decide what runs, before all others: which workloads, or a load of a kind in
    place of the study's own; by the kind."""
    by_key = {key: kind for kind in kinds() if (key := plan_of(kind).told_by) is not None}
    return {"workloads": None, TAGS: None, BESIDE: None, **by_key}


def data_keys() -> tuple[str, ...]:
    """List the keys that may be changed of the tables of workloads, besides their layouts."""
    own = dict.fromkeys(key for kind in data_kinds() for key in own_data_keys(kind))
    return tuple(f"data.{key}" for key in ("kind", *own))


def data_files() -> dict[str, str]:
    """The keys below ``data`` whose files make other tables, by the kind of those."""
    return {key: kind for kind in data_kinds() if (key := plan_of_data(kind).told_by) is not None}


def short_keys() -> tuple[str, ...]:
    """Every key that may stand without its table."""
    shared = shared_workload_keys()
    return (
        *special_keys(),
        *(name for name in plain_names() if name not in shared),
        *shared,
        *KEYS["measure"],
        *KEYS["study"],
    )


def from_command_line(flags: StudyFlags) -> tuple[Change, ...]:
    """The changes that flags ask for, in the order in which they are applied.

    Raises UsageError for a flag that cannot be read or a key that is given twice.
    """
    changes: list[Change] = []
    levels = [part.strip() for text in flags.servers for part in text.split(",") if part.strip()]
    if levels:
        levels, attached = with_attached(levels, "--servers")
        changes += attached
        changes.append(Change("factors.server", levels, "--servers", f"server={','.join(levels)}"))
    if flags.source is not None:
        changes.append(
            Change("builds.source", flags.source, "--source", f"builds.source={flags.source}")
        )
    changes += _of_own_tables(flags)
    changes += map(_from_set, flags.overrides)
    if flags.workload is not None:  # after which of the study's own run
        changes.append(Change(BESIDE, flags.workload, "--script", f"{BESIDE}={flags.workload}"))
    changes += map(_from_guc, flags.gucs)
    changes += map(_from_storage, flags.storage)
    named = (
        ("most_blocks" if flags.until_decided else "blocks", flags.blocks, "--blocks"),
        ("delta", flags.delta, "--delta"),
        ("alpha", flags.alpha, "--alpha"),
        ("until_decided", flags.until_decided or None, "--until-decided"),
        ("budget", flags.budget, "--budget"),
        ("flame_graph", flags.flame_graph or None, "--flame-graph"),
        ("memory", flags.memory, "--memory"),
    )
    changes += [
        Change(f"measure.{key}", value, flag, f"{key}={value}")
        for key, value, flag in named
        if value is not None
    ]
    _refuse_repeated(changes)
    special, telling = special_keys(), {f"data.{key}" for key in data_files()}
    return tuple(
        sorted(changes, key=lambda change: (change.key not in special, change.key not in telling))
    )


def _of_own_tables(flags: StudyFlags) -> Iterator[Change]:
    """The user's statements, and the dump that they run on."""
    if flags.schema is None:
        if flags.keep_texts:
            raise UsageError(
                "--keep-texts is for --schema", "leave it out: other studies keep them"
            )
        if flags.rows is not None:
            raise UsageError("--rows is for --schema", "add the dump whose rows are meant")
        if flags.queries is not None:
            yield Change("queries", flags.queries, "--queries", f"queries={flags.queries}")
        return
    if flags.queries is None:
        raise UsageError(
            "--schema needs your statements",
            "add --queries DIR, a folder with a file *.sql for each of them",
        )
    for key, value, flag in (
        ("script", flags.queries, "--queries"),
        ("data.script", flags.schema, "--schema"),
    ):
        path = str(expanded(value).absolute())
        yield Change(key, path, flag, f"{key}={path}")
    if flags.rows is not None:
        yield Change("data.rows", flags.rows, "--rows", f"data.rows={flags.rows}")
    if not any(guc.lower().startswith("shared_buffers=") for guc in flags.gucs):
        # The study's own value is for its own tables.
        yield Change("settings.shared_buffers", "auto", "--schema", "", by_flag=False)
    keep = flags.keep_texts
    yield Change("study.keep_texts", keep, "--schema", f"keep_texts={keep}".lower())


def with_attached(references: Sequence[str], origin: str) -> tuple[list[str], list[Change]]:
    """The levels of references of which some are ``NAME=postgresql://…``: those become aliases."""
    levels: list[str] = []
    changes: list[Change] = []
    for reference in references:
        named = named_address(reference)
        if named is None:
            levels.append(reference)
            continue
        name, address = named
        try:
            alias_name(name)
        except ValueError as error:
            raise UsageError(f"{origin}: {error}", "for example prod=postgresql://…") from error
        levels.append(name)
        key = f"servers.{name}"
        changes.append(Change(key, {"server": address}, origin, f"{key}={address}"))
    return levels, changes


def full_key(key: str) -> str:
    """A key with its table; the short keys of all workloads stay short.

    Raises UsageError, without the flag's name, where it is unknown.
    """
    if key.startswith((GUC_PREFIX, EXTENSION_PREFIX)):
        return f"factors.{key}"
    if key in (*special_keys(), *data_keys(), *shared_workload_keys()) or key.startswith(
        LAYOUT_KEY
    ):
        return key
    if (
        key in KEYS["measure"]
    ):  # before the factor of the same name, which several values make of it
        return f"measure.{key}"
    factor = next((rule.name for rule in rules() if key in (rule.name, *rule.other_names)), None)
    if factor is not None:
        return f"factors.{factor}"
    if key in KEYS["study"]:
        return f"study.{key}"
    table, _, rest = key.partition(".")
    if rest and table in TABLES:
        return key
    raise ValueError(f"unknown key.{did_you_mean(key, _near(key))}")


def _near(key: str) -> list[str]:
    """The known keys of the same form: with their table, or short."""
    if "." not in key:
        return [*short_keys(), f"{GUC_PREFIX}NAME"]
    if key.startswith("data."):
        return [*data_keys(), f"{LAYOUT_KEY}NAME"]
    tables = {**KEYS, "factors": plain_names()}
    return [f"{table}.{name}" for table, keys in tables.items() for name in keys]


def _from_set(text: str) -> Change:
    example = "for example --set clients=1,4 or --set measure.duration=20s"
    key, value = split_pair(text, "--set", example)
    origin = f"--set {key}"
    try:
        full = full_key(key)
    except ValueError as error:
        raise UsageError(
            f"{origin}: {error}", "teiten init observe prints a study with all of its keys"
        ) from error
    return Change(full, typed_value(full, value), origin, f"{key}={value}")


def _from_guc(text: str) -> Change:
    name, value = split_pair(text, "--guc", "for example --guc work_mem=64MB")
    return Change(f"settings.{name.lower()}", value, f"--guc {name}", f"settings.{name}={value}")


def _from_storage(text: str) -> Change:
    name, value = split_pair(text, "--storage", "for example --storage fast=/mnt/ssd")
    try:
        alias_name(name)
    except ValueError as error:
        raise UsageError(f"--storage {name}: {error}", "for example fast=/mnt/ssd") from error
    flag = f"--storage {name}"
    hint = f"for example {flag}=/mnt/ssd, or {flag}=emulate:size=4GB,iops=300"
    return Change(f"storage.{name}", value, flag, f"storage.{name}={value}", hint=hint)


def split_pair(text: str, flag: str, hint: str) -> tuple[str, str]:
    """Key and value of ``KEY=VALUE``. Raises UsageError where a text is none."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise UsageError(f"{flag} {text}: needs the form KEY=VALUE", hint)
    return key.strip(), value.strip()


@cache
def _fields() -> Mapping[str, FieldInfo]:
    """Every key that a flag may set to one value; of a name that two tables have, either."""
    of_kinds = [plan_of(kind).table for kind in kinds()]
    of_data = [plan_of_data(kind).table for kind in data_kinds()]
    tables: list[type[TomlTable]] = [StudyTable, MeasureTable, BuildTable, HostsTable, NodesTable]
    every = (table.model_fields.items() for table in (*tables, *of_data, *of_kinds))
    return {key: field for fields in every for key, field in fields}


def _is_verbatim(name: str) -> bool:
    """Whether a value is a text as it stands, or options that are split as by a shell."""
    field = _fields().get(name)
    if field is None:
        return False
    return _is_text(field.annotation) or any(
        getattr(reader, "func", None) is options for reader in field.metadata
    )


def _is_text(form: Any) -> bool:
    if form in (str, Bilingual):
        return True
    origin = get_origin(form)
    inner = get_args(form)
    if origin is Annotated:
        return _is_text(inner[0])
    return origin in (Union, UnionType) and any(map(_is_text, inner))


def typed_value(key: str, text: str) -> Any:
    """The text as the value that TOML would hold."""
    name = key.rpartition(".")[2]
    if key.startswith(("settings.", "storage.")) or (
        _is_verbatim(name) and not key.startswith("factors.")
    ):
        return text
    if name in _fields() and _fields()[name].annotation is bool:
        return _YES_NO.get(text.lower(), text)
    if key.startswith(("factors.server", "servers.")):
        return _listed(text) if "," in text else text
    if "," in text:
        return [_number_or_text(part) for part in _listed(text)]
    return _number_or_text(text)


def _listed(text: str) -> list[str]:
    """Parts between commas; a part with a comma of its own stands in double quotes."""
    row = next(csv.reader([" ".join(text.split())], skipinitialspace=True))
    return [part.strip() for part in row if part.strip()]


def _number_or_text(text: str) -> int | str:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else text


def _refuse_repeated(changes: Iterable[Change]) -> None:
    seen: dict[str, Change] = {}
    for change in changes:
        first = seen.setdefault(change.key, change)
        if first is not change:
            raise UsageError(
                f"{first.origin} and {change.origin} both set {change.key}"
                f" ({first.text} and {change.text})",
                "give it once; several levels of a factor are one list: --set clients=1,4,16",
            )
