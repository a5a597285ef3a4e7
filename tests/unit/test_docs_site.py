"""The navigation of the documentation's site; nothing of mkdocs is needed for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.same

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
ENTRY = re.compile(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", re.MULTILINE)


def navigation() -> dict[str, list[str]]:
    """The pages of each language, in order, relative to docs/."""
    _, _, nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    parts = re.split(r"^  - (\S+):\n", nav, flags=re.MULTILINE)[1:]
    return {name: ENTRY.findall(text) for name, text in zip(parts[::2], parts[1::2], strict=True)}


def test_the_navigation_has_every_page_once_and_no_other() -> None:
    entries = [page for pages in navigation().values() for page in pages]
    assert sorted(entries) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_each_language_has_its_own_pages() -> None:
    found = navigation()
    assert set(found) == {"English", "日本語"}
    assert all("ja" in Path(page).parts for page in found["日本語"])
    assert not any("ja" in Path(page).parts for page in found["English"])
