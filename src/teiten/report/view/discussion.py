"""Discussion of the results together: form of curves, where sides part, what the machine did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.model.discussion import Course, MeanApart, Parting, ProcessorUse, SignCount
from teiten.analysis.model.per_transaction import PerTransaction
from teiten.kinds.contract_present import present_in
from teiten.model.metrics import Metric
from teiten.model.stacks import CostChange
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Details, Further, Heading, Section, Text, Unfolded
from teiten.report.effects import plain_percent
from teiten.report.names import Context
from teiten.report.numbers import decimals_for, fixed, significant
from teiten.report.view.kit import Kit
from teiten.report.view.root_cause import taken_label, taken_unit

MOST_SENTENCES = 3
"""Sentences of a workload in the body; the appendix has the others."""
MOST_LEVELS = 4
"""More levels are counted."""
MOST_THINGS = 5
"""Things that differ per transaction; more are counted, and stand in the tables."""
MANY_PAIRS = 3
"""So many pairs of sides: what was counted meanwhile opens at a click, and is told more shortly."""
FEW_THINGS = 2
"""Things that differ per transaction, of each of many pairs."""


def discussion(kit: Kit) -> Section:
    """Empty where there is nothing to say."""
    title = kit.t("section.discussion")
    if not kit.study.conclusive:
        said = kit.t("discussion.withheld", profile=kit.study.profile)
        return Section("discussion", title, (Text(said),))
    shown: list[Block] = []
    for name in kit.workloads_measured():
        told, rest = _shortened([one for one in _of_workload(kit, name) if one])
        further = (*rest, *_machine(kit, name))
        if told or further:
            shown += [Heading(3, kit.names.workload(name), part=True), *told]
            shown += [Further(further)] if further else []
    if shown:
        reserve = [] if kit.study.replicates else [kit.t("discussion.quick-look")]
        said = joined_sentences((*reserve, kit.t("discussion.note")))
        shown.insert(0, Text(said, "note"))
    return Section("discussion", title, tuple(shown))


def _shortened(
    found: Sequence[tuple[str, ...]],
) -> tuple[tuple[Text, ...], tuple[Text, ...]]:
    """The first sentence of each paragraph, up to three, and the paragraphs of the others; an empty
    first sentence says that nothing in its paragraph matters."""
    relevant = [sentences for sentences in found if sentences[0]][:MOST_SENTENCES]
    first = joined_sentences(sentences[0] for sentences in relevant)
    others = (sentences[sentences in relevant :] for sentences in found)
    rest = tuple(Text(joined_sentences(sentences)) for sentences in others if any(sentences))
    return (Text(first),) if first else (), rest


def _of_workload(kit: Kit, name: str) -> Iterator[tuple[str, ...]]:
    yield from present_in(kit, name).discussed(kit, name)
    found = kit.analysis.discussion
    yield tuple(_parting(kit, parting) for parting in found.partings if parting.workload == name)
    yield tuple(_all_counted(kit, [tally for tally in found.tallies if tally.workload == name]))
    yield tuple(_mean_apart(kit, mean) for mean in found.means if mean.workload == name)
    yield from present_in(kit, name).discussed_after(kit, name)


def told_contrast(kit: Kit, workload: str, old: str, new: str) -> bool:
    """Whether the verdict of two sides is given: what has none is not discussed."""
    return (old, new) in _sides_told(kit, workload)


def _sides_told(kit: Kit, workload: str) -> list[tuple[str, str]]:
    judged = [
        contrast
        for contrast in kit.analysis.contrasts
        if contrast.workload == workload and contrast.metric.judged and contrast.overall.is_given
    ]
    return list(dict.fromkeys((one.old, one.new) for one in judged))


def levels_text(kit: Kit, contexts: Sequence[Context], compared: int) -> str:
    """``4 clients, 16 clients``, or that it is all of those compared."""
    if len(contexts) == compared > 1:
        return kit.t("discussion.every", count=compared)
    listed = (level_text(kit, context) for context in contexts[:MOST_LEVELS])
    shown = kit.t("list.separator").join(listed)
    more = len(contexts) - MOST_LEVELS
    return kit.t("discussion.and-more", levels=shown, count=more) if more > 0 else shown


def level_text(kit: Kit, context: Context) -> str:
    """A level by what varies: factors of a single level are told in the design."""
    if context in kit.names.told:
        return kit.names.context(context)
    varied = tuple(pair for pair in context if pair[0] not in kit.names.single)
    return kit.names.context(varied or context)


def side_text(kit: Kit, level: str) -> str:
    """A side in a sentence; a bare number has its factor's name, not to be read as a count."""
    side = kit.names.side(level)
    return side.long if side.short.isdecimal() and not kit.names.is_server else side.short


def sides_text(kit: Kit, levels: Iterable[str]) -> str:
    return kit.t("list.separator").join(side_text(kit, level) for level in levels)


# --- where the sides part --------------------------------------------------------------------


