"""Texts that exist in English and Japanese."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "ja"]


@dataclass(frozen=True)
class Bilingual:
    """One text, written in each language of the reports."""

    en: str
    ja: str

    def in_language(self, language: Language) -> str:
        return self.ja if language == "ja" else self.en
