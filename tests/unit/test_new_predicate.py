"""A predicate that nobody knew costs one file: it is found, read, asked and told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.house.using import GROWS

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import ClaimStanding
from teiten.claims import predicates
from teiten.claims.catalogue import read_claims
from teiten.report.claim_words import bounds_text, check_text
from teiten.report.texts import texts
from tests.unit.test_claims import FACTS, PLAN, attempts

FOLDER = Path(__file__).parents[1] / "fixtures" / "claims" / "predicates"


@pytest.fixture
def more_predicates(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The file is known for as long as a test lasts."""
    monkeypatch.setattr(predicates, "__path__", [*predicates.__path__, str(FOLDER)])
    yield
    for file in FOLDER.glob("*.py"):
        sys.modules.pop(f"{predicates.__name__}.{file.stem}", None)


@pytest.mark.parametrize(
    ("growth", "standing"),
    [(16.0, ClaimStanding.REPRODUCED), (4.0, ClaimStanding.CONTRADICTED)],
)
@pytest.mark.usefixtures("more_predicates")
def test_one_file_is_a_predicate(tmp_path: Path, growth: float, standing: ClaimStanding) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(GROWS, encoding="utf-8")
    (claim,) = read_claims(path)
    measured = attempts(lambda _server, clients: 100 * min(clients, growth))
    (outcome,) = assess([replace(claim, work=())], PLAN, FACTS, measured)
    assert outcome.standing is standing
    t = texts("ja")
    assert check_text(t, outcome.deciding, str).startswith("13")
    assert bounds_text(t, outcome.deciding) == "8以上"
