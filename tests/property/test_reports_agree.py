"""Answer, tables and JSON of a report agree, of whatever kind the workloads are
(``tests/reader/agreement.py``)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.model.text import Language
from teiten.report.render.markdown import markdown_text
from teiten.report.view.report import view
from tests.fixtures.invented_partitions import insert_plan, of_partitions, partitions_plan
from tests.reader import drawn
from tests.reader.agreement import BETWEEN, OF_RATE, disagreements, estimates
from tests.reader.contrasts import contrast_objections, contrasts_of
from tests.reader.document import Document, read_markdown
from tests.reader.drawn import KINDS, Draw, Drawn
from tests.reader.drawn_kinds import BY_NUMBERS, placements
from tests.reader.evidence import UNRULED, UNRULED_COLUMNS
from tests.reader.planted import other
from tests.reader.reader import Reader
from tests.reader.tables import OVERALL, check_tables
from tests.reader.texts import phrases
from tests.reader.whole import SAID
from tests.reader.within import quantity_objections

LANGUAGES: tuple[Language, ...] = ("en", "ja")
INVENTED: dict[str, Callable[[], CampaignAnalysis]] = {
    "procedure": lambda: of_partitions(insert_plan()),
    "procedure-growth": lambda: of_partitions(partitions_plan()),
    "probes": lambda: drawn.probes(random.Random(3)).analysis,
    "pgbench": lambda: drawn.by_hand()[0].analysis,
    "queries": lambda: drawn.by_hand()[1].analysis,
    **{kind.__name__: lambda kind=kind: kind(random.Random(2)).analysis for kind in KINDS},  # type: ignore[misc]
}


@cache
def invented(name: str) -> CampaignAnalysis:
    return INVENTED[name]()


@cache
def document(name: str, language: Language) -> Document:
    return read_markdown(markdown_text(view(invented(name), language), "0.1.0"))


def titles(name: str, language: Language) -> dict[str, str]:
    study = invented(name).plan.study
    return {workload.name: getattr(workload.title, language) for workload in study.workloads}


def against_json(name: str, language: Language, read: Document) -> list[str]:
    analysis = invented(name)
    return disagreements(read, titles(name, language), contrasts_of(analysis))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", INVENTED)
def test_a_report_agrees_with_itself_and_with_its_json(name: str, language: Language) -> None:
    assert against_json(name, language, document(name, language)) == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", INVENTED)
def test_a_sentence_has_one_quantity_and_each_interval_its_level(
    name: str, language: Language
) -> None:
    plans = [invented(name).plan]
    said = (part.text for part in document(name, language).parts if part.kind in SAID)
    assert [why for text in said for why in quantity_objections(text, language, plans)] == []


def test_what_the_reader_leaves_out_is_still_called_so() -> None:
    known = [text.split("{")[0] for language in LANGUAGES for text in phrases(language).values()]
    captions = (name for name in UNRULED if not any(text.startswith(name) for text in known))
    columns = (
        name
        for name in UNRULED_COLUMNS
        if not any(text == name or (text and name.startswith(text)) for text in known)
    )
    assert [*captions, *columns] == []


@pytest.mark.parametrize(
    ("text", "language", "count"),
    [
        ("At 25% it takes 17 µs longer (95 % interval 1 to 33), +201 %.", "en", 1),
        ("At 25% it takes 17 µs longer (95 % interval 1 to 33). Its share is 3 %.", "en", 0),
        ("A GiB costs 17 µs (interval 1 to 33).", "en", 1),
        ("25%では17µs長く、201%の差がある。", "ja", 1),
        ("25%では17µs長い（95%信頼区間 1〜33）。割合は3%である。", "ja", 0),
        ("25%では17µs長い（区間1〜33）。", "ja", 1),
    ],
)
def test_an_amount_beside_a_percentage_of_another_quantity_is_seen(
    text: str, language: Language, count: int
) -> None:
    plans = [invented("probes").plan]
    assert len([*quantity_objections(text, language, plans)]) == count


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["procedure", "procedure-growth", "pgbench", "synthetic"])
def test_there_is_something_to_agree_on(name: str, language: Language) -> None:
    read = estimates(document(name, language), list(titles(name, language).values()))
    assert len(read) > 15
    assert any(one.whole and one.title and one.ratio for one in read)


def planted_answers(name: str, language: Language) -> list[Document]:
    """Each number of an effect or of its interval in the answer changed, one at a time."""
    read = document(name, language)
    wrong = []
    for at, part in enumerate(read.parts):
        stated = OF_RATE.search(part.text) if part.section == 1 else None
        for key in ("mean", "low", "high") if stated is not None else ():
            assert stated is not None
            text = part.text[: stated.start(key)] + other_share(stated[key])
            parts = [*read.parts]
            parts[at] = replace(part, text=text + part.text[stated.end(key) :])
            wrong.append(Document(parts, read.tables))
    return wrong


def other_share(share: str) -> str:
    sign, digits = (share[0], share[1:]) if not share[0].isdigit() else ("", share)
    return sign + other(digits)


def planted_rows(name: str, language: Language) -> list[Document]:
    """Each mean, and each bound of an interval, in a table's row over all levels changed."""
    read = document(name, language)
    wrong = []
    for table in read.tables:
        at = table.column("interval", "信頼区間")
        for place, row in enumerate(table.rows):
            bounds = BETWEEN.fullmatch(row[at]) if at is not None and row[0] in OVERALL else None
            if bounds is None or at is None:
                continue
            for changed in (
                row[at].replace(bounds[1], other(bounds[1]), 1),
                row[at].replace(bounds[2], other(bounds[2])),
            ):
                rows = [*table.rows]
                rows[place] = (*row[:at], changed, *row[at + 1 :])
                tables = [
                    one if one is not table else replace(table, rows=rows) for one in read.tables
                ]
                wrong.append(Document(read.parts, tables))
    return wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_number_of_the_answer_is_seen(language: Language) -> None:
    wrong = [
        (name, each)
        for name in ("pgbench", "synthetic")
        for each in planted_answers(name, language)
    ]
    assert len(wrong) >= 12
    assert [each for name, each in wrong if not against_json(name, language, each)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_changed_interval_of_a_table_is_seen(language: Language) -> None:
    wrong = [
        (name, each)
        for name in ("pgbench", "synthetic", "procedure", "procedure-growth")
        for each in planted_rows(name, language)
    ]
    assert len(wrong) >= 12
    assert [name for name, each in wrong if not against_json(name, language, each)] == []


def test_a_turned_direction_of_the_answer_is_seen() -> None:
    read = document("pgbench", "en")
    for word, turned in (("faster", "slower"), ("slower", "faster")):
        parts = [
            replace(part, text=part.text.replace(word, turned))
            if part.section == 1 and part.kind == "text"
            else part
            for part in read.parts
        ]
        assert against_json("pgbench", "en", Document(parts, read.tables))


# --- every kind against its trials -------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.parametrize("kind", (*KINDS, *BY_NUMBERS), ids=lambda kind: kind.__name__)
def test_json_and_its_levels_follow_from_the_trials(kind: Draw, seed: int) -> None:
    """Verdict, ratio, interval and level of every contrast, the one level at each place."""
    one = kind(random.Random(seed))
    assert list(contrast_objections(one.campaign, contrasts_of(one.analysis))) == []


SMALL_BELOW_DELTA = 40_098
"""A seed whose answers name δ before a small difference."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("kind", "seed"), [*((kind, 2) for kind in BY_NUMBERS), (placements, SMALL_BELOW_DELTA)]
)
def test_tables_answer_and_json_of_further_kinds_agree(
    kind: Draw, seed: int, language: Language
) -> None:
    one = kind(random.Random(seed))
    read = read_markdown(markdown_text(view(one.analysis, language), "0.1.0"))
    study = one.analysis.plan.study
    named = {workload.name: getattr(workload.title, language) for workload in study.workloads}
    assert disagreements(read, named, contrasts_of(one.analysis)) == []
    reader = Reader(read, one.campaign, language)
    check_tables(reader)
    assert reader.objections == []


@pytest.mark.parametrize("kind", BY_NUMBERS, ids=lambda kind: kind.__name__)
def test_a_wrong_number_of_json_is_seen(kind: Draw) -> None:
    every = (kind(random.Random(seed)) for seed in range(1, 9))
    one = next(one for one in every if has_intervals(one))
    right = contrasts_of(one.analysis)
    wrong = []
    for at, contrast in enumerate(right):
        for effect in (contrast, *contrast["levels"]):
            if effect["interval"] is None:
                continue
            for changed in spoiled(effect):
                levels = [changed if one is effect else one for one in contrast["levels"]]
                whole = changed if effect is contrast else {**contrast, "levels": levels}
                wrong.append([*right[:at], whole, *right[at + 1 :]])
    chosen = random.Random(1).sample(wrong, min(60, len(wrong)))
    assert chosen
    assert all(list(contrast_objections(one.campaign, each)) for each in chosen)


def has_intervals(one: Drawn) -> bool:
    return any(level.verdict.effect for each in one.analysis.contrasts for level in each.levels)


def spoiled(effect: dict[str, Any]) -> list[dict[str, Any]]:
    """An effect with a wrong mean, a wrong end, another level, another word."""
    low, high = effect["interval"]
    words = {"faster": "slower", "slower": "faster", "equivalent": "inconclusive"}
    return [
        {**effect, "ratio": effect["ratio"] * 1.001},
        {**effect, "interval": [low * 0.999, high]},
        {**effect, "interval": [low, high * 1.001]},
        {**effect, "confidence": effect["confidence"] + 0.001},
        {**effect, "verdict": words.get(effect["verdict"], "faster")},
    ]
