"""What a plan leaves out on servers that Teiten did not start, and what is not equal. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from teiten.errors import UsageError
from teiten.model.attached import AttachedServer, ServerParameter
from teiten.model.facts import Caution, Severity
from teiten.model.installation import Installation
from teiten.model.plan import Plan
from teiten.model.study import GUC_PREFIX, Study
from teiten.plan.settings import settings_of

Settings = tuple[tuple[str, str], ...]
Servers = Sequence[tuple[str, Installation]]

_BYTES = {"B": 1, "kB": 1024, "MB": 1024**2, "GB": 1024**3, "TB": 1024**4}
_TIMES = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_UNITS = _BYTES | _TIMES
_TRUE, _FALSE = {"on", "true", "yes", "1", "t", "y"}, {"off", "false", "no", "0", "f", "n"}


@dataclass(frozen=True)
class Split:
    """A study's parameters on one attached server."""

    by_session: Settings
    """Set for each session of the load."""
    different: tuple[tuple[str, str, str], ...]
    """Name, the study's value, the server's: it stays, because Teiten does not restart it."""
    unknown: Settings
    """The server has no such parameter."""


def split_settings(server: AttachedServer, settings: Settings) -> Split:
    """Which of a trial's parameters can be had on an attached server."""
    by_session: list[tuple[str, str]] = []
    different: list[tuple[str, str, str]] = []
    unknown: list[tuple[str, str]] = []
    for name, value in settings:
        found = server.parameter(name)
        if found is None:
            # a parameter with a dot in its name is an extension's, or anybody's own
            (by_session if "." in name else unknown).append((name, value))
        elif found.by_session:
            by_session.append((name, value))
        elif not same_value(value, found):
            different.append((name, value, found.text))
    return Split(tuple(by_session), tuple(different), tuple(unknown))


def same_value(wanted: str, found: ServerParameter) -> bool:
    """Whether a value as postgresql.conf has it means what pg_settings shows."""
    mine, theirs = wanted.strip().lower(), found.setting.strip().lower()
    if found.kind == "bool":
        return mine == theirs or {mine, theirs} <= _TRUE or {mine, theirs} <= _FALSE
    if found.kind in {"integer", "real"}:
        unit = found.unit or ""
        one, other = _amount(wanted.strip(), unit), _amount(found.setting.strip(), unit)
        return one == other if one is not None and other is not None else mine == theirs
    return mine == theirs


def check_attached(study: Study, servers: Servers) -> None:
    """Raise UsageError where a study varies on an attached server what cannot be varied there."""
    for level, installation in servers:
        server = installation.attached
        if server is None:
            continue
        own = dict(dict(study.server_levels).get(level, ()))
        _check_own_machine(study, level, own)
        if study.factor("checksums") is not None or "checksums" in own:
            raise UsageError(
                f"checksums are decided by initdb, and the server {level} is attached: they are"
                f" {'on' if server.data_checksums else 'off'} there",
                "vary them with servers that Teiten starts: --servers 18",
            )
        varied = {factor.name for factor in study.factors} | set(own)
        varied |= {GUC_PREFIX + name for one in study.parameters for name, _ in one.settings}
        for name in (one.removeprefix(GUC_PREFIX) for one in varied if GUC_PREFIX in one):
            _check_varied(level, server, name)


def _check_own_machine(study: Study, level: str, own: Mapping[str, str]) -> None:
    """What only a server that Teiten starts can have."""
    asked = [name for name in ("cores", "directory") if study.factor(name) or name in own]
    if study.measure.side_by_side:
        asked.append("slices" if study.measure.slices > 1 else "restart_every")
    if study.measure.flame_graph:
        asked.append("flame_graph")
    if asked:
        raise UsageError(
            f"{asked[0]}: the server {level} is attached, and Teiten does not start it",
            "leave it out, or compare servers that Teiten starts: --servers 17,18",
        )


def _check_varied(level: str, server: AttachedServer, name: str) -> None:
    found = server.parameter(name)
    if found is None and "." not in name:
        raise UsageError(
            f"guc:{name}: the server {level} has no parameter {name}",
            "leave the factor out, or compare servers that have it",
        )
    if found is not None and not found.by_session:
        raise UsageError(
            f"guc:{name}: the server {level} is attached, and {name} cannot be changed for a"
            f" session by the role {server.role}; it is {found.text} there",
            "vary it with a server that Teiten starts: --servers 18",
        )


