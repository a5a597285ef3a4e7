"""A predicate that nobody knew costs one file: it is found, read, asked and told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.claims.outcomes import assess
from teiten.analysis.model.claims import ClaimStanding
from teiten.claims import predicates
from teiten.claims.catalogue import read_claims
from teiten.report.claim_words import bounds_text, check_text
from teiten.report.texts import texts
from tests.unit.test_claims import FACTS, PLAN, attempts

ONE_FILE = '''
"""The metric at the most clients is a multiple of that at the fewest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from pydantic.dataclasses import dataclass

from teiten.analysis.model.claims import Check, CheckKind, ClaimQuestion, ClaimWords
from teiten.claims.curves import ClaimCurve, level_changes
from teiten.claims.forms import FORM, Ratio
from teiten.claims.curves import ShapeOfCurve


def _said(check: Check, words: ClaimWords) -> str:
    first, last = (words.number(one) for one in check.at)
    return words("claim.levels", side=words.side(check.sides[0]), first=first, second=last)


ENDS = CheckKind("ends", _said)


@dataclass(frozen=True, config=FORM)
class AtLeastTimes(ShapeOfCurve):
    times: Ratio
    kind: Literal["at-least-times"] = "at-least-times"

    def shape(self, curve: ClaimCurve, cores: int) -> Iterator[ClaimQuestion]:
        first, last = curve.levels[0], curve.levels[-1]
        values = level_changes(curve, first, curve, last)
        low = math.log(self.times)
        yield ClaimQuestion(ENDS, (curve.side,), (first, last), values, low, math.inf)
'''
CLAIMS = """
study = "observe"
report = "Nobody 2026"

[[claims]]
id = "grows"
section = "1"
statement = { en = "It grows.", ja = "増加する。" }
workload = "read"
metric = "tps"
predicate = { kind = "at-least-times", times = 8.0 }
"""


@pytest.fixture
def with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "at_least_times.py").write_text(ONE_FILE, encoding="utf-8")
    monkeypatch.setattr(predicates, "__path__", [*predicates.__path__, str(tmp_path)])
    yield tmp_path
    sys.modules.pop(f"{predicates.__name__}.at_least_times", None)


@pytest.mark.parametrize(
    ("growth", "standing"),
    [(16.0, ClaimStanding.REPRODUCED), (4.0, ClaimStanding.CONTRADICTED)],
)
def test_one_file_is_a_predicate(with_it: Path, growth: float, standing: ClaimStanding) -> None:
    path = with_it / "claims.toml"
    path.write_text(CLAIMS, encoding="utf-8")
    (claim,) = read_claims(path)
    measured = attempts(lambda _server, clients: 100 * min(clients, growth))
    (found,) = assess([replace(claim, work=())], PLAN, FACTS, measured)
    assert found.standing is standing
    t = texts("ja")
    assert check_text(t, found.deciding, str).startswith("13")
    assert bounds_text(t, found.deciding) == "8以上"
