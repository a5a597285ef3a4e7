"""Part 6: the evidence: machine, cautions, settings, servers, trials, and how to repeat it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from teiten.model.facts import Caution, HostFacts, Severity
from teiten.model.plan import TemplateSpec
from teiten.model.progress import ALLOTTED, allotted_levels
from teiten.model.text import joined_sentences
from teiten.model.trial import Event
from teiten.report.blocks import (
    Block,
    Cautions,
    Code,
    Details,
    Downloads,
    Heading,
    Section,
    ShownCaution,
    Text,
    Unprinted,
    folded,
)
from teiten.report.effects import percent
from teiten.report.machine import machine_rows
from teiten.report.numbers import NOTHING, bytes_text, clock
from teiten.report.sites import client_rows, host_rows, origin_text
from teiten.report.tables import Column, Table, TableCell, cells, headings
from teiten.report.texts import caution_text
from teiten.report.view.kit import Kit
from teiten.report.view.repeat import repeat_blocks
from teiten.report.view.settings import settings_table
from teiten.report.view.trials import excluded_table, level_download, trial_download, trial_table
from teiten.report.view.variants import states_table, variant_rows

UNINTERESTING = frozenset(
    (
        *("step", "trial-started", "trial-finished", "caution"),
        *("server-facts", "noise-floor", "pairs-check", "saturation"),
    )
)
MOST_DETAIL = 300
"""Characters of what an event says: a log's hundreds of partitions would fill dozens of pages."""
MOST_EVENTS = 300


def evidence(kit: Kit) -> Section:
    """The last section."""
    t, analysis = kit.t, kit.analysis
    name = str(kit.study.file.name) if kit.study.file else f"{kit.study.name}.toml"
    source = (Code(kit.study.source_text, "toml"),)
    study = Details(t("repeat.study", name=name), source)
    trials = Downloads((trial_download(kit), level_download(kit)), trial_table(kit))
    shown: tuple[Block, ...] = (
        Heading(3, t("heading.cautions")),
        cautions(kit),
        Table(
            "environment",
            t("table.environment.caption"),
            headings(t, "table.what", "table.value"),
            tuple(cells(what, value) for what, value in environment_rows(kit) if value),
            sortable=False,
        ),
        *folded(states_table(kit)),
        *folded(_servers(kit)),
        *folded(settings_table(kit)),
        *folded(excluded_table(kit)),
        Unprinted(t("paper.trials"), (trials,)),
        Heading(3, t("heading.repeat")),
        Text(t("repeat.command")),
        Code(analysis.command, "sh"),
        Text(t("repeat.seed", seed=str(analysis.plan.seed)), "note"),
        *repeat_blocks(kit),
        *((Unprinted(t("paper.study"), (study,)),) if kit.study.source_text else ()),
        *folded(_fingerprints(kit)),
        Unprinted(t("paper.events"), folded(_events(kit))),
    )
    return Section("evidence", t("section.evidence"), shown, appendix=True)


def environment_rows(kit: Kit) -> list[tuple[str, str | None]]:
    """Facts of the servers' machine, and of the load generator's own: name, and value or None."""
    t, analysis = kit.t, kit.analysis
    return [
        *host_rows(kit),
        *_machine_rows(kit, analysis.facts, variant_rows(kit)),
        *client_rows(kit, _machine_rows),
        (
            t("fact.pgbench"),
            t.aside(str(analysis.plan.pgbench.version), analysis.plan.pgbench.source),
        ),
        (t("fact.teiten"), analysis.teiten_version),
    ]


def _machine_rows(
    kit: Kit, facts: HostFacts, variants: Iterable[tuple[str, str]] = ()
) -> list[tuple[str, str | None]]:
    """``variants``: what the study varies of the machine."""
    t = kit.t
    return [
        *machine_rows(t, facts),
        *variants,
        (t("fact.load"), None if facts.load_average is None else f"{facts.load_average:.2f}"),
        (t("fact.clock"), facts.clock_source),
    ]


def _servers(kit: Kit) -> Table | None:
    """Tabulate what each server says of itself, one column per server; None without facts."""
    facts = kit.analysis.server_facts
    if not facts:
        return None
    known = [level for level in kit.names.sides if level in facts]
    levels = [*known, *(level for level in facts if level not in known)]
    names = list(dict.fromkeys(name for of_server in facts.values() for name in of_server))
    columns = (
        *headings(kit.t, "table.what"),
        *(Column(kit.names.side(level).long) for level in levels),
    )
    rows = []
    for name in names:
        values = [facts[level].get(name) for level in levels]
        differ = len({json.dumps(value, sort_keys=True, default=str) for value in values}) > 1
        shown = (TableCell(_value_text(value), kind="differs" * differ) for value in values)
        rows.append(cells(kit.t.either(f"server-fact.{name}", name), *shown))
    return Table("servers", kit.t("table.servers.caption"), columns, tuple(rows), sortable=False)


