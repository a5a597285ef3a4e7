"""The check of paired transactions: what it comes to, what is kept of it, and who cites it."""

from __future__ import annotations

import math
import random
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from teiten.analysis.model.findings import CampaignAnalysis
from teiten.analysis.verdict.pairs_check import assess_starts, recorded_check
from teiten.cli.doctor.text import pairs_text
from teiten.cli.printed.form import taken
from teiten.cli.printed.machine import JsonPairsCheck
from teiten.host.facts.kept import StartsSoFar, keep_check, known_check
from teiten.model.pairs_check import (
    BEYOND,
    MORE,
    PAIRS_CHECK,
    STARTS,
    CheckedLoad,
    CheckedStart,
    Holds,
    PairsCheck,
    StartNumbers,
)
from teiten.model.text import Language
from teiten.model.trial import Event
from teiten.report.forms import render_markdown
from teiten.report.render.markdown import TEXT
from tests.fixtures.invented_analysis import invented_analysis
from tests.fixtures.synthetic_plan import HOST

SHARE = 0.9


def load(
    source: random.Random, clients: int, *, noise: float, bias: float, seen: float
) -> CheckedLoad:
    """``bias``: of the start, so in both scripts; ``seen``: of what the control costs."""

    def both(mean: float) -> StartNumbers:
        return StartNumbers(mean + source.gauss(0.0, noise), mean + source.gauss(0.0, noise))

    more = -seen * math.log1p(SHARE * MORE)
    return CheckedLoad(clients, both(bias), both(more), StartNumbers(SHARE, SHARE))


def start(source: random.Random, *, noise: float, bias: float, seen: float) -> CheckedStart:
    """``bias`` and ``seen``: with as many clients as processors; with more all is sound."""
    at_cores = load(source, 2, noise=noise, bias=bias, seen=seen)
    beyond = load(source, 2 * BEYOND, noise=min(noise, 0.003), bias=0.0, seen=1.0)
    return CheckedStart((at_cores, beyond), load_average=0.4, took=13.0)


def check(*, noise: float = 0.003, bias: float = 0.0, seen: float = 1.0) -> PairsCheck:
    source = random.Random(5)
    starts = [start(source, noise=noise, bias=bias, seen=seen) for _ in range(STARTS)]
    return assess_starts(starts, measured_at=0.0, version="18.4", delta=0.02, alpha=0.05)


@pytest.mark.parametrize(
    ("found", "equal", "scale"),
    [
        (check(), Holds.YES, Holds.YES),
        (check(bias=0.02), Holds.NO, Holds.YES),
        (check(seen=0.4), Holds.YES, Holds.NO),
        (check(noise=0.04), Holds.OPEN, Holds.OPEN),
    ],
    ids=["sound", "one side is favoured", "half of the difference is lost", "noisy"],
)
def test_what_a_check_came_to(found: PairsCheck, equal: Holds, scale: Holds) -> None:
    assert [number.clients for number in found.numbers] == [2, 2, 4, 4]
    assert [number.equal for number in found.numbers] == [equal] * 2 + [Holds.YES] * 2
    assert [number.true_to_scale for number in found.numbers] == [scale] * 2 + [Holds.YES] * 2
    worst = next((one for one in (Holds.NO, Holds.OPEN) if one in (equal, scale)), Holds.YES)
    assert found.all_hold() is worst
    assert taken(JsonPairsCheck, found).holds is worst


def test_starts_are_kept_one_by_one_and_a_line_that_was_cut_off_is_none(tmp_path: Path) -> None:
    source = random.Random(1)
    starts = [start(source, noise=0.003, bias=0.0, seen=1.0) for _ in range(3)]
    so_far = StartsSoFar(tmp_path, HOST, "18.4, 2 clients")
    for one in starts:
        so_far.add(one)
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text(encoding="utf-8")[:-9], encoding="utf-8")
    assert so_far.read() == starts[:2]
    assert StartsSoFar(tmp_path, HOST, "18.4, 4 clients").read() == []
    so_far.forget()
    assert so_far.read() == []


def test_the_check_of_a_machine_is_found_again_by_that_machine_alone(tmp_path: Path) -> None:
    assert known_check(tmp_path, HOST) is None
    kept = check()
    keep_check(tmp_path, HOST, kept)
    assert known_check(tmp_path, HOST) == kept
    assert known_check(tmp_path, replace(HOST, architecture="other")) is None


def test_a_campaign_keeps_the_check_that_was_known_when_it_began() -> None:
    found = check()
    events = (_event(PAIRS_CHECK, asdict(found)), _event("trial-started", {}))
    assert recorded_check(events) == found
    assert recorded_check(events[1:]) is None
    assert recorded_check([_event(PAIRS_CHECK, {"of": "another Teiten"})]) is None
    assert recorded_check([_event(PAIRS_CHECK, {"numbers": [1]})]) is None


def test_a_check_of_one_number_of_clients_is_still_read() -> None:
    """As ledgers have it in which only as many clients as processors were checked."""
    found = check()
    (of_cores,) = {number.clients for number in found.numbers[:2]}
    earlier = asdict(replace(found, numbers=found.numbers[:2])) | {"clients": of_cores}
    for number in earlier["numbers"]:
        del number["clients"]
    read = recorded_check([_event(PAIRS_CHECK, earlier)])
    assert read == replace(found, numbers=found.numbers[:2])


def _text(analysis: CampaignAnalysis, language: Language) -> str:
    return render_markdown(analysis, language)[TEXT].decode()


def _event(kind: str, detail: dict[str, object]) -> Event:
    return Event(0.0, kind, None, None, detail)


@pytest.mark.parametrize(("language", "said"), [("en", "not shown"), ("ja", "確認できない")])
def test_the_terminal_says_what_holds(language: Language, said: str) -> None:
    assert said in pairs_text(check(noise=0.04), language, 100).plain.replace("\n", "")
    assert said not in pairs_text(check(), language, 100).plain


@pytest.mark.parametrize(
    ("language", "cited", "missing"),
    [("en", "more work is seen", "none was made on this machine"), ("ja", "倍に見える", "未実施")],
)
def test_the_report_of_paired_transactions_cites_the_check_or_says_there_is_none(
    language: Language, cited: str, missing: str
) -> None:
    analysis = invented_analysis(seconds=2)
    study = analysis.plan.study
    paired = replace(study, measure=replace(study.measure, way="pairs"))
    without = replace(analysis, plan=replace(analysis.plan, study=paired))
    known = replace(without, pairs_check=check())
    assert missing in _text(without, language)
    said = _text(known, language)
    assert cited in said and missing not in said
    classic = _text(replace(analysis, pairs_check=check()), language)
    assert cited not in classic and missing not in classic
