"""What unit tests share."""

from __future__ import annotations

import pytest

from teiten.report.render import markdown, typst

PICTURE = '<svg width="100" height="50"></svg>'


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Markdown and Typst with an empty picture for each chart, where a test looks at the text: to
    draw them takes seconds. The tests of Markdown, of probes and of comparisons draw all of theirs.
    """
    for module in (markdown, typst):
        monkeypatch.setattr(module, "svg", lambda _chart: PICTURE)
