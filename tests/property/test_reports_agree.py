"""JSON says what the trials do, of whatever kind the workloads are, and answers say what JSON does
(``tests/reader``)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from teiten.model.text import Language
from tests.fixtures.drawn import KINDS, Draw, Drawn, by_hand, probes
from tests.fixtures.drawn_kinds import BY_NUMBERS
from tests.reader.contrasts import contrast_objections, contrasts_of
from tests.reader.evidence import UNRULED, UNRULED_COLUMNS
from tests.reader.planted import planted
from tests.reader.texts import phrases
from tests.reader.whole import read_whole
from tests.reader.within import quantity_objections

LANGUAGES: tuple[Language, ...] = ("en", "ja")


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
    plans = [probes(random.Random(3)).campaign.plan]
    assert len([*quantity_objections(text, language, plans)]) == count


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("at", [0, 1], ids=["versions", "queries"])
def test_a_changed_number_and_a_turned_direction_of_the_answer_are_seen(
    at: int, language: Language
) -> None:
    one = by_hand()[at]
    document = one.document(language)
    known = read_whole(document, one, language)
    assert not known.objections
    answers = {part.text for part in document.parts if (part.section, part.kind) == (1, "text")}
    wrong = [each for each in planted(document, language, known.given) if each.before in answers]
    assert len(wrong) >= 12
    assert not [
        (each.before, each.after)
        for each in wrong
        if not read_whole(each.document, one, language).objections
    ]


# --- every kind against its trials -------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.parametrize("kind", (*KINDS, *BY_NUMBERS), ids=lambda kind: kind.__name__)
def test_json_and_its_levels_follow_from_the_trials(kind: Draw, seed: int) -> None:
    """Verdict, ratio, interval and level of every contrast, the one level at each place."""
    one = kind(random.Random(seed))
    assert list(contrast_objections(one.campaign, contrasts_of(one.analysis))) == []


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