def _value_text(value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, dict):
        return "\n".join(f"{key} = {_flat(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(_flat(item) for item in value)
    return str(value)


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and "setting" in value:
        return str(value["setting"])
    return json.dumps(value, ensure_ascii=False, default=str)


def _template(kit: Kit, spec: TemplateSpec) -> str:
    """Tell what a template holds as filled, in the words of its data set where it has such."""
    t, data = kit.t, spec.data
    own = f"fingerprint.template.{data.kind}"
    return t(
        own if data.layout is None and own in t else "fingerprint.template-data",
        version=spec.installation.version,
        checksums=t("word.on" if spec.checksums else "word.off"),
        data=str(data),
        scale=data.scale or NOTHING,
        **data.options.told,
    )


def _fingerprints(kit: Kit) -> Table:
    t, plan = kit.t, kit.analysis.plan
    columns = headings(t, "table.what", "table.fingerprint", "table.source")
    known = [
        (
            kit.names.side(level).long if kit.names.is_server else str(server.version),
            server.fingerprint,
            origin_text(server),
        )
        for level, server in plan.servers
    ]
    known += [
        (_template(kit, template), template.fingerprint, bytes_text(template.expected_bytes))
        for template in plan.templates
    ]
    rows = tuple(cells(what, TableCell(code, kind="code"), source) for what, code, source in known)
    return Table("fingerprints", t("table.fingerprints.caption"), columns, rows, sortable=False)


def _events(kit: Kit) -> Table | None:
    t = kit.t
    events = [event for event in kit.analysis.events if event.kind not in UNINTERESTING]
    if not events:
        return None
    columns = (
        *headings(t, "table.time", "table.event"),
        *headings(t, "table.trial", numeric=True),
        *headings(t, "table.detail"),
    )
    details = [_detail(kit, event) for event in events[:MOST_EVENTS]]
    rows = tuple(
        cells(
            TableCell(clock(event.at), event.at),
            t.either(f"event.{event.kind}", event.kind),
            TableCell("" if event.trial is None else str(event.trial), event.trial),
            detail if len(detail) <= MOST_DETAIL else f"{detail[:MOST_DETAIL]} …",
        )
        for event, detail in zip(events, details, strict=False)
    )
    notes = []
    if len(events) > MOST_EVENTS:
        notes.append(t("table.events.more", count=len(events) - MOST_EVENTS))
    if any(len(detail) > MOST_DETAIL for detail in details):
        notes.append(t("table.events.cut"))
    return Table(
        "events",
        t("table.events.caption"),
        columns,
        rows,
        note=joined_sentences(notes),
        tall=len(rows) > 20,
    )


def _detail(kit: Kit, event: Event) -> str:
    detail = dict(event.detail)
    levels = allotted_levels(event) if event.kind == ALLOTTED else None
    if levels is not None:
        names = (
            f"{kit.names.workload(of)} {kit.names.context(at)}".strip() for of, at in sorted(levels)
        )
        detail["levels"] = "; ".join(names)
    return ", ".join(
        f"{key} {_flat(value)}" for key, value in detail.items() if value not in ("", None)
    )


MEASURED = {
    "other-load": "cpu_other_share",
    "few-cores": "pgbench_cpu_share",
    "shared-cores": "pgbench_cpu_share",
    "virtual-machine": "cpu_steal_share",
}
"""Code of a caution, and the metric by which the trials tell how much of it came true."""
LEAST_SHARE = 0.001
"""Shares of the CPU that print as 0 are told as less than this one."""


def cautions(kit: Kit) -> Cautions | Text:
    """All of them, warnings first."""
    if not kit.analysis.cautions:
        return Text(kit.t("page.no-cautions"))
    shown = []
    for caution in kit.analysis.cautions:
        what, advice = caution_text(caution, kit.t.language)
        if measured := _measured(kit, caution):
            advice = kit.t("caution-measured.beside", advice=advice, measured=measured)
        severity = caution.severity.value
        shown.append(ShownCaution(severity, kit.t(f"severity.{severity}"), what, advice))
    warning = Severity.WARNING.value
    return Cautions(tuple(sorted(shown, key=lambda caution: caution.severity != warning)))


def _measured(kit: Kit, caution: Caution) -> str:
    """Empty where the trials do not tell."""
    metric = MEASURED.get(caution.code)
    shares = kit.shares(metric) if metric else []
    if not shares:
        return ""
    none, bound, least, most = (
        percent(kit.t, share, 1) for share in (0.0, LEAST_SHARE, min(shares), max(shares))
    )
    if least != most:
        return kit.t(f"caution-measured.{metric}", least=least, most=most)
    if most == none:
        return kit.t(f"caution-measured.below.{metric}", bound=bound)
    return kit.t(f"caution-measured.alone.{metric}", share=most)
