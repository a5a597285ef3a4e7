"""A question to a person at a terminal, before what takes long or disturbs others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
import pytest

from teiten.cli.campaign.begin import confirm, reasons_to_ask
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.cli.plan.make import Planned
from teiten.host.system.paths import Workdir
from teiten.model.units import Seconds
from tests.fixtures.planned import planned
from tests.fixtures.synthetic_plan import HOST

SHORT = Planned(planned(), HOST, ())
LONG = replace(
    SHORT,
    plan=replace(SHORT.plan, needs=replace(SHORT.plan.needs, seconds=Seconds(9000.0))),
)


def session(*, terminal: bool) -> Session:
    console = Console(Verbosity.QUIET, "always" if terminal else "never")
    return Session(Workdir(Path("/nowhere")), console)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was asked; the answer is no."""
    asked: list[str] = []

    def no(text: str, **_options: object) -> bool:
        asked.append(text)
        return False

    monkeypatch.setattr(click, "confirm", no)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    return asked


def test_what_is_long_or_felt_by_others_is_a_reason() -> None:
    assert not list(reasons_to_ask(SHORT))
    assert list(reasons_to_ask(LONG)) == ["This will take about 2 h 30 min."]
    drops = Planned(planned("caches=drop"), replace(HOST, is_root=True), ())
    assert bool(list(reasons_to_ask(drops))) == drops.facts.can_drop_page_cache


def test_no_ends_it_before_anything_was_started(answers: list[str]) -> None:
    with pytest.raises(click.exceptions.Exit) as caught:
        confirm(session(terminal=True), LONG, yes=False)
    assert caught.value.exit_code == 0
    assert answers == ["Begin?"]


@pytest.mark.parametrize(
    ("terminal", "yes", "plan"), [(False, False, LONG), (True, True, LONG), (True, False, SHORT)]
)
def test_scripts_and_those_who_said_yes_are_not_asked(
    answers: list[str], terminal: bool, yes: bool, plan: Planned
) -> None:
    confirm(session(terminal=terminal), plan, yes=yes)
    assert not answers
