"""The numbers of every sentence of a report against its tables, its JSON and the campaign's trials,
by a reader that shares nothing with what writes them (``tests/reader``).

The long run: ``python -m benchmarks.robustness reports --count 1000``.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from teiten.model.text import Language
from teiten.report.render.html import html
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view
from tests.fixtures import drawn
from tests.fixtures.drawn import KINDS, Draw, Drawn
from tests.reader.document import Document, plain, read_html, read_markdown
from tests.reader.planted import planted
from tests.reader.whole import read_whole

LANGUAGES: tuple[Language, ...] = ("en", "ja")
PLANTED = 40
"""Wrong sentences in a report of each kind; a long run plants all."""
READ_BY_FORM = {
    "markdown": lambda page: read_markdown(markdown_text(page, "0.1.0")),
    "html": lambda page: read_html(html(page, "0.1.0")),
}


def documents(one: Drawn, language: Language, form: str = "markdown") -> Document:
    return READ_BY_FORM[form](view(one.analysis, language))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@given(seed=st.integers(0, 2**32), language=st.sampled_from(LANGUAGES))
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_sentence_is_read_and_true(kind: Draw, seed: int, language: Language) -> None:
    one = kind(random.Random(seed))
    reader = read_whole(documents(one, language), one, language)
    assert not reader.objections
    assert reader.read > 40


@cache
def golden() -> tuple[Drawn, ...]:
    return drawn.by_hand()


@pytest.mark.parametrize("form", READ_BY_FORM)
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("at", [0, 1], ids=["versions", "queries"])
def test_the_golden_reports_are_true(at: int, language: Language, form: str) -> None:
    one = golden()[at]
    reader = read_whole(documents(one, language, form), one, language)
    assert not reader.objections
    assert reader.read > 150


SAMPLES = (5, 1)
"""Seeds of samples without a number that no rule gives: the reader sees 98 of 100."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("at", [0, 1], ids=["versions", "queries"])
def test_a_changed_number_and_a_turned_direction_are_seen(at: int, language: Language) -> None:
    one = golden()[at]
    document = documents(one, language)
    known = read_whole(document, one, language)
    every = list(planted(document, language, known.given))
    assert len(every) > 150
    chosen = random.Random(SAMPLES[at]).sample(every, PLANTED)
    missed = [
        (wrong.before, wrong.after)
        for wrong in chosen
        if not read_whole(wrong.document, one, language).objections
    ]
    assert not missed


# --- the wrong sentences that were once written ------------------------------------------------


def with_text(document: Document, pattern: str, text: str) -> Document:
    """The document with another text in the place of the first that a pattern finds."""
    parts = [*document.parts]
    at = next(place for place, one in enumerate(parts) if re.search(pattern, one.text))
    parts[at] = replace(parts[at], text=re.sub(pattern, text, parts[at].text, count=1))
    return Document(parts, document.tables)


def objections(one: Drawn, pattern: str, text: str, language: Language = "en") -> list[str]:
    document = documents(one, language)
    assert not read_whole(document, one, language).objections
    return read_whole(with_text(document, pattern, text), one, language).objections


def drawn_with(kind: Draw, seed: int, pattern: str) -> Drawn:
    """A drawn campaign whose report says such a thing."""
    one = kind(random.Random(seed))
    assert any(re.search(pattern, part.text) for part in documents(one, "en").parts)
    return one


def test_a_level_that_is_slower_than_the_first_is_not_the_fastest() -> None:
    one = drawn_with(
        drawn.sweeps, 85, r"fastest with \S+ = \d+; the next is \d+: takes .* compared"
    )
    said = r"fastest with (\S+) = (\d+); the next is (\d+): (.*) compared with it"
    assert objections(one, said, r"fastest with \1 = \3: \4 compared with \2")


def test_an_interval_of_the_speed_up_does_not_stand_beside_a_percentage_of_time() -> None:
    one = drawn_with(drawn.sweeps, 36, r"less time compared with \d+ \(")
    said = r"(less time compared with \d+ \(\S+ % interval) .*? to .*?\)"
    assert objections(one, said, r"\1 1.011 to 1.035)")


def test_where_no_block_is_complete_pairs_are_not_too_few() -> None:
    one = drawn_with(
        drawn.several_servers, 0, "fewer than two blocks have valid ones at every level"
    )
    said = "there are pairs of trials, but .* at every level"
    assert objections(one, said, "there are fewer than two valid pairs of trials")


