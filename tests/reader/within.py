"""A sentence against itself and against the texts that it is made of: by its arithmetic, not its key.

``A → B, C``: C is what A became less; a name twice in a text is one number; a word that turns a
direction stands beside words that some text has beside it.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from teiten.model.plan import Plan
from tests.reader.campaign import Campaign
from tests.reader.document import BRACKETS, plain
from tests.reader.language import Language, Printed, in_base, printed
from tests.reader.named import problem_counts
from tests.reader.texts import (
    OF_HALF,
    PLACE,
    SEPARATOR,
    broken,
    is_telling,
    named_objections,
    phrases,
    told,
    whole_texts,
)

NUMBER = r"[+−]?\d[\d,]*(?:\.\d+)?"
UNIT = r"ns|µs|ms|s|秒|KiB|MiB|GiB|B"
CHANGE = re.compile(
    rf"(?:—|(?P<old>{NUMBER}) ?(?P<old_unit>{UNIT})) → "
    rf"(?:—|(?P<new>{NUMBER}) ?(?P<new_unit>{UNIT}))"
    rf"(?:, |、)(?P<less>{NUMBER}) ?(?P<less_unit>{UNIT})"
)
SOURCE = re.compile(r"PGECons WG1 \d{4}|\b20\d\d §[\d.]*\d")
"""A report, or a section of one."""
VERDICT = re.compile(
    r"処理時間[はが](1/[\d.,]+|[\d.,]+倍)[^。]*。判定: ((?:少なくとも[\d.]+%)?(?:速い|遅い))"
)
AS_FAST = re.compile(r"times as (fast|long) \([^()]*\)[,;] (faster|slower)\b")
TURNED_BOUND = re.compile(r"(?:faster|slower)\b[^;()]*\bby at most")
LAUNCHED = re.compile(r"(\d+) of (\d+) workers launched")
MORE_OF = re.compile(
    r"(?:shows (?:(more)|(less)) than|次の項目が(?:(多い)|(少ない)))([^.。]*(?:\.\d[^.。]*)*)"
)
AGAINST = re.compile(rf"(?<![\d.,])({NUMBER})(?: against |対)({NUMBER})(?![\d,.]*\d)")
REASONED = ("sentence.nothing", "comparison-sentence.nothing", "scaling.knee.plain",
            "scaling.cores.knee.plain")  # fmt: skip
"""Texts with a reason, which is a text itself."""
LONGEST_NAME = 40
DIRECTIONS = {
    "en": ("as slow", "took", "at least", "at most", "contradicted", "reproduced", "faster", "slower", "gain", "loss", "agree", "differ", "inconclusive", "equivalent", "fits", "is withheld"),
    "ja": ("性能が", "処理時間が", "速い", "遅い", "速く、", "遅く、", "短い", "長い", "同等", "改善", "劣化", "少なくとも", "多くとも", "当てはまらず", "等しい"),
}  # fmt: skip
BESIDE = {"en": 7, "ja": 3}
"""Characters beside a direction that stand beside it in some text."""
PLACED, END = "\0", "\1"
"""Where a place, or the end of a text, is."""
FEW = 2
"""Characters that tell nothing of a word between two places."""
AMOUNT = re.compile(r"[\d<>+−⅟ \0\1]")
"""What a place right behind a Japanese direction begins with."""
SENTENCE = re.compile(r"(?<=[.!?]) |(?<=。)")
AMOUNT_OF = re.compile(
    rf"(?<![A-Za-z0-9_.,]){NUMBER} ?(?:{UNIT}|min|分|ミリ秒|KB/s|kB|MB)(?![A-Za-z0-9]|の1)"
)
LEVEL = re.compile(r"[\d.]+ ?%(?= interval|信頼区間|の信頼度| confidence)")
SHARE = re.compile(r"([\d.]+) ?%")
SAME_QUANTITY = ("root.explained-more", "root.explained-less", "bottleneck.sentence-evidence")
"""Sentences whose share is of the amount that they tell, or whose readings have a name each."""
WITHOUT_LEVEL = re.compile(r"(?<!% )\binterval [+−<>]?\d|(?<!%信頼)区間 ?[+−<>]?\d")


def within_objections(
    text: str, language: Language, campaigns: Sequence[Campaign], own: Sequence[str]
) -> Iterator[str]:
    """``own``: texts of the study's author and of findings."""
    yield from _changes(text)
    yield from named_objections(text, language, repeated(language))
    yield from _opposites(text)
    long = (each for each in own if is_telling(each, 2 * OF_HALF))
    ours = functools.reduce(lambda left, each: left.replace(each, ""), long, text)
    yield from (
        f"no text has beside it what stands there: {half}" for half in broken(ours, language)
    )
    for key in REASONED:
        for said in told(text, language, key):
            if said["reason"] not in whole_texts(language):
                yield f"no reason is {said['reason']}"
    yield from _sums(text, language)
    yield from _titles(text, language, tuple(own))
    yield from _directions(text, language, tuple(own))
    yield from _changed(text, language, campaigns)
    yield from _reasons(text, language, campaigns)
    yield from quantity_objections(text, language, [each.plan for each in campaigns])
    sources = set(SOURCE.findall(text))
    if sources:
        known = (each.source for campaign in campaigns for each in campaign.findings)
        written = [f"{source.report} §{source.section}" for source in known]
        named = repr((*((each.plan.study, each.findings) for each in campaigns), own, written))
        yield from (f"no source is {source}" for source in sources if source not in named)


