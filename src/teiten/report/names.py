"""Names of servers, factors, levels and workloads in a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from teiten.analysis.model.observations import without
from teiten.kinds.contract import plan_of, titles_of
from teiten.model.plan import Context, Plan
from teiten.model.study import GUC_PREFIX, SERVER
from teiten.report.texts import Texts

CORES = "cores"
MANY_SIDES = 4
"""So many levels that are contrasted make a curve, where nothing else is on the axis."""


@dataclass(frozen=True)
class Side:
    """A level of the contrasted factor."""

    level: str
    long: str
    """``PostgreSQL 18.4``, ``checksums = on``"""
    short: str
    """``18.4``, ``on``"""


class Names:
    """Names in one language for the things of one campaign."""

    def __init__(self, plan: Plan, t: Texts) -> None:
        self.t = t
        study = plan.study
        self.contrast = study.contrast
        self.emulates = any(storage_class.emulation is not None for storage_class in study.storage)
        """Some of the storages on which files are placed are no devices of this machine."""
        self.is_server = study.contrast == SERVER
        versions = {str(server.version) for _, server in plan.servers}
        self.by_version = self.is_server and len(versions) > 1
        self.ratio = t("table.ratio" if self.by_version else "table.ratio-sides")
        self.configured = self.is_server and bool(study.server_levels)
        self.workload_titles = {workload.name: t.of(workload.title) for workload in study.workloads}
        kinds = [plan_of(name) for name in sorted({workload.kind for workload in study.workloads})]
        self.axes = [kind.axis for kind in kinds if kind.axis is not None]
        self.own_factors = {kind.own_factor for kind in kinds if kind.own_factor is not None}
        titles = titles_of(study.workloads)
        self.titles = {level: t.of(title) for level, title in titles.items()}
        self.told = _told(plan)
        self.of_one_start = plan.is_of_one_start
        self.single = {factor.name for factor in study.factors if len(factor.levels) == 1}
        self.sides = {side.level: side for side in _sides(study.contrasted_levels, plan, self)}
        self.servers = {
            level: Side(level, f"PostgreSQL {server.version}", str(server.version))
            for level, server in plan.servers
        }
        self.contrast_on_axis = f"counted.{study.contrast}.side" in t or (
            study.contrast != SERVER
            and len(study.contrasted_levels) >= MANY_SIDES
            and bool(self.axes)
            and self.single.issuperset(self.axes)
        )
        """Its levels are places on the axis of a chart by level, and its sides are the servers."""
        self.orders = {
            factor.name: {text: at for at, text in enumerate(factor.levels)}
            for factor in study.factors
        }

    def workload(self, name: str) -> str:
        return self.workload_titles.get(name, name)

    def workload_in_sentence(self, name: str) -> str:
        """``range read`` of the title ``Range read``; ``TPC-B like`` stays as it is."""
        title = self.workload(name)
        begins_a_word = title[:1].isupper() and title[1:2].islower()
        is_a_name = any(word[:1].isupper() for word in title.split()[1:])
        return title[:1].lower() + title[1:] if begins_a_word and not is_a_name else title

    def factor(self, name: str) -> str:
        if name.startswith(GUC_PREFIX):
            return name.removeprefix(GUC_PREFIX)
        if self.emulates and f"emulated.factor.{name}" in self.t:
            return self.t(f"emulated.factor.{name}")
        return self.t.either(f"factor.{name}", name)

    def side(self, level: str) -> Side:
        return self.sides.get(level) or Side(level, level, level)

    def server(self, level: str) -> Side:
        """A level of the factor server, whether that is what is contrasted or not."""
        known = self.sides if self.is_server else self.servers
        return known.get(level) or Side(level, level, level)

    def titled(self, level: str) -> str:
        """A side by its study's title, if any; a bare number, no count, with its factor's name."""
        side = self.side(level)
        is_bare = side.short.isdecimal() and not self.is_server
        return self.titles.get((self.contrast, level)) or (side.long if is_bare else side.short)

    def any_level(self, level: str) -> str:
        """A side, or a level of whichever factor has it."""
        if level in self.sides:
            return self.titled(level)
        named = (self.level(factor, level) for factor, at in self.orders.items() if level in at)
        return next(named, level)

    def listed(self, level: str) -> str:
        """A side where all of them are listed: with its settings, where it has some of its own."""
        side = self.side(level)
        return side.long if self.configured else side.short

    def context(self, context: Context) -> str:
        """``4 clients``, without what has a single level where more is left; ``all levels`` is the
        overall row's own text."""
        if not context:
            return self.t("level.single")
        context = self.told.get(context, context)
        dropped = self.single - {*self.axes, *self.own_factors}
        named = without(context, *dropped) or without(context, SERVER) or context
        return self.t("list.separator").join(self._level(name, level) for name, level in named)

    def varied_context(self, context: Context) -> str:
        """The context without what is the same in all of the campaign, where more is left."""
        return self.context(without(context, *self.single) or context)

    def varied_levels(self, context: Context, *elsewhere: str) -> str:
        """The levels of what varies, but for factors told elsewhere; empty where nothing does."""
        varied = without(context, *elsewhere, *self.single)
        return self.context(varied) if varied else ""

    def level(self, factor: str, level: str) -> str:
        """A level below the name of its factor."""
        known = self.servers.get(level) if factor == SERVER else None
        if known is not None:
            return known.short
        return self.titles.get((factor, level)) or self.t.either(f"level.{factor}.{level}", level)

    def _level(self, factor: str, level: str) -> str:
        if f"counted.{factor}.one" in self.t:
            number = "one" if level == "1" else "many"
            return self.t(f"counted.{factor}.{number}", count=level)
        if factor == SERVER and level in self.servers:
            return self.servers[level].long
        if factor in self.own_factors:
            return self.titles.get((factor, level), level)
        return self.t.either(f"level.{factor}.{level}", f"{self.factor(factor)} = {level}")

    def axis(self, context: Context) -> tuple[str, str]:
        """The labels of the axis (clients, if varied) and of the panel, without single levels."""
        axis_factor = self.axis_factor(context)
        varied = self.varied_levels(self.told.get(context, context), axis_factor or "")
        if axis_factor is None:
            return "", varied
        return self.level(axis_factor, dict(context).get(axis_factor, "")), varied

    def axis_factor(self, context: Context) -> str | None:
        factors = [name for name, _ in context]
        known = (axis for axis in self.axes if axis in factors)
        return next(known, factors[0] if factors else None)

    def varied(self, contexts: Sequence[Context]) -> tuple[str, ...]:
        """The factors that tell these contexts apart, for the columns of a table; of a single one
        what would be on its axis."""
        factors = dict.fromkeys(name for context in contexts for name, _ in context)
        levels = [dict(context) for context in contexts]
        several = tuple(name for name in factors if len({level.get(name) for level in levels}) > 1)
        axis = self.axis_factor(contexts[0]) if contexts and not several else None
        return (axis,) if axis else several

    def columns(self, contexts: Sequence[Context]) -> dict[str, str]:
        """The titles of columns by their factors: of those that tell these contexts apart."""
        return {factor: self.factor(factor) for factor in self.varied(contexts)}

    def order(self, context: Context) -> tuple[int, ...]:
        """A sort key that follows the study's order of levels."""
        return tuple(self.orders.get(name, {}).get(level, 0) for name, level in context)


