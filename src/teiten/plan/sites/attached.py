"""Parts of a plan left out on servers that Teiten did not start, and what is not equal. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from teiten.datasets.plan import described, made_by
from teiten.errors import UsageError, WayError
from teiten.factors.contract import Need
from teiten.factors.registry import rule
from teiten.kinds.contract import LevelNeeds, plan_of
from teiten.model.attached import AttachedServer, ServerParameter
from teiten.model.facts import Caution
from teiten.model.installation import Installation
from teiten.model.plan import Plan, PlannedTrial, TemplateSpec
from teiten.model.quantities import SIZE_UNITS
from teiten.model.setup import PlannedCell, varied_factors
from teiten.model.study import Measure, Settings, Study
from teiten.model.text import Bilingual
from teiten.plan.cells import setup_of
from teiten.plan.sites.contract import ActionContext, Lack, SitePlan, not_offered, together
from teiten.ways.registry import way_of

OWN_CONNECTIONS = 3
"""Connections of Teiten to a server, besides the clients': the sampler and the checks."""

_TIMES = {"us": 1, "ms": 1000, "s": 10**6, "min": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_UNITS = SIZE_UNITS | _TIMES
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
        parameter = server.parameter(name)
        if parameter is None:
            # a parameter with a dot in its name is an extension's, or anybody's own
            (by_session if "." in name else unknown).append((name, value))
        elif parameter.by_session:
            by_session.append((name, value))
        elif not same_value(value, parameter):
            different.append((name, value, parameter.text))
    return Split(tuple(by_session), tuple(different), tuple(unknown))


def same_value(wanted: str, parameter: ServerParameter) -> bool:
    """Whether a value as postgresql.conf has it means what pg_settings shows."""
    mine, theirs = wanted.strip(), parameter.setting.strip()
    if parameter.kind in {"integer", "real"}:
        unit = parameter.unit or ""
        amounts = _amount(mine, unit), _amount(theirs, unit)
        if None not in amounts:
            return amounts[0] == amounts[1]
    texts = {mine.lower(), theirs.lower()}
    either = parameter.kind == "bool" and (texts <= _TRUE or texts <= _FALSE)
    return len(texts) == 1 or either


class AttachedPlan(SitePlan):
    """Servers that run already, whose address somebody named."""

    starts = False

    def check_server(self, study: Study, level: str, installation: Installation) -> None:
        server = _attached(installation)
        lacks = self.lacks(level, installation)
        for workload in study.workloads:
            kind = plan_of(workload.kind)
            if kind.site_needs & lacks.keys():
                raise UsageError(
                    f"the workload {workload.name} {kind.does}, and the server {level} is"
                    " attached: Teiten does not start it",
                    "leave it out, or compare servers that Teiten starts: --servers 17,18",
                )
        own = dict(dict(study.server_levels).get(level, ()))
        varied = [name for name in varied_factors(study) if study.factor(name) or name in own]
        refused = [name for name in varied if rule(name).needs_in(study) & {Need.START, Need.HERE}]
        _check_own_machine(study, level, refused)
        for name in varied:
            if Need.INITDB in rule(name).needs_in(study):
                raise UsageError(
                    f"{name} are decided by initdb, and the server {level} is attached: they are"
                    f" {'on' if server.data_checksums else 'off'} there",
                    "vary them with servers that Teiten starts: --servers 18",
                )
        for name in varied:
            for parameter in rule(name).set_parameters(study, name):
                _check_varied(level, server, parameter)

    def check_trial(self, trial: PlannedTrial) -> None:
        for template in trial.templates:
            layout = template.data.layout
            if layout is None or not layout.scripts:
                continue
            server = trial.cell.server or template.installation.name
            raise UsageError(
                f"server {server}: the layout {layout.name} runs scripts on the tables, and this"
                " server is attached",
                "compare layouts on servers that Teiten starts: --servers 18",
            )

    def lacks(self, level: str, installation: Installation) -> Mapping[Need, Lack]:
        return lacks_of(level, _attached(installation))

    def checksums(self, installation: Installation, wanted: bool) -> bool:
        return _attached(installation).data_checksums

    def settings(self, installation: Installation, settings: Settings) -> Settings:
        """Those that it takes for a session."""
        return split_settings(_attached(installation), settings).by_session

    def connections(self, trial: PlannedTrial) -> tuple[int, int]:
        own = OWN_CONNECTIONS * len(trial.templates)
        free = _with_fewest_free(trial).free_connections
        return trial.load.most_connections + own, free

    def too_few_connections(self, trial: PlannedTrial) -> UsageError:
        needed, free = self.connections(trial)
        return UsageError(
            f"{trial.load.asked} needs {needed} connections to the server {trial.cell.server};"
            f" {free} are free there for the role {_with_fewest_free(trial).role}",
            "fewer clients, or a higher max_connections (or CONNECTION LIMIT of the role) there",
        )

    def server_text(self, installation: Installation) -> str:
        server = _attached(installation)
        return f", attached: {server.address} as {server.role}"

    def server_object(self, installation: Installation) -> dict[str, str]:
        server = _attached(installation)
        return {"address": server.address, "role": server.role}

    def actions(self, context: ActionContext) -> Iterator[str]:
        for level, installation in context.plan.servers:
            if installation.attached is not None:
                yield from _actions_on(context, level, installation, installation.attached)
                yield from _actions_on_nodes(context, level, installation)

    def prepare(self, template: TemplateSpec) -> str:
        return f"create a database on {template.installation.name}, {described(template.data)}"

    def restore(self, trial: PlannedTrial, *, restores: bool) -> str:
        if trial.distribution is not None:
            made = "an empty" if restores else "the same"
            return f"{made} database on each of {len(trial.templates)} attached servers"
        copied = "copy the filled database" if restores else "use the filled"
        return f"{copied} on the attached server"

    def caches(self, measure: Measure) -> str:
        return "leave the caches as they are: the server is attached"

    def start(self, trial: PlannedTrial) -> str:
        changed = ", ".join(f"{name}={value}" for name, value in trial.settings)
        version = trial.template.installation.version
        return f"connect to PostgreSQL {version}, sessions with {changed or 'its own settings'}"

    def prewarm(self, trial: PlannedTrial, measure: Measure) -> str:
        if not _attached(trial.template.installation).can_prewarm:
            return "no prewarming"
        return super().prewarm(trial, measure)

    def settle(self, trial: PlannedTrial, measure: Measure) -> str:
        if not _attached(trial.template.installation).can_checkpoint:
            return f"{measure.settle:g} s of rest"
        return super().settle(trial, measure)

    def stop(self, *, restores: bool) -> str:
        return "disconnect; drop what the trial changed"


def _attached(installation: Installation) -> AttachedServer:
    assert installation.attached is not None, f"{installation.name} is not attached"
    return installation.attached


def _with_fewest_free(trial: PlannedTrial) -> AttachedServer:
    servers = (_attached(template.installation) for template in trial.templates)
    return min(servers, key=lambda server: server.free_connections)


def _actions_on(
    context: ActionContext, level: str, installation: Installation, server: AttachedServer
) -> Iterator[str]:
    own = [
        template.data
        for template in context.plan.templates
        if template.installation.name == installation.name
    ]
    made = " and ".join(dict.fromkeys(made_by(data) for data in own))
    data = "; ".join(sorted({str(data_set) for data_set in own}))
    yield (
        f"connect to the server {level} ({server.address}) as the role {server.role}; create"
        f" databases teiten_… there, fill them by {made} ({data}), and drop them at the end; its"
        " other databases and its settings are not touched"
    )
    if context.restored:
        yield (
            f"copy the filled database on the server {level} before every trial of"
            f" {' and '.join(context.restored)} (CREATE DATABASE … TEMPLATE), and drop the copy"
            " after"
        )
    yield (
        f"not on the server {level}, because Teiten did not start it: restart, choice of initdb's"
        " options, taking its files out of the page cache, settings that need a restart, reading"
        " its log"
    )


def _actions_on_nodes(context: ActionContext, level: str, entry: Installation) -> Iterator[str]:
    """Say what is done to a cluster's nodes, where a trial has any."""
    spread = [trial for trial in context.plan.trials if trial.distribution is not None]
    if not entry.nodes or not spread:
        return
    where = ", ".join(
        f"{node.attached.address} as {node.attached.role}"
        for node in entry.nodes
        if node.attached is not None
    )
    yield (
        f"create databases teiten_… on the nodes behind {level} too ({where}), and drop them at the"
        f" end; run the statements of [clusters.{level}] in these databases and in that of {level},"
        " and fill the tables through it: before every trial that changes data, once for others"
    )


def _check_own_machine(study: Study, level: str, factors: Sequence[str]) -> None:
    """Raise UsageError (WayError for a way) for what only a server that Teiten starts can have."""
    keys = way_of(study.measure).keys_of_own_servers(study.measure)
    asked = ["way"] if "way" in keys else []
    asked += [*factors, *(key for key in keys if key != "way")]
    if study.measure.flame_graph:
        asked.append("flame_graph")
    if study.measure.memory is not None:
        asked.append("memory")
    if asked:
        raise (WayError if asked[0] == "way" else UsageError)(
            f"{asked[0]}: the server {level} is attached, and Teiten does not start it",
            "leave it out, or compare servers that Teiten starts: --servers 17,18",
        )


def _check_varied(level: str, server: AttachedServer, name: str) -> None:
    parameter = server.parameter(name)
    if parameter is None and "." not in name:
        raise UsageError(
            f"guc:{name}: the server {level} has no parameter {name}",
            "leave the factor out, or compare servers that have it",
        )
    if parameter is not None and not parameter.by_session:
        raise UsageError(
            f"guc:{name}: the server {level} is attached, and {name} cannot be changed for a"
            f" session by the role {server.role}; it is {parameter.text} there",
            "vary it with a server that Teiten starts: --servers 18",
        )


def attached_cautions(plan: Plan) -> tuple[Caution, ...]:
    """Tell what is left out on attached servers, and what is not equal between the sides."""
    attached = _attached_among(plan.servers)
    nodes = ((node.name, node) for _, server in plan.servers for node in server.nodes)
    cautions: list[Caution] = []
    for level, server in {**attached, **_attached_among(nodes)}.items():
        cautions += _of_server(plan, level, server)
    for level, server in attached.items():
        cautions += _left_out(plan, level, server)
    if attached and len(plan.servers) > 1:
        cautions += _unequal(plan, attached)
    return tuple(cautions)


def _attached_among(servers: Iterable[tuple[str, Installation]]) -> dict[str, AttachedServer]:
    return {level: server.attached for level, server in servers if server.attached is not None}


def _of_server(plan: Plan, level: str, server: AttachedServer) -> Iterator[Caution]:
    measure = plan.study.measure
    names = {"server": level, "role": server.role}
    yield Caution.note("attached", **names | {"address": server.address})
    if not server.local:
        yield Caution.note("attached-telemetry", **names)
    if measure.prewarm and not server.can_prewarm:
        yield Caution.warning("attached-prewarm", **names)
    if not server.can_checkpoint:
        yield Caution.warning("attached-checkpoint", **names)
    if server.other_sessions:
        values = names | {"sessions": str(server.other_sessions)}
        yield Caution.warning("attached-shared", **values)
    yield from _settings(plan, level, server, names)


def _left_out(plan: Plan, level: str, server: AttachedServer) -> Iterator[Caution]:
    """The levels of workloads that a server's place does not offer what they need, together where
    they lack the same."""
    by_lacks: dict[tuple[Lack, ...], list[LevelNeeds]] = {}
    for workload in plan.study.workloads:
        for needs, lacks in not_offered(workload, lacks_of(level, server)):
            by_lacks.setdefault(lacks, []).append(needs)
    for lacks, left in by_lacks.items():
        lack = together(lacks)
        yield Caution.warning(
            "attached-left-out",
            server=level,
            levels=", ".join(needs.level for needs in left),
            why_en=lack.why.en,
            hint_en=lack.hint.en,
            why_ja=lack.why.ja,
            hint_ja=lack.hint.ja,
        )


def _settings(
    plan: Plan, level: str, server: AttachedServer, names: Mapping[str, str]
) -> Iterator[Caution]:
    different: dict[str, str] = {}
    unknown: dict[str, str] = {}
    for trial in plan.trials:
        if trial.cell.server == level:
            split = split_settings(server, setup_of(PlannedCell(plan.study, trial.cell)).settings)
            different |= {name: f"{name} {there} ({ours})" for name, ours, there in split.different}
            unknown |= dict(split.unknown)
    if different:
        listed = {"settings": ", ".join(different.values())}
        yield Caution.warning("attached-settings", **{**names, **listed})
    if unknown:
        listed = {"settings": ", ".join(unknown)}
        yield Caution.note("attached-unknown", **{**names, **listed})


def _unequal(plan: Plan, attached: Mapping[str, AttachedServer]) -> Iterator[Caution]:
    if len(attached) < len(plan.servers):
        own = ", ".join(level for level, _ in plan.servers if level not in attached)
        values = {"servers": ", ".join(attached), "own": own}
        yield Caution.warning("attached-against-own", **values)
    elif len({server.address for server in attached.values()}) > 1:
        values = {"servers": ", ".join(attached)}
        yield Caution.warning("attached-against-attached", **values)
    own_are_not = {False} if len(attached) < len(plan.servers) else set()
    if len({server.encrypted for server in attached.values()} | own_are_not) > 1:
        encrypted = ", ".join(level for level, server in attached.items() if server.encrypted)
        yield Caution.warning("attached-encrypted", servers=encrypted)
    checksums = {
        trial.cell.server: template.checksums
        for trial in plan.trials
        for template in trial.templates
    }
    if len(set(checksums.values())) > 1:
        there = ", ".join(level for level, on in checksums.items() if on)
        yield Caution.warning("attached-checksums", servers=there)


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


OWN_SERVERS = Bilingual(
    "Run it on a server that Teiten starts: --servers 18.",
    "Teitenが起動するサーバで実行する（例: --servers 18）。",
)
NEVER = {
    Need.START: Bilingual(
        "it needs a server that has just been started, and Teiten does not restart this one",
        "起動直後のサーバが必要であり、Teitenはこのサーバを再起動しない",
    ),
    Need.INITDB: Bilingual(
        "it needs a cluster of its own, by initdb", "initdbで作成した専用のクラスタが必要である"
    ),
    Need.MEMORY: Bilingual(
        "it needs a known amount of memory for server and page cache together, and Teiten cannot"
        " limit that of this server",
        "サーバとページキャッシュを合わせたメモリ量が既知である必要があり、"
        "Teitenはこのサーバのメモリを制限できない",
    ),
    Need.CACHES: Bilingual(
        "it needs an empty page cache, and Teiten does not drop that of this server's machine",
        "ページキャッシュが空である必要があり、Teitenはこのサーバのマシンのキャッシュを破棄しない",
    ),
    Need.CONFIGURATION: Bilingual(
        "it sets parameters of the whole server, and Teiten leaves those of this one alone",
        "サーバ全体のパラメータを変更する必要があり、Teitenはこのサーバの設定を変更しない",
    ),
}
"""Needs that no attached server meets, whatever role one has there."""


def lacks_of(level: str, server: AttachedServer) -> Mapping[Need, Lack]:
    """``level``: the server's name in the study."""
    lacks = {need: Lack(why, OWN_SERVERS) for need, why in NEVER.items()}
    if not server.can_checkpoint:
        lacks[Need.CHECKPOINT] = Lack(
            Bilingual(
                f"it needs CHECKPOINT, for which the role {server.role} has no right",
                f"CHECKPOINTの実行が必要であり、ロール{server.role}にはその権限がない",
            ),
            Bilingual(
                f"GRANT pg_checkpoint TO {server.role} on {level} (15 and later), or name a"
                " superuser in the address.",
                f"{level}でGRANT pg_checkpoint TO {server.role}（15以降）を実行するか、"
                "スーパーユーザを指定する。",
            ),
        )
    if not server.can_prewarm:
        lacks[Need.PREWARM] = _extension(level, server, "pg_prewarm")
    if not server.sees_buffers:
        lacks[Need.BUFFERS] = _extension(level, server, "pg_buffercache")
    return lacks


def _extension(level: str, server: AttachedServer, name: str) -> Lack:
    if server.superuser:
        return Lack(
            Bilingual(
                f"it needs {name}, which is not installed there",
                f"{name}が必要であり、そのサーバにはインストールされていない",
            ),
            Bilingual(
                f"Install the contrib modules of PostgreSQL on the machine of {level}"
                " (postgresql-contrib).",
                f"{level}のマシンにPostgreSQLのcontribモジュール"
                "（postgresql-contrib）をインストールする。",
            ),
        )
    return Lack(
        Bilingual(
            f"it needs {name}, which the role {server.role} may not create",
            f"{name}が必要であり、ロール{server.role}には作成する権限がない",
        ),
        Bilingual(
            f"Name a superuser of {level} in the address; the extension is made in Teiten's own"
            " database alone.",
            f"{level}のスーパーユーザを接続先に指定する。"
            "拡張はTeiten自身のデータベースだけに作成する。",
        ),
    )
