"""Discussion of the results together: form of curves, where sides part, what the machine did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from teiten.analysis.model.discussion import Course, Parting, SignCount
from teiten.analysis.model.verdict import Estimate
from teiten.kinds.contract_present import present_in
from teiten.model.metrics import Metric
from teiten.model.plan import Context
from teiten.model.text import joined_sentences
from teiten.report.blocks import Block, Details, Further, Heading, Section, Text, Unfolded
from teiten.report.effects import plain_percent
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
        withheld = Text(kit.t("discussion.withheld", profile=kit.study.profile))
        return Section("discussion", title, (withheld,))
    shown: list[Block] = []
    for name in kit.workloads_measured():
        body, rest = _shortened([sentences for sentences in _of_workload(kit, name) if sentences])
        further = (*rest, *_machine(kit, name))
        if body or further:
            shown += [Heading(3, kit.names.workload(name), part=True), *body]
            shown += [Further(further)] if further else []
    if shown:
        reserve = [] if kit.study.replicates else [kit.t("discussion.quick-look")]
        note = Text(joined_sentences((*reserve, kit.t("discussion.note"))), "note")
        in_body = any(isinstance(block, Text) for block in shown)
        shown.insert(0, note if in_body else Further((note,)))
    return Section("discussion", title, tuple(shown))


def _shortened(
    paragraphs: Sequence[tuple[str, ...]],
) -> tuple[tuple[Text, ...], tuple[Text, ...]]:
    """The first sentence of each paragraph, up to three, and the paragraphs of the others; an empty
    first sentence says that nothing in its paragraph matters."""
    relevant = [sentences for sentences in paragraphs if sentences[0]][:MOST_SENTENCES]
    first = joined_sentences(sentences[0] for sentences in relevant)
    others = (sentences[sentences in relevant :] for sentences in paragraphs)
    rest = tuple(Text(joined_sentences(sentences)) for sentences in others if any(sentences))
    return (Text(first),) if first else (), rest


def _of_workload(kit: Kit, name: str) -> Iterator[tuple[str, ...]]:
    yield from present_in(kit, name).discussed(kit, name)
    decisions = kit.analysis.discussion
    yield tuple(
        _parting(kit, parting) for parting in decisions.partings if parting.workload == name
    )
    alike: dict[SignCount, list[str]] = {}  # sides of which the same is said share a sentence
    for tally in decisions.tallies:
        if tally.workload == name:
            alike.setdefault(replace(tally, new=""), []).append(tally.new)
    yield tuple(_counted(kit, like_all, sides) for like_all, sides in alike.items())
    apart = []
    for mean in decisions.means:
        if mean.workload == name:
            values = _contrasted(kit, mean.metric, mean.old, mean.new)
            direction = values["above" if mean.higher else "below"]
            apart.append(kit.t("discussion.mean-apart", direction=direction, **values))
    yield tuple(apart)
    yield from present_in(kit, name).discussed_after(kit, name)


def sides_told(kit: Kit, workload: str) -> list[tuple[str, str]]:
    """Two sides each, old and new, whose verdict is given: what has none is not discussed."""
    judged = [
        contrast
        for contrast in kit.analysis.contrasts
        if contrast.workload == workload and contrast.metric.judged and contrast.overall.is_given
    ]
    return list(dict.fromkeys((contrast.old, contrast.new) for contrast in judged))


def levels_text(kit: Kit, contexts: Sequence[Context], compared: int) -> str:
    """``4 clients, 16 clients``, or that it is all of those compared."""
    if len(contexts) == compared > 1:
        return kit.t("discussion.both" if compared == 2 else "discussion.every", count=compared)
    listed = (level_text(kit, context) for context in contexts[:MOST_LEVELS])
    shown = kit.t.listed(listed)
    more = len(contexts) - MOST_LEVELS
    return kit.t("discussion.and-more", levels=shown, count=more) if more > 0 else shown


def level_text(kit: Kit, context: Context) -> str:
    """A level by what varies: factors of a single level are told in the design."""
    if context in kit.names.told:
        return kit.names.context(context)
    return kit.names.varied_context(context)


def sides_text(kit: Kit, levels: Iterable[str]) -> str:
    return kit.t.listed(map(kit.names.titled, levels))


# --- where the sides part --------------------------------------------------------------------


def _parting(kit: Kit, parting: Parting) -> str:
    def every(*levels: str) -> str:
        contexts = (((parting.axis, level),) for level in levels)
        return kit.t("list.separator").join(map(kit.names.context, contexts))

    values = {
        **_contrasted(kit, parting.metric, parting.old, parting.new),
        "count": str(len(parting.compared)),
        "first": every(parting.compared[0]),
        "last": every(parting.compared[-1]),
    }
    if parting.apart:
        first = parting.compared.index(parting.apart[0])
        rest = (level for level in parting.compared[first:] if level not in parting.apart)
        values |= {
            "apart": every(parting.apart[0]),
            "rest": every(*rest),
            "higher": every(*parting.higher),
            "lower": every(*parting.lower),
            "direction": values["above" if parting.higher else "below"],
        }
    course = parting.course.value
    if parting.course is Course.PARTED and len(parting.apart) == 1:
        course = "at-last"
    if parting.course is Course.CROSSED:
        course = f"crossed-{_scale(parting.metric)}"
    text = kit.t(f"discussion.sides.{course}", **values)
    level = kit.names.varied_levels(parting.others)
    return kit.t("discussion.at", level=level, said=text) if level else text


def _counted(kit: Kit, tally: SignCount, sides: Sequence[str]) -> str:
    key = "discussion.counted" if tally.higher or tally.lower else "discussion.counted-none"
    values = _contrasted(kit, tally.metric, tally.old, sides[0])
    return kit.t(
        key if len(sides) == 1 else f"{key}-several",
        **values | {"new": sides_text(kit, sides)},
        parts=kit.t("list.separator").join(_counts(kit, tally)),
        count=tally.compared,
    )


def _counts(kit: Kit, tally: SignCount) -> Iterator[str]:
    """At how many levels the metric is higher, lower, and neither; nothing of no level."""
    scale, rest = _scale(tally.metric), tally.compared - tally.higher - tally.lower
    counts = ((f"above-{scale}", tally.higher), (f"below-{scale}", tally.lower), ("rest", rest))
    counted = [(part, count) for part, count in counts if count]
    for part, count in counted:
        last = "last-" if part == counted[-1][0] else ""
        place = "all-" if part != "rest" and count == tally.compared > 1 else last
        yield kit.t(f"discussion.counted-part.{place}{part}", count=count)


def _contrasted(kit: Kit, metric: Metric, old: str, new: str) -> dict[str, str]:
    """``above`` and ``below``: how more and less of the metric is called."""
    scale = _scale(metric)
    return {
        "old": kit.names.titled(old),
        "new": kit.names.titled(new),
        "metric": kit.t.metric(metric),
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
    change: Estimate
    unit: str
    points: bool = False
    """In percentage points, with a decimal more than its interval needs not to be rounded off."""

    def text(self, value: float) -> str:
        if not self.points:
            return significant(value)
        return fixed(value, max(1, decimals_for(self.change.half_width)))

    def tells(self, delta: float) -> bool:
        """Whether the difference is one that matters, and that can be seen in what is printed."""
        return self.size >= delta and self.text(self.old) != self.text(self.new)

    @property
    def size(self) -> float:
        """How great the difference is, by the greater of both sides."""
        return abs(self.change.mean) / (max(abs(self.old), abs(self.new)) or 1.0)


@dataclass(frozen=True)
class _Meanwhile:
    """Processor states and things taken per transaction, as counted for a pair of sides."""

    old: str
    new: str
    states: list[_Seen]
    taken: list[_Seen]

    @property
    def compared(self) -> tuple[_Seen, ...]:
        return (*self.states, *self.taken)

    @property
    def bounded(self) -> int:
        """How many have an interval."""
        return sum(thing.change.low is not None for thing in self.compared)

    @property
    def differ(self) -> list[_Seen]:
        return [thing for thing in self.compared if thing.change.certain]


def _machine(kit: Kit, workload: str) -> Iterator[Block]:
    """A paragraph for each pair of sides that differ; the pairs that do not share one."""
    pairs = [
        _Meanwhile(*sides, [*_states(kit, workload, *sides)], [*_taken(kit, workload, *sides)])
        for sides in sides_told(kit, workload)
    ]
    many = len(pairs) >= MANY_PAIRS
    most = FEW_THINGS if many else MOST_THINGS
    texts = [joined_sentences(_differing(kit, pair, most)) for pair in pairs if pair.differ]
    if any(thing.tells(kit.study.measure.delta) for pair in pairs for thing in pair.differ):
        no_cause = kit.t("discussion.meanwhile.no-cause")
        texts = [*texts, no_cause] if many else [joined_sentences((*texts, no_cause))]
    paragraphs = tuple(map(Text, texts))
    if many and paragraphs:
        title = kit.t("discussion.meanwhile.title", old=kit.names.titled(pairs[0].old))
        yield Details(title, paragraphs, Unfolded.UNTITLED, "folded")
    else:
        yield from paragraphs
    alike = [pair for pair in pairs if pair.bounded and not pair.differ]
    if alike:
        key = "nothing" if len(alike) == 1 else "nothing-several"
        text = kit.t(
            f"discussion.meanwhile.{key}",
            old=kit.names.titled(alike[0].old),
            new=sides_text(kit, (pair.new for pair in alike)),
            count=sum(pair.bounded for pair in alike),
        )
        yield Text(text)


def _differing(kit: Kit, pair: _Meanwhile, most: int) -> Iterator[str]:
    values = {"old": kit.names.titled(pair.old), "new": kit.names.titled(pair.new)}
    delta = kit.study.measure.delta
    listed = [thing for thing in pair.differ if thing.tells(delta)]
    for kind, compared in (("processors", pair.states), ("transaction", pair.taken)):
        for direction, sign in (("more", 1), ("less", -1)):
            of_kind = (thing for thing in listed if thing in compared)
            moved = [thing for thing in of_kind if thing.change.mean * sign > 0]
            if moved:
                things = _things(kit, moved, compared, most)
                yield kit.t(f"discussion.meanwhile.{kind}-{direction}", things=things, **values)
    tiny = len(pair.differ) - len(listed)
    if tiny:
        values["delta"] = plain_percent(kit.t, delta)
        yield kit.t.plural("discussion.meanwhile.tiny", tiny, **values)


def _states(kit: Kit, *contrast: str) -> Iterator[_Seen]:
    """``contrast``: workload, old and new side."""
    unit = kit.t("unit.percent", value="").strip("\u00a0")
    for use in kit.analysis.discussion.processors:
        for level in use.levels if use.key == contrast else ():
            label, change = kit.t(f"cpu.{level.state}"), level.change.scaled(100)
            shares = (level.old * 100, level.new * 100)
            yield _Seen(label, level.context, *shares, change, unit, points=True)


def _taken(kit: Kit, *contrast: str) -> Iterator[_Seen]:
    for table in kit.analysis.per_transaction:
        for row in table.rows if table.key == contrast else ():
            unit, factor = taken_unit(kit, row)
            change, label = row.change.scaled(factor), taken_label(kit, row)
            yield _Seen(label, table.context, row.old * factor, row.new * factor, change, unit)


def _things(kit: Kit, moved: Sequence[_Seen], compared: Sequence[_Seen], most: int) -> str:
    """Each with its levels and the level at which it differs most; those of most levels first."""
    by_label: dict[str, list[_Seen]] = {}
    for thing in moved:
        by_label.setdefault(thing.label, []).append(thing)
    ranked = sorted(by_label.values(), key=lambda same: (-len(same), -max(s.size for s in same)))
    levels = Counter(thing.label for thing in compared)
    shown = [_thing(kit, same, levels[same[0].label]) for same in ranked[:most]]
    listed = kit.t("list.strong").join(shown)
    more = len(ranked) - most
    return kit.t("discussion.further", things=listed, count=more) if more > 0 else listed


def _thing(kit: Kit, same: Sequence[_Seen], compared: int) -> str:
    most = max(same, key=lambda thing: thing.size)
    values = {
        "label": most.label,
        "levels": levels_text(kit, [thing.context for thing in same], compared),
        "level": level_text(kit, most.context),
        "old_value": most.text(most.old),
        "new_value": most.text(most.new),
        "unit": kit.t("discussion.unit", unit=most.unit) if most.unit else "",
    }
    return kit.t(f"discussion.thing.{'one' if len(same) == 1 else 'many'}", **values)