def step_text(t: Texts, step: str) -> str:
    """A step of a method by the word for it, if there is one."""
    return t.either(f"step.{step}", step)


def _told(plan: Plan) -> dict[Context, Context]:
    """The contexts of workloads whose kind has a factor of its own, and the same without it: none
    is told with factors of which the workload has a single level, even if others have several."""
    shortened: dict[Context, Context] = {}
    for workload in plan.study.workloads:
        own = plan_of(workload.kind).own_factor
        if own is None:
            continue
        contexts = {
            trial.cell.context(plan.study.contrast)
            for trial in plan.trials
            if trial.cell.workload == workload.name
        }
        levels = Counter(factor for factor, _ in {pair for context in contexts for pair in context})
        for context in contexts:
            kept = tuple(pair for pair in context if levels[pair[0]] > 1 or pair[0] == own)
            shortened.setdefault(context, kept)
            shortened.setdefault(without(context, own), without(kept, own))
    return shortened


def _sides(levels: tuple[str, ...], plan: Plan, names: Names) -> list[Side]:
    if plan.study.contrast != SERVER:
        return [_of_factor(plan.study.contrast, level, names) for level in levels]
    if names.configured:
        return [_configured(level, plan, names) for level in levels]
    versions = {level: str(server.version) for level, server in plan.servers}
    texts = [versions.get(level, level) for level in levels]
    clear = len(set(texts)) == len(texts)
    return [
        Side(
            level,
            f"PostgreSQL {text}"
            if clear and level not in plan.servers_elsewhere
            else names.t.aside(f"PostgreSQL {text}", level),
            text if clear else level,
        )
        for level, text in zip(levels, texts, strict=True)
    ]


def _of_factor(factor: str, level: str, names: Names) -> Side:
    """``PostgreSQL with page checksums``, ``on``; of factors without texts ``jit = on``, ``on``."""
    t = names.t
    if f"counted.{factor}.side" in t:
        counted = names.context(((factor, level),))
        return Side(level, t(f"counted.{factor}.side", level=counted), counted)
    worded, key = names.level(factor, level), f"side-of.{factor}"
    called = t(key, level=worded) if key in t else f"{names.factor(factor)} = {level}"
    called = names.titles.get((factor, level), called)  # a title that the user gave
    long = t.either(f"side.{factor}.{level}", called)
    if names.emulates and f"emulated.side.{factor}" in t:
        long = t(f"emulated.side.{factor}", level=t.either(f"side.{factor}.{level}", worded))
    return Side(level, long, t.either(f"side.short.{factor}.{level}", worded))


def _configured(level: str, plan: Plan, names: Names) -> Side:
    """A side that is a server with settings of its own: ``B (PostgreSQL 18.4, jit = off)``."""
    version = next((server.version for name, server in plan.servers if name == level), level)
    own = dict(plan.study.server_levels).get(level, ())
    parts = (f"PostgreSQL {version}", *(f"{names.factor(key)} = {value}" for key, value in own))
    return Side(level, names.t.aside(level, names.t("list.separator").join(parts)), level)
