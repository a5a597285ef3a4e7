"""What unit tests share."""

from __future__ import annotations

import pytest

from tests.fixtures.undrawn import leave_undrawn


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports with an empty picture for each chart, where a test looks at the text. The tests of
    Markdown, of probes, of comparisons, of both languages and of the verb draw all of theirs.
    """
    leave_undrawn(monkeypatch)