def _parting(kit: Kit, one: Parting) -> str:
    def at(level: str) -> str:
        return kit.names.context(((one.axis, level),))

    def every(levels: Iterable[str]) -> str:
        return kit.t("list.separator").join(map(at, levels))

    values = {
        **_contrasted(kit, one.metric, one.old, one.new),
        "count": str(len(one.compared)),
        "first": at(one.compared[0]),
        "last": at(one.compared[-1]),
    }
    if one.apart:
        first = one.compared.index(one.apart[0])
        rest = [level for level in one.compared[first:] if level not in one.apart]
        values |= {
            "apart": at(one.apart[0]),
            "rest": every(rest),
            "higher": every(one.higher),
            "lower": every(one.lower),
            "direction": values["above" if one.higher else "below"],
        }
    course = one.course.value
    if one.course is Course.PARTED and len(one.apart) == 1:
        course = "at-last"
    if one.course is Course.CROSSED:
        course = f"crossed-{_scale(one.metric)}"
    said = kit.t(f"discussion.sides.{course}", **values)
    varied = tuple(pair for pair in one.others if pair[0] not in kit.names.single)
    if not varied:
        return said
    return kit.t("discussion.at", level=kit.names.context(varied), said=said)


def _all_counted(kit: Kit, tallies: Sequence[SignCount]) -> Iterator[str]:
    """Sides of which the same is to be said share a sentence."""
    alike: dict[SignCount, list[str]] = {}
    for one in tallies:
        alike.setdefault(replace(one, new=""), []).append(one.new)
    for one, sides in alike.items():
        yield _counted(kit, one, sides)


def _counted(kit: Kit, one: SignCount, sides: Sequence[str]) -> str:
    key = "discussion.counted" if one.higher or one.lower else "discussion.counted-none"
    values = _contrasted(kit, one.metric, one.old, sides[0])
    return kit.t(
        key if len(sides) == 1 else f"{key}-several",
        **values | {"new": sides_text(kit, sides)},
        parts=kit.t("list.separator").join(_counts(kit, one)),
        count=one.compared,
    )


def _counts(kit: Kit, one: SignCount) -> Iterator[str]:
    """At how many levels the metric is higher, lower, and neither; nothing of no level."""
    scale, rest = _scale(one.metric), one.compared - one.higher - one.lower
    counts = ((f"above-{scale}", one.higher), (f"below-{scale}", one.lower), ("rest", rest))
    told = [(part, count) for part, count in counts if count]
    for part, count in told:
        last = "last-" if part == told[-1][0] else ""
        yield kit.t(f"discussion.counted-part.{last}{part}", count=count)


def _mean_apart(kit: Kit, one: MeanApart) -> str:
    values = _contrasted(kit, one.metric, one.old, one.new)
    direction = values["above" if one.higher else "below"]
    return kit.t("discussion.mean-apart", direction=direction, **values)


def _contrasted(kit: Kit, metric: Metric, old: str, new: str) -> dict[str, str]:
    """``above`` and ``below``: how more and less of the metric is called."""
    scale = _scale(metric)
    return {
        "old": side_text(kit, old),
        "new": side_text(kit, new),
        "metric": kit.t.either(f"metric.{metric.name}", metric.name),
        "above": kit.t(f"discussion.above.{scale}"),
        "below": kit.t(f"discussion.below.{scale}"),
    }


def _scale(metric: Metric) -> str:
    return "time" if metric.unit == "s" else "number"


# --- what the machine did meanwhile ----------------------------------------------------------


@dataclass(frozen=True)
class _Seen:
    """A thing that was compared at one level."""

    label: str
    context: Context
    old: float
    new: float
    change: CostChange
    unit: str
    points: bool = False
    """In percentage points, with a decimal more than its interval needs not to be rounded off."""

    def text(self, value: float) -> str:
        if not self.points:
            return significant(value)
        low, high = self.change.low or 0.0, self.change.high or 0.0
        return fixed(value, max(1, decimals_for((high - low) / 2)))

    def tells(self, delta: float) -> bool:
        """Whether the difference is one that matters, and that can be seen in what is printed."""
        return self.size >= delta and self.text(self.old) != self.text(self.new)

    @property
    def size(self) -> float:
        """How great the difference is, by the greater of both sides."""
        return abs(self.change.difference) / (max(abs(self.old), abs(self.new)) or 1.0)


@dataclass(frozen=True)
class _Meanwhile:
    """Processor states and things taken per transaction, as counted for a pair of sides."""

    old: str
    new: str
    states: tuple[_Seen, ...]
    taken: tuple[_Seen, ...]

    @property
    def compared(self) -> tuple[_Seen, ...]:
        return (*self.states, *self.taken)

    @property
    def bounded(self) -> int:
        """How many have an interval."""
        return sum(one.change.low is not None for one in self.compared)

    @property
    def differ(self) -> list[_Seen]:
        return [one for one in self.compared if one.change.certain]