def _sums(text: str, language: Language) -> Iterator[str]:
    """Objects to verdicts that are not as many as what they are on, and to changes of nothing."""
    for key in ("sentence", "sentence-cases"):
        for said in told(text, language, f"query-count.{key}"):
            counts = [int(each) for each in re.findall(r"\d+", said["listed"])]
            if sum(counts) != int(said["count"]):
                yield f"{counts} are not {said['count']}"
    for key, place in (("workers-changed.planned", "planned"), ("pruning-changed", "pruned")):
        for said in told(text, language, f"plan-change.{key}"):
            if said[f"old_{place}"] == said[f"new_{place}"]:
                yield f"nothing changed: {said[0]}"


def _changes(text: str) -> Iterator[str]:
    for found in CHANGE.finditer(text):
        old, new, less = (
            in_base(found[name], found[f"{name}_unit"]) if found[name] else Printed(0.0, 0.0)
            for name in ("old", "new", "less")
        )
        room = 0.5 * (old.step + new.step + less.step) * 1.001
        if abs(new.value - old.value - less.value) > room:
            yield f"{found[0]}: the difference is {new.value - old.value}"


def _opposites(text: str) -> Iterator[str]:
    """Objects to a verdict against the ratio before it, and to amounts against their word."""
    for ratio, verdict in VERDICT.findall(text):
        if ("1/" in ratio) == ("遅い" in verdict):
            yield f"the verdict is opposite to the ratio: {verdict}"
    for turned in TURNED_BOUND.findall(text):
        yield f"no verdict is {turned}"
    for fast, verdict in AS_FAST.findall(text):
        if (fast == "fast") != (verdict == "faster"):
            yield f"the verdict is opposite to the ratio: {verdict}"
    for launched, planned in LAUNCHED.findall(text):
        if int(launched) > int(planned):
            yield f"{launched} of {planned} workers cannot be launched"
    yield from _amounts(text)


def _amounts(text: str) -> Iterator[str]:
    for *words, listed in MORE_OF.findall(text):
        more, less = words[0] or words[2], words[1] or words[3]
        for new, old in AGAINST.findall(listed):
            off = printed(new).value - printed(old).value
            if off and (off > 0) != bool(more):
                yield f"{new} against {old} is not {more or less}"


@cache
def _names(language: Language, own: tuple[str, ...]) -> dict[str, set[str]]:
    """Short texts with numbers, by themselves without these."""
    found: dict[str, set[str]] = {}
    for text in (*phrases(language).values(), *(plain(each.translate(BRACKETS)) for each in own)):
        if re.search(r"\d", text) and len(text) < LONGEST_NAME and not PLACE.search(text):
            found.setdefault(re.sub(r"\d+", "#", text), set()).add(text)
    return found


def _titles(text: str, language: Language, own: tuple[str, ...]) -> Iterator[str]:
    """Objects to a label, or a name at the beginning, with another number than it has."""
    head = re.split(r": | ?\(", text)[0]
    known = _names(language, own).get(re.sub(r"\d+", "#", head), set())
    if head != text and known and head not in known and re.search(r"\d\D", head):
        yield f"{head} is called {sorted(known)}"


