"""Wrong sentences, planted: each number of a sentence changed, each direction turned round.

A reader that objects to all of them can fail, and reads every number that there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.reader.document import Document, Part
from tests.reader.language import Language

SPOKEN = {"text", "item", "pair", "meta", "heading"}
NUMBER = re.compile(r"(?<![A-Za-z0-9_.#-])(?<![^1]/)\d[\d,]*(?:\.\d+)?(?![A-Za-z0-9_/-]|,\d)")
"""Not the digits inside of a name: q1.1, p99, 18/17, 2026-11-18; but those of a part, 1/15.9."""
TURNED = {
    "en": (
        ("faster", "slower"),
        ("slower", "faster"),
        ("as fast", "as slow"),
        ("takes", "took"),
        ("less time", "more time"),
        ("more time", "less time"),
        ("at least", "at most"),
        ("at most", "at least"),
        ("equivalent", "inconclusive"),
        ("inconclusive", "equivalent"),
        ("gain", "loss"),
        ("loss", "gain"),
        ("fewer than two valid pairs", "all the pairs that are needed"),
        ("reproduced", "contradicted"),
        ("fits", "is withheld"),
        (" differ ", " agree "),
        ("the same structure", "another structure"),
        ("new: ", "gone: "),
        ("a higher ", "a lower "),
        ("a lower ", "a higher "),
        ("shows more", "shows less"),
        ("shows less", "shows more"),
    ),
    "ja": (
        ("速い", "遅い"),
        ("遅い", "速い"),
        ("速く、", "遅く、"),
        ("性能が", "処理時間が"),
        ("処理時間は1/", "処理時間は"),
        ("処理時間が1/", "処理時間が"),
        ("短い", "長い"),
        ("長い(", "短い("),
        ("少なくとも", "多くとも"),
        ("同等", "判定できない"),
        ("判定できない", "同等"),
        ("改善", "劣化"),
        ("劣化", "改善"),
        ("再現された", "異なる結果となった"),
        ("2組に満たない", "2組を超える"),
        ("当てはまり、", "当てはまらず、"),
        ("構造が異なる", "構造が等しい"),
        ("追加: ", "削除: "),
        ("高い", "低い"),
        ("低い", "高い"),
        ("項目が多い", "項目が少ない"),
        ("項目が少ない", "項目が多い"),
    ),
}


@dataclass(frozen=True)
class Planted:
    """A report with one wrong sentence."""

    document: Document
    before: str
    after: str


def planted(document: Document, language: Language, given: set[str]) -> Iterator[Planted]:
    """Every number of every sentence changed, and every direction turned, one at a time."""
    for at, part in enumerate(document.parts):
        if part.kind not in SPOKEN or part.text in given:
            continue
        for text in wrong_texts(part, language):
            parts = [*document.parts]
            parts[at] = replace(part, text=text)
            yield Planted(Document(parts, document.tables), part.text, text)


def wrong_texts(part: Part, language: Language) -> Iterator[str]:
    for found in NUMBER.finditer(part.text):
        yield part.text[: found.start()] + other(found[0]) + part.text[found.end() :]
    for word, turned in TURNED[language]:
        whole = re.escape(word)
        if word.isascii():  # and no part of one, as in against
            whole = (
                "(?<![A-Za-z])" * word[0].isalpha() + whole + "(?![A-Za-z])" * word[-1].isalpha()
            )
        if part.kind != "meta" and re.search(whole, part.text):
            yield re.sub(whole, turned, part.text, count=1)


def other(number: str) -> str:
    """Another number of the same form, so far off that no rounding explains it."""
    digits = [at for at, one in enumerate(number) if one.isdigit()]
    first = digits[0]
    if len(digits) > 1 and number[first] == "0":
        first = next((at for at in digits if number[at] != "0"), digits[-1])
    turned = {"9": "7", "0": "4"}.get(number[first], str(int(number[first]) + 1))
    return number[:first] + turned + number[first + 1 :]