def _machine(kit: Kit, workload: str) -> Iterator[Block]:
    """A paragraph for each pair of sides that differ; the pairs that do not share one."""
    pairs = [
        _Meanwhile(
            old,
            new,
            tuple(_states(kit, workload, old, new)),
            tuple(_taken(kit, workload, old, new)),
        )
        for old, new in _sides_told(kit, workload)
    ]
    many = len(pairs) >= MANY_PAIRS
    told = [
        joined_sentences(_differing(kit, pair, FEW_THINGS if many else MOST_THINGS))
        for pair in pairs
        if pair.differ
    ]
    if any(one.tells(kit.study.measure.delta) for pair in pairs for one in pair.differ):
        no_cause = kit.t("discussion.meanwhile.no-cause")
        told = [*told, no_cause] if many else [joined_sentences((*told, no_cause))]
    paragraphs = tuple(map(Text, told))
    if many and paragraphs:
        title = kit.t("discussion.meanwhile.title", old=side_text(kit, pairs[0].old))
        yield Details(title, paragraphs, Unfolded.UNTITLED, "folded")
    else:
        yield from paragraphs
    alike = [pair for pair in pairs if pair.bounded and not pair.differ]
    if alike:
        yield Text(_nothing(kit, alike))


def _nothing(kit: Kit, alike: Sequence[_Meanwhile]) -> str:
    key = "nothing" if len(alike) == 1 else "nothing-several"
    return kit.t(
        f"discussion.meanwhile.{key}",
        old=side_text(kit, alike[0].old),
        new=sides_text(kit, (one.new for one in alike)),
        count=sum(one.bounded for one in alike),
    )


def _differing(kit: Kit, pair: _Meanwhile, most: int) -> Iterator[str]:
    differ = pair.differ
    values = {"old": side_text(kit, pair.old), "new": side_text(kit, pair.new)}
    delta = kit.study.measure.delta
    listed = [one for one in differ if one.tells(delta)]
    for kind, found in (("processors", pair.states), ("transaction", pair.taken)):
        for direction, sign in (("more", 1), ("less", -1)):
            those = [one for one in found if one in listed and one.change.difference * sign > 0]
            if those:
                things = _things(kit, those, found, most)
                yield kit.t(f"discussion.meanwhile.{kind}-{direction}", things=things, **values)
    tiny = len(differ) - len(listed)
    if tiny:
        values["delta"] = plain_percent(kit.t, delta)
        yield kit.t.plural("discussion.meanwhile.tiny", tiny, **values)


def _states(kit: Kit, workload: str, old: str, new: str) -> Iterator[_Seen]:
    def mine(one: ProcessorUse) -> bool:
        return (one.workload, one.old, one.new) == (workload, old, new)

    for use in filter(mine, kit.analysis.discussion.processors):
        for one in use.levels:
            change = _in_unit(one.change, 100)
            label = kit.t(f"cpu.{one.state}")
            unit = kit.t("unit.percent", value="").strip("\u00a0")
            yield _Seen(label, one.context, one.old * 100, one.new * 100, change, unit, points=True)


def _taken(kit: Kit, workload: str, old: str, new: str) -> Iterator[_Seen]:
    def mine(one: PerTransaction) -> bool:
        return (one.workload, one.old, one.new) == (workload, old, new)

    for table in filter(mine, kit.analysis.per_transaction):
        for row in table.rows:
            unit, factor = taken_unit(kit, row)
            change = _in_unit(row.change, factor)
            label = taken_label(kit, row)
            yield _Seen(label, table.context, row.old * factor, row.new * factor, change, unit)


def _in_unit(change: CostChange, factor: float) -> CostChange:
    return CostChange(
        change.difference * factor,
        None if change.low is None else change.low * factor,
        None if change.high is None else change.high * factor,
    )


def _things(kit: Kit, those: Sequence[_Seen], compared: Sequence[_Seen], most: int) -> str:
    """Each with its levels and the level at which it differs most; those of most levels first."""
    by_label: dict[str, list[_Seen]] = {}
    for one in those:
        by_label.setdefault(one.label, []).append(one)
    ranked = sorted(by_label.values(), key=lambda found: (-len(found), -max(s.size for s in found)))
    shown = [
        _thing(kit, found, sum(one.label == found[0].label for one in compared))
        for found in ranked[:most]
    ]
    listed = kit.t("list.strong").join(shown)
    more = len(ranked) - most
    return kit.t.plural("discussion.further", more, things=listed) if more > 0 else listed


def _thing(kit: Kit, found: Sequence[_Seen], compared: int) -> str:
    most = max(found, key=lambda one: one.size)
    values = {
        "label": most.label,
        "levels": levels_text(kit, [one.context for one in found], compared),
        "level": level_text(kit, most.context),
        "old_value": most.text(most.old),
        "new_value": most.text(most.new),
        "unit": kit.t("discussion.unit", unit=most.unit) if most.unit else "",
    }
    return kit.t(f"discussion.thing.{'one' if len(found) == 1 else 'many'}", **values)