def attached_cautions(plan: Plan) -> tuple[Caution, ...]:
    """What is left out on attached servers, and what is not equal between the sides."""
    attached = {level: one.attached for level, one in plan.servers if one.attached is not None}
    found = [
        caution for level, server in attached.items() for caution in _of_server(plan, level, server)
    ]
    if attached and len(plan.servers) > 1:
        found += _unequal(plan, attached)
    return tuple(found)


def _of_server(plan: Plan, level: str, server: AttachedServer) -> Iterator[Caution]:
    measure = plan.study.measure
    names = {"server": level, "role": server.role}
    yield _caution("attached", Severity.NOTE, names | {"address": server.address})
    if not server.local:
        yield _caution("attached-telemetry", Severity.NOTE, names)
    if measure.prewarm and not server.can_prewarm:
        yield _caution("attached-prewarm", Severity.WARNING, names)
    if not server.can_checkpoint:
        yield _caution("attached-checkpoint", Severity.WARNING, names)
    if server.other_sessions:
        values = names | {"sessions": str(server.other_sessions)}
        yield _caution("attached-shared", Severity.WARNING, values)
    yield from _settings(plan, level, server, names)


def _settings(
    plan: Plan, level: str, server: AttachedServer, names: Mapping[str, str]
) -> Iterator[Caution]:
    different: dict[str, str] = {}
    unknown: dict[str, str] = {}
    for trial in plan.trials:
        if trial.cell.level("server") == level:
            split = split_settings(server, settings_of(plan.study, trial.cell))
            different |= {name: f"{name} {there} ({ours})" for name, ours, there in split.different}
            unknown |= dict(split.unknown)
    if different:
        listed = {"settings": ", ".join(different.values())}
        yield _caution("attached-settings", Severity.WARNING, {**names, **listed})
    if unknown:
        listed = {"settings": ", ".join(unknown)}
        yield _caution("attached-unknown", Severity.NOTE, {**names, **listed})


def _unequal(plan: Plan, attached: Mapping[str, AttachedServer]) -> Iterator[Caution]:
    if len(attached) < len(plan.servers):
        own = ", ".join(level for level, _ in plan.servers if level not in attached)
        values = {"servers": ", ".join(attached), "own": own}
        yield _caution("attached-against-own", Severity.WARNING, values)
    elif len({server.address for server in attached.values()}) > 1:
        values = {"servers": ", ".join(attached)}
        yield _caution("attached-against-attached", Severity.WARNING, values)
    if len({server.encrypted for server in attached.values()} | _unencrypted(plan)) > 1:
        encrypted = ", ".join(level for level, one in attached.items() if one.encrypted)
        yield _caution("attached-encrypted", Severity.WARNING, {"servers": encrypted})
    checksums = {
        trial.cell.level("server") or "": trial.template.checksums for trial in plan.trials
    }
    if len(set(checksums.values())) > 1:
        there = ", ".join(level for level, on in checksums.items() if on)
        yield _caution("attached-checksums", Severity.WARNING, {"servers": there})


def _unencrypted(plan: Plan) -> set[bool]:
    return {False} if any(one.attached is None for _, one in plan.servers) else set()


def _caution(code: str, severity: Severity, values: Mapping[str, str]) -> Caution:
    return Caution(code, severity, tuple(values.items()))


def _amount(text: str, unit: str) -> Fraction | None:
    """A number with a unit, in the smallest unit of its kind; a bare number counts ``unit``."""
    match = re.fullmatch(r"(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)", text)
    if match is None:
        return None
    number, own = Fraction(match[1]), match[2]
    if own:
        return number * _UNITS[own] if own in _UNITS else None
    times = re.fullmatch(r"(\d*)([A-Za-z]*)", unit)
    if times is None or (times[2] and times[2] not in _UNITS):
        return None
    return number * int(times[1] or 1) * (_UNITS[times[2]] if times[2] else 1)
