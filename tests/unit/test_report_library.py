"""The charts' library is made once for a working folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.report.charts import library


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = iter(f"text {number};" for number in range(1, 10))
    monkeypatch.setattr(library, "_made", lambda: next(made))
    monkeypatch.setattr(library, "_places", [])
    library.keep_library_in(tmp_path)
    library.library.cache_clear()
    yield tmp_path
    library.library.cache_clear()


def again() -> str:
    library.library.cache_clear()
    return library.library()


def test_it_is_made_once(caches: Path) -> None:
    assert library.library().startswith("text 1;")
    assert again().startswith("text 1;")
    assert len(list(caches.iterdir())) == 1


def test_what_was_cut_off_is_made_anew(caches: Path) -> None:
    library.library()
    (file,) = caches.iterdir()
    file.write_text("text 1;", encoding="utf-8")
    assert again().startswith("text 2;")
    assert again().startswith("text 2;")


def test_another_snippet_is_another_text(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.library()
    monkeypatch.setattr(library, "SNIPPET", "window.other = vegaEmbed;")
    assert again().startswith("text 2;")
    assert len(list(caches.iterdir())) == 2


def test_a_folder_that_cannot_be_written_is_no_failure(caches: Path) -> None:
    library.keep_library_in(caches / "missing")
    assert library.library().startswith("text 1;")
    assert again().startswith("text 2;")