SCATTERED = 500
"""A seed of TPS that vary by e to the 3, of findings far beyond a factor of 1,000, and of levels
that contradict one another."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_law_is_fitted_to_scattered_throughput(language: Language) -> None:
    """Least squares that stop before the least say another interval than the report."""
    one = drawn.versions(random.Random(SCATTERED))
    assert read_whole(documents(one, language), one, language).objections == []


def test_a_bound_is_the_reach_of_what_reports_print() -> None:
    one = drawn_with(drawn.ssb_claims, SCATTERED, "> 1,000 times as fast")
    assert objections(one, "> 1,000 times as fast", "> 2,000 times as fast")


def test_a_mean_over_two_servers_says_so() -> None:
    one = drawn_with(drawn.several_servers, 0, "On average over")
    assert objections(one, r"On average over [\d., ]+: ", "")


SAID_SEEDS = {"machines": 9, "sequential": 11, "index_only": 0}
SAID_BEFORE = {
    "machines": r"(?:warning|note|警告|参考): ",
    "sequential": r"Noise floor: |測定の揺らぎ: |Length of a trial: |1試行の長さの決め方: ",
    "index_only": r"A lookup wrote |1回の検索が書き込んだ",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", SAID_BEFORE)
def test_a_changed_caution_a_floor_or_what_a_lookup_wrote_is_seen(
    kind: str, language: Language
) -> None:
    one = getattr(drawn, kind)(random.Random(SAID_SEEDS[kind]))
    document = documents(one, language)
    known = read_whole(document, one, language)
    assert not known.objections
    every = [
        wrong
        for wrong in planted(document, language, known.given)
        if re.match(SAID_BEFORE[kind], wrong.before)
    ]
    assert len(every) > 3
    chosen = random.Random(kind).sample(every, min(len(every), 12))
    assert not [
        (wrong.before, wrong.after)
        for wrong in chosen
        if not read_whole(wrong.document, one, language).objections
    ]


LIMITED = 9
"""A seed with a limit of memory that was checked, and of which trials had a peak."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_limit_of_memory_is_seen(language: Language) -> None:
    one = drawn.machines(random.Random(LIMITED))
    document = documents(one, language)
    assert not read_whole(document, one, language).objections
    named = {"Limit of memory", "メモリの制限"}
    rows = next(each.rows for each in document.tables if any(row[0] in named for row in each.rows))
    at = next(at for at, row in enumerate(rows) if row[0] in named)
    rows[at] = (
        rows[at][0],
        re.sub(r"\d+", lambda found: f"{int(found[0]) + 1}", rows[at][1], count=1),
    )
    assert read_whole(document, one, language).objections


WHY_NOT = {
    "en": (
        "the plans are serial, and ask for no workers",
        "the sizes of tables and indexes were not recorded",
    ),
    "ja": (
        "実行計画がパラレルではなく、ワーカーを要求していない",
        "テーブルとインデックスのサイズが記録されていない",
    ),
}
ELSEWHERE = {"en": "Findings that do not apply here", "ja": "本検証では対象外のもの"}
APPLIED = {"en": "Findings that apply to this campaign", "ja": "本検証と比較できるもの"}


SERIAL = 8
"""A seed with plans that are all serial, and sizes that were recorded."""


def serial_plans(language: Language) -> tuple[Drawn, Document]:
    """A campaign whose plans are all serial, although sizes were recorded; and its report."""
    one = drawn.recorded_claims(random.Random(SERIAL))
    document = documents(one, language)
    assert not read_whole(document, one, language).objections
    return one, document


@pytest.mark.parametrize("language", LANGUAGES)
def test_of_serial_plans_no_sizes_are_missing(language: Language) -> None:
    one, document = serial_plans(language)
    serial, sizes = WHY_NOT[language]
    (elsewhere,) = (table for table in document.tables if table.caption == ELSEWHERE[language])
    at = next(at for at, row in enumerate(elsewhere.rows) if row[-1] == serial)
    elsewhere.rows[at] = (*elsewhere.rows[at][:-1], sizes)
    assert any(
        "what stands in the way is ['serial']" in objection
        for objection in read_whole(document, one, language).objections
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_serial_plan_does_not_begin_with_a_smaller_table(language: Language) -> None:
    """The finding on fewer workers, as it was once counted as reproduced."""
    one, document = serial_plans(language)
    (elsewhere,) = (table for table in document.tables if table.caption == ELSEWHERE[language])
    (applied,) = (table for table in document.tables if table.caption == APPLIED[language])
    finding = next(each for each in one.campaign.findings if each.id.endswith("fewer-workers"))
    statement = plain(finding.statement.in_language(language))
    row = next(row for row in elsewhere.rows if row[0].startswith(statement))
    elsewhere.rows.remove(row)
    measured, bound, outcome = {
        "en": (
            "q3.1: 0 workers launched, 9 by the rule",
            "fewer than by the rule",
            "reproduced",
        ),
        "ja": ("q3.1: 起動ワーカー数0、規則による数9", "規則による数より少ない", "再現された"),
    }[language]
    applied.rows.append((row[0], row[1], measured, bound, outcome))
    assert any(
        "it is not applicable (['serial'])" in objection
        for objection in read_whole(document, one, language).objections
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_that_nobody_knows_is_not_passed_over(language: Language) -> None:
    one = golden()[0]
    document = documents(one, language)
    first = document.parts[0]
    strange = replace(first, kind="text", text="18 is the best of all.", section=1)
    read_it = read_whole(Document([*document.parts, strange], document.tables), one, language)
    assert any("unread sentence" in objection for objection in read_it.objections)
