"""Differences from each version's own defaults, in one table: parameters and initdb's options."""

from __future__ import annotations

import re

from teiten.model.installation import checksums_by_default
from teiten.model.quantities import SIZE_UNITS, exact_size
from teiten.model.study import SERVER
from teiten.report.numbers import NOTHING
from teiten.report.tables import Column, Row, Table, TableCell, headings
from teiten.report.view.kit import Kit

CHECKSUMS = "data_checksums"
OF_INITDB = frozenset(
    (
        *("autovacuum_worker_slots", "DateStyle", "TimeZone", "default_text_search_config"),
        *("dynamic_shared_memory_type", "max_wal_size", "min_wal_size", "log_timezone"),
        *("lc_messages", "lc_monetary", "lc_numeric", "lc_time"),
    )
)
"""Parameters that initdb itself writes into postgresql.conf."""

AMOUNT = re.compile(r"(\d+) (\d*)(kB|MB|GB)")


def settings_table(kit: Kit) -> Table | None:
    """Tabulate settings as the running servers told them; where none did, as the study asks."""
    by_level = _told(kit)
    if not by_level:
        return _asked(kit)
    t = kit.t
    levels = [level for level, _ in kit.analysis.plan.servers if level in by_level]
    columns = (
        *headings(t, "table.parameter"),
        *(Column(kit.names.server(level).long) for level in levels),
        *headings(t, "table.reason", "table.source"),
    )
    values = _by_name(kit, by_level)
    return Table(
        "settings",
        t("table.settings.caption"),
        columns,
        tuple(_row(kit, name, values[name], levels) for name in sorted(values, key=str.lower)),
        note=t("table.settings.note-servers"),
        sortable=False,
    )


def _told(kit: Kit) -> dict[str, dict[str, set[str]]]:
    """By the server's level: parameters that are not at their default, and their values."""
    by_level: dict[str, dict[str, set[str]]] = {}
    servers = kit.analysis.plan.servers
    only = servers[0][0] if len(servers) == 1 else ""
    for trial in kit.analysis.trials:
        settings = trial.facts.get("settings")
        level = dict(trial.levels).get(SERVER) or only
        if isinstance(settings, dict) and level:
            of_level = by_level.setdefault(level, {})
            for name, value in settings.items():
                of_level.setdefault(str(name), set()).add(str(value))
    return by_level


def amount(value: str) -> str:
    """A value in its parameter's unit as ``SHOW`` says it: ``24576 8kB`` is 192MB. Any other value
    as it is."""
    in_unit = AMOUNT.fullmatch(value)
    if in_unit is None:
        return value
    size = int(in_unit[1]) * int(in_unit[2] or 1) * SIZE_UNITS[in_unit[3]]
    return exact_size(size) if size else value


def _by_name(kit: Kit, by_level: dict[str, dict[str, set[str]]]) -> dict[str, dict[str, str]]:
    """Values of each parameter by the server's level, as the server said; several are listed."""
    values: dict[str, dict[str, str]] = {}
    for level, of_level in by_level.items():
        for name, reported in of_level.items():
            values.setdefault(name, {})[level] = kit.t.listed(map(amount, sorted(reported)))
        checksums = _checksums(kit, level)
        if checksums:
            values.setdefault(CHECKSUMS, {})[level] = checksums
    return values


def _checksums(kit: Kit, level: str) -> str:
    """Empty where the clusters of a server have what its initdb does unless told otherwise."""
    version = next(server.version for name, server in kit.analysis.plan.servers if name == level)
    made = {
        template.checksums
        for trial in kit.analysis.plan.trials
        if (trial.cell.server or level) == level
        for template in trial.templates
    }
    if made <= {checksums_by_default(version)}:
        return ""
    return kit.t.listed("on" if enabled else "off" for enabled in sorted(made))


def _row(kit: Kit, name: str, values: dict[str, str], levels: list[str]) -> Row:
    t = kit.t
    known = {setting.name: setting for setting in kit.study.settings}.get(name)
    if known is not None:
        reason = t.of(known.reason)
    elif name in _varied(kit):
        reason = t("settings.varied")
    elif name in OF_INITDB:
        reason = t("settings.initdb")
    else:
        reason = t("settings.checksums" if name == CHECKSUMS else "settings.teiten")
    return (
        TableCell(name, kind="code"),
        *(TableCell(values.get(level, NOTHING), kind="code") for level in levels),
        TableCell(reason),
        TableCell(known.source if known else ""),
    )


def _varied(kit: Kit) -> set[str]:
    """Parameters that some trials have with one value and some with another."""
    by_name: dict[str, set[str]] = {}
    for trial in kit.analysis.plan.trials:
        for name, value in trial.settings:
            by_name.setdefault(name, set()).add(value)
    return {name for name, values in by_name.items() if len(values) > 1}


def _asked(kit: Kit) -> Table | None:
    t = kit.t
    if not kit.study.settings:
        return None
    columns = headings(t, "table.parameter", "table.value", "table.reason", "table.source")
    rows = tuple(
        (
            TableCell(setting.name, kind="code"),
            TableCell(setting.value or NOTHING, kind="code"),
            TableCell(t.of(setting.reason)),
            TableCell(setting.source),
        )
        for setting in kit.study.settings
    )
    return Table(
        "settings", t("table.settings.asked"), columns, rows, note=t("table.settings.note")
    )
