"""A study's tables while a profile and the command line change them."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from typing import Any

from teiten.datasets.plan import own_keys
from teiten.errors import StudyError, TeitenError, UsageError
from teiten.factors.registry import factor_name, plain_names
from teiten.given_paths import expanded
from teiten.kinds.contract import Instead, plan_of
from teiten.study.changes import (
    BESIDE,
    KEYS,
    TAGS,
    Change,
    data_files,
    special_keys,
    workload_keys,
)
from teiten.study.document import FILE_HINT, Document, validated
from teiten.study.file import StudyFile, kind_of
from teiten.study.locate import KeyPath
from teiten.study.tables import BuildTable, as_table
from teiten.study.values import setting_name
from teiten.suggest import did_you_mean

EVERY = "all"
"""``workloads=all`` selects the optional ones too."""


class Draft:
    """The tables of a study file, changed in place; remembers who set what."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._data: dict[str, Any] = copy.deepcopy(
            {key: value for key, value in document.data.items() if key != "profiles"}
        )
        self._data["settings"] = {
            name.lower(): as_table("value", value)
            for name, value in self._data.get("settings", {}).items()
        }
        self._origins: dict[KeyPath, Change] = {}
        self.selected = [
            str(table["name"])
            for table in self._workloads
            if not table.get("optional", False)
        ]  # fmt: skip
        self.fixed_settings: dict[str, Change] = {}
        """Settings that flags fixed."""

    @property
    def _workloads(self) -> list[dict[str, Any]]:
        tables: list[dict[str, Any]] = self._data["workloads"]
        return tables

    @property
    def _names(self) -> list[str]:
        return [str(table["name"]) for table in self._workloads]

    def apply(self, change: Change) -> None:
        """Make one change. Raises UsageError where its key does not fit this study."""
        head, _, rest = change.key.partition(".")
        match head:
            case "workloads" if not rest:
                self._select(change)
            case "data":
                self._set_data(rest, change)
            case _ if not rest and head in special_keys():
                self._run_instead(head, change)
            case _ if not rest and head in plain_names() and isinstance(change.value, list):
                self._set(("factors", head), change)
            case _ if not rest:
                self._change_workloads(head, change)
            case "workloads":
                self._change_workload(rest, change)
            case "factors":
                self._set_levels(rest, change)
            case "builds":
                self._change_build(rest, change)
            case "settings":
                self._set_setting(rest, change)
            case _:
                self._set_in_table(head, rest, change)

    def add_differences(self, texts: Sequence[Any]) -> None:
        table = self._data["study"]
        table["differences"] = [*table.get("differences", []), *texts]

    def checked(self) -> StudyFile:
        """The changed tables, checked again; errors name the flag, or the place in the file."""
        return validated(self._data, lambda path, message, hint, _: self.error(path, message, hint))

    def error(self, path: KeyPath, message: str, hint: str) -> TeitenError:
        """An error at a key: of the flag that set it, else of the study file."""
        change = self.origin(path)
        if change is None:
            return StudyError(f"{self._document.place(path)}: {message}", hint)
        if change.by_flag:
            own = change.hint or self._document.hint
            return UsageError(f"{change.origin}: {message}", own if hint == FILE_HINT else hint)
        return StudyError(f"{change.origin}: {message}", hint)

    def origin(self, path: KeyPath) -> Change | None:
        """Who changed a key, or the table around it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self._origins:
                return self._origins[path[:end]]
        return None

    def _set(self, path: KeyPath, change: Change, value: Any = None) -> None:
        table: Any = self._data
        for part in path[:-1]:
            table = table[part] if isinstance(part, int) else table.setdefault(part, {})
        table[path[-1]] = copy.deepcopy(change.value if value is None else value)
        self._origins[path] = change

    def _set_in_table(self, table: str, key: str, change: Change) -> None:
        if table in KEYS and key not in KEYS[table]:
            raise self._unknown_key("key", key, KEYS[table], change)
        if table == "measure" and key in plain_names() and isinstance(change.value, list):
            self._set_levels(key, change)  # several values of what one fixes
            return
        self._set((table, key), change)

    def _set_levels(self, factor: str, change: Change) -> None:
        try:
            name = factor_name(factor)
        except ValueError as error:
            raise UsageError(f"{change.origin}: {error}", self._document.hint) from error
        for index, table in enumerate(self._workloads):
            if name in plan_of(kind_of(table)).level_keys:
                table.pop(name, None)
                self._origins.pop(("workloads", index, name), None)
            if "levels" in table:
                own: dict[str, Any] = table["levels"]
                table["levels"] = {key: own[key] for key in own if factor_name(key) != name}
        self._set(("factors", name), change)

    def _change_build(self, rest: str, change: Change) -> None:
        """``NAME.KEY`` of one build, or ``source`` of all that name none."""
        builds: dict[str, Any] = self._data.get("builds", {})
        if not builds:
            raise UsageError(
                f"{change.origin}: the study builds no server",
                "builds stand in the study file as [builds.NAME]; one alone: teiten pg build NAME",
            )
        if rest == "source":
            for name, table in builds.items():
                if "source" not in table:
                    self._set(("builds", name, "source"), change, _from_here(change))
            return
        name, _, key = rest.partition(".")
        if name not in builds:
            raise self._unknown_key("key of a build", name, builds, change)
        if key not in BuildTable.model_fields:
            raise self._unknown_key("key of a build", key, BuildTable.model_fields, change)
        value = _from_here(change) if key == "source" else None
        self._set(("builds", name, key), change, value)

    def _set_setting(self, name: str, change: Change) -> None:
        try:
            known = setting_name(name.removesuffix(".value"))
        except ValueError as error:
            raise UsageError(f"{change.origin}: {error}", self._document.hint) from error
        self._data["settings"].setdefault(known, {})
        self._set(("settings", known, "value"), change)
        if change.by_flag:
            self.fixed_settings[known] = change

    def _change_workloads(self, key: str, change: Change) -> None:
        """A key of every workload that has it."""
        keys = [workload_keys(kind_of(table)) for table in self._workloads]
        if not any(key in known for known in keys):
            raise UsageError(
                f"{change.origin}: no workload of this study has the key {key}",
                self._document.hint,
            )
        for index, known in enumerate(keys):
            if key in known:
                self._set_of_workload(index, key, change)

    def _change_workload(self, rest: str, change: Change) -> None:
        name, _, key = rest.partition(".")
        if name not in self._names:
            raise self._unknown_workload(name, self._names, change)
        index = self._names.index(name)
        keys = workload_keys(kind_of(self._workloads[index]))
        if key.startswith("levels."):
            self._set(("workloads", index, "levels", key.removeprefix("levels.")), change)
            return
        if key not in keys:
            raise self._unknown_key("key of a workload", key, keys, change)
        self._set_of_workload(index, key, change)

    def _set_of_workload(self, index: int, key: str, change: Change) -> None:
        kind = plan_of(kind_of(self._workloads[index]))
        value = kind.from_flag(key, change.value) if change.by_flag else None
        self._set(("workloads", index, key), change, value)

    def _select(self, change: Change) -> None:
        wanted = _texts(change.value)
        if wanted == [EVERY]:
            wanted = self._names
        for name in wanted:
            if name not in self._names:
                raise self._unknown_workload(name, [*self._names, EVERY], change)
        self.selected = list(dict.fromkeys(wanted))

    def _select_tagged(self, change: Change) -> None:
        wanted = _texts(change.value)
        tags = {str(table["name"]): table.get("tags", ()) for table in self._workloads}
        known = sorted({tag for of_table in tags.values() for tag in of_table})
        for tag in wanted:
            if tag not in known:
                raise UsageError(
                    f"{change.origin}: no workload has the tag {tag!r}.{did_you_mean(tag, known)}",
                    f"tags of this study: {', '.join(known) or 'none'}",
                )
        self.selected = [name for name, own in tags.items() if not set(own).isdisjoint(wanted)]

    def _unknown_key(
        self, what: str, key: str, known: Collection[str], change: Change
    ) -> UsageError:
        near = did_you_mean(key, known)
        return UsageError(f"{change.origin}: unknown {what}.{near}", self._document.hint)

    def _unknown_workload(self, name: str, known: Sequence[str], change: Change) -> UsageError:
        return UsageError(
            f"{change.origin}: the study has no workload {name!r}.{did_you_mean(name, known)}",
            f"it has {', '.join(known)}; a script of your own: {self._document.script_flag}",
        )

    def _run_instead(self, key: str, change: Change) -> None:
        """A load that a flag names takes the place of the study's, or stands beside them."""
        if key == BESIDE:
            self._run_beside(change)
            return
        if key == TAGS:
            self._select_tagged(change)
            return
        kind = special_keys()[key]
        assert kind is not None
        running = Instead(self._workloads, self.selected)
        loads = [
            plan_of(kind).instead(running, value, by_flag=change.by_flag)
            for value in _texts(change.value)
        ]
        self._data["workloads"] = [table for instead in loads for table in instead.workloads]
        self.selected = [name for instead in loads for name in instead.selected]
        paths: list[KeyPath] = [("workloads", at) for at in range(len(self._workloads))]
        for path in paths if len(loads) > 1 else [instead.set_by_flag for instead in loads]:
            self._origins[path] = change
        for instead in loads:
            for factor in instead.dropped:
                self._data["factors"].pop(factor, None)

    def _run_beside(self, change: Change) -> None:
        """A user's script runs too, in the place that the study has for it."""
        places = [at for at, table in enumerate(self._workloads) if table.get("yours")]
        if not places:
            raise UsageError(
                f"{change.origin}: this study has no place for a workload beside its own",
                f"{self._document.script_flag} runs a script in their place; teiten run buffers"
                " has such a place",
            )
        index = places[0]
        table = self._workloads[index]
        key = plan_of(kind_of(table)).told_by
        assert key is not None
        self._set_of_workload(index, key, change)
        self.selected = list(dict.fromkeys((*self.selected, str(table["name"]))))

    def _set_data(self, key: str, change: Change) -> None:
        value = change.value
        if change.by_flag and key in data_files():
            value = _from_here(change)
        if change.by_flag and key.startswith("layouts."):
            value = [str(expanded(path).absolute()) for path in _texts(value)]
        workloads = range(len(self._workloads))
        own = [at for at in workloads if self._has_any_data(self._workloads[at])]
        for index in own or workloads:
            if key in data_files() and change.by_flag:
                self._forget_data(index, keep=own_keys(data_files()[key]))
            self._set(("workloads", index, "data", *key.split(".", 1)), change, value)

    def _has_any_data(self, table: dict[str, Any]) -> bool:
        """Whether tables that a flag names are its, and not those of all workloads."""
        yours = bool(table.get("yours")) and table["name"] in self.selected
        return yours or plan_of(kind_of(table)).any_data

    def _forget_data(self, index: int, keep: Collection[str]) -> None:
        """Other tables have another kind, and the study's scripts do not fit them."""
        data: dict[str, Any] = self._workloads[index].setdefault("data", {})
        for key in [key for key in data if key != "layouts" and key not in keep]:
            del data[key]
        if "layouts" in data:
            data["layouts"] = {name: form for name, form in data["layouts"].items() if not form}


def _texts(value: Any) -> list[str]:
    """The parts of a list; one value stands for a list of one."""
    return [str(part) for part in value] if isinstance(value, list) else [str(value)]


def _from_here(change: Change) -> str:
    """A source from a flag is found from the current folder, not from the study's."""
    value = str(change.value)
    return str(expanded(value).absolute()) if change.by_flag else value
