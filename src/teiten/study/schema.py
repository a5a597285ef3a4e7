"""The form of a study file: what may stand in the TOML, checked before anything else reads it.

The tables mirror what a person writes; ``build`` turns them into ``model.study.Study``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator

from teiten.datasets.plan import data_form, with_data_kind
from teiten.factors.registry import factor_name, rule
from teiten.model.text import Bilingual
from teiten.study.tables import (
    ChosenForm,
    DataTable,
    Fillfactor,
    KeyedError,
    Name,
    Preload,
    Scale,
    ScaledTable,
    SettingName,
    SettingValue,
    Text,
    Texts,
    TomlTable,
    Words,
)
from teiten.study.values import AUTO, reference


def levels(factor: str, value: Any) -> tuple[str, ...]:
    """A factor's levels in canonical form; empty for ``auto``.

    One value stands for a list of one.
    """
    if rule(factor).automatic and value == AUTO:
        return ()
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values:
        raise ValueError("needs at least one level")
    result = tuple(rule(factor).level(level) for level in values)
    _refuse_repeated(factor, result)
    return result


@dataclass(frozen=True)
class ServerAlias:
    """A server, and the levels of other factors that belong to it, for which an alias stands."""

    server: str
    levels: tuple[tuple[str, str], ...] = ()


def server_alias(value: Any) -> ServerAlias:
    """``17``, or a table ``{ server = "17", checksums = "on", "guc:work_mem" = "64MB" }``."""
    if not isinstance(value, dict):
        return ServerAlias(reference(value))
    if "server" not in value:
        raise ValueError('a table needs the key server, for example { server = "18" }')
    levels: dict[str, str] = {}
    for key, level in value.items():
        if key == "server":
            continue
        factor = factor_name(key)
        if not rule(factor).of_server:
            raise ValueError(f"{factor} cannot belong to a server's alias")
        levels[factor] = rule(factor).level(level)
    return ServerAlias(reference(value["server"]), tuple(levels.items()))


def _refuse_repeated(factor: str, levels: Sequence[str]) -> None:
    seen: dict[object, str] = {}
    for level in levels:
        key = rule(factor).compared(level)
        if key in seen:
            same = "" if seen[key] == level else f" (the same as {seen[key]})"
            raise ValueError(f"the level {level}{same} stands there twice")
        seen[key] = level


Clients = Annotated[tuple[str, ...], PlainValidator(partial(levels, "clients"))]
Server = Annotated[ServerAlias, PlainValidator(server_alias)]


def all_levels(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise ValueError("must be a table of factors and their levels")
    result: dict[str, tuple[str, ...]] = {}
    for key, written in value.items():
        try:
            factor = factor_name(key)
            result[factor] = levels(factor, written)
        except ValueError as error:
            raise KeyedError(key, str(error)) from error
    return result


def _own_levels(value: Any) -> dict[str, tuple[str, ...]]:
    """The levels of one workload; those of two factors have places of their own."""
    limits = all_levels(value)
    for factor in ("clients", "query"):
        if factor in limits:
            hint = "write clients = […] in the workload" if factor == "clients" else "choose files"
            raise KeyedError(factor, f"{factor} is not limited here: {hint}")
    return limits


Levels = Annotated[dict[str, tuple[str, ...]], PlainValidator(_own_levels)]


class StudyTable(TomlTable):
    name: Name
    title: Text = Bilingual("", "")
    question: Text = Bilingual("", "")
    purpose: Text = Bilingual("", "")
    sources: Words = ()
    contrast: Annotated[str, AfterValidator(factor_name)] = "server"
    conclusive: bool = True
    replicates: bool = True
    keep_texts: bool = True
    """False: the ledger holds fingerprints of statements, and not their texts."""
    differences: Texts = ()


Data = Annotated[DataTable, ChosenForm(data_form, with_data_kind)]


class WorkloadTable(ScaledTable):
    """Keys of every workload, of whatever kind; each kind adds its own."""

    title: Text = Bilingual("", "")
    description: Text = Bilingual("", "")
    kind: str = ""
    data: Data | None = None
    levels: Levels = Field(default_factory=dict)
    preload: Preload = ()
    changes_data: bool
    optional: bool = False
    tags: Words = ()
    """Words by which ``--tags`` selects workloads."""
    yours: bool = False
    """The place of a user's script beside the study's own workloads."""


class WorkloadChanges(TomlTable):
    """Changes that a profile may make to one workload, besides the keys of its kind."""

    scale: Scale = None
    fillfactor: Fillfactor | None = None
    levels: Levels = Field(default_factory=dict)


class ProfileTable(TomlTable):
    """Changes that a profile makes, besides all of ``[measure]`` and the keys of the kinds of
    workloads; keys as on the command line's ``--set``."""

    conclusive: bool = True
    replicates: bool = True
    differences: Texts = ()
    scale: Scale = None
    settings: dict[SettingName, SettingValue] = Field(default_factory=dict)


OF_NODES = "node_"
"""Before the keys of ``[nodes]`` in a profile, where ``memory`` is a key of another table."""
