"""Texts that exist in English and Japanese."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "ja"]


@dataclass(frozen=True)
class Bilingual:
    """One text, written in each language of the reports."""

    en: str
    ja: str

    def __bool__(self) -> bool:
        """Whether anything is written."""
        return bool(self.en or self.ja)

    def in_language(self, language: Language) -> str:
        return self.ja if language == "ja" else self.en


UNWRITTEN = Bilingual("", "")


def joined_sentences(sentences: Iterable[str]) -> str:
    """Sentences one after the other, without empty ones. The full stop of Japanese has its room
    behind it, and takes no space."""
    text = ""
    for sentence in filter(None, sentences):
        text += sentence if not text or text.endswith("。") else f" {sentence}"
    return text


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, whose last is … where some are left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