@cache
def repeated(language: Language) -> dict[str, set[float]]:
    """The places that a text has more than once: one number at each."""
    found: dict[str, set[float]] = {}
    for key, text in phrases(language).items():
        counts = Counter(place[1:-1] for place in PLACE.findall(text))
        found.update({f"{key} {place}": set() for place, many in counts.items() if many > 1})
    return found


@cache
def _corpus(language: Language, own: tuple[str, ...]) -> str:
    texts = (*phrases(language).values(), *(plain(text.translate(BRACKETS)) for text in own))
    return END + END.join(PLACE.sub(PLACED, text) for text in texts) + END


def _directions(text: str, language: Language, own: tuple[str, ...]) -> Iterator[str]:
    """Objects to words that stand beside others than in any text."""
    corpus, most = _corpus(language, own), BESIDE[language]
    around = END + text + END
    for word in DIRECTIONS[language]:
        for found in re.finditer(rf"(?<![A-Za-z]){re.escape(word)}(?![a-z])", around):
            if not _is_known(around, found.start(), found.end(), most, corpus):
                yield f"no text has: {around[max(0, found.start() - 9) : found.end() + 9]}"


@cache
def _is_known(around: str, begin: int, end: int, most: int, corpus: str) -> bool:
    """Whether a word has the same words beside it in some text, up to a place or an end there."""
    word = around[begin:end]
    amount = word.isascii() or AMOUNT.match(around, end)
    for before, behind in itertools.product(range(most, -1, -1), repeat=2):
        left, right = around[max(0, begin - before) : begin], around[end : end + behind]
        few = len((left + right).strip(f" {END}")) < FEW
        for first in ("",) if before == most else (PLACED, END):
            for last in ("",) if behind == most else (PLACED, END):
                lonely = few and first == last == PLACED
                unlike = last == PLACED and behind == 0 and not amount
                if not (lonely or unlike) and first + left + word + right + last in corpus:
                    return True
    return False


def _changed(text: str, language: Language, campaigns: Sequence[Campaign]) -> Iterator[str]:
    """Objects to other values that were changed for a campaign."""
    every = [each.plan.study.overrides for each in campaigns]
    known = [
        SEPARATOR[language].join(value for value in values if not value.startswith("server"))
        for values in every
    ]
    for said in told(text, language, "design.changed"):
        if said["values"] not in known:
            yield f"what was changed is {known}"


@cache
def _problems(language: Language) -> tuple[tuple[str, str], ...]:
    """The codes of reasons for which trials do not count, with their words."""
    begin = "problem."
    return tuple(
        (key.removeprefix(begin), words)
        for key, words in phrases(language).items()
        if key.startswith(begin)
    )


def _reasons(text: str, language: Language, campaigns: Sequence[Campaign]) -> Iterator[str]:
    """Objects to counts behind reasons for which trials do not count."""
    counts: Counter[str] = Counter()
    for campaign in campaigns:
        counts |= problem_counts(campaign)
    for code, words in _problems(language):
        if f"{words}(" not in text.replace(" (", "("):
            continue
        for found in re.finditer(rf"(?<!\w){re.escape(words)} ?\((\d+)", text):
            if counts[code] and int(found[1]) != counts[code]:
                yield f"{code} was {counts[code]} times, not {found[1]}"


def quantity_objections(text: str, language: Language, plans: Sequence[Plan]) -> Iterator[str]:
    """Objects to an amount of one quantity beside a percentage of another, and to an interval that
    does not say its level. Names of levels are no percentages, and δ is one of every quantity."""
    yield from (f"of which level is {found[0]}" for found in WITHOUT_LEVEL.finditer(text))
    if any(True for key in SAME_QUANTITY for _ in told(text, language, key)):
        return
    declared = {100 * plan.study.measure.delta for plan in plans}
    factors = (factor for plan in plans for factor in plan.study.factors)
    names = (re.escape(level) for factor in factors for level in factor.levels if "%" in level)
    unnamed = re.sub(rf"(?<!\d)(?:{'|'.join(names) or '(?!)'})", "", LEVEL.sub("", text))
    for each in SENTENCE.split(unnamed):
        amount = AMOUNT_OF.search(each)
        for share in SHARE.finditer(each) if amount else ():
            if amount and printed(share[1]).value not in declared:
                yield f"two quantities in a sentence: {amount[0]} and {share[0]}"
