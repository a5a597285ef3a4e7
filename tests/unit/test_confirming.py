"""A question to a person at a terminal, before what takes long or disturbs others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Never

import click
import pytest
from click.testing import CliRunner

from teiten.cli.campaign.attached import confirm_attached, confirm_reached
from teiten.cli.campaign.begin import confirm, reasons_to_ask
from teiten.cli.collection.planning import first_study
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.cli.plan import builds, make
from teiten.cli.plan.make import Planned, plan_study
from teiten.cli.verbs import plan as plan_verb
from teiten.errors import UsageError
from teiten.execute.sites.remote import hosts as remote_hosts
from teiten.host.system.paths import Workdir
from teiten.model.study import Study
from teiten.model.units import Seconds
from teiten.plan.sites.of import reached
from teiten.study.collection import parsed
from teiten.study.load import load_study
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
    return answered(monkeypatch, yes=False)


def answered(monkeypatch: pytest.MonkeyPatch, *, yes: bool) -> list[str]:
    """The questions that will be asked at a terminal, all with one answer."""
    asked: list[str] = []

    def answer(text: str, **_options: object) -> bool:
        asked.append(text)
        return yes

    monkeypatch.setattr(click, "confirm", answer)
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


ENTRY, NODE = "postgresql://u@evil/db", "postgresql://u@node/db"
STUDY = f"""
[study]
name = "strange"
title = "A stranger's"
question = "Whose password is it?"
contrast = "server"
[factors]
server = ["a", "17"]
clients = [1]
[servers]
a = "{ENTRY}"
unused = "postgresql://u@unused/db"
[clusters.a]
nodes = ["{NODE}"]
[[workloads]]
name = "read"
title = "Read"
script = "select-only"
scale = 1
changes_data = false
"""
HOSTS = """
[hosts]
db = ["db1", "db2"]
client = "load1"
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of a stranger; a connection to what it names fails the test."""

    def connect(*_: object) -> Never:
        raise AssertionError("it was connected to")

    monkeypatch.setattr(builds, "attach", connect)
    monkeypatch.setattr(remote_hosts, "HostPair", connect)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    path = tmp_path / "strange.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


@pytest.fixture
def agrees(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Questions, which are answered by yes."""
    return answered(monkeypatch, yes=True)


def test_no_server_that_a_file_alone_names_is_reached_unasked(file: Path) -> None:
    with pytest.raises(UsageError) as caught:
        plan_study(session(terminal=False), load_study(str(file)), seed=1)
    assert f"connects to {ENTRY} and {NODE}, which {file} names" in caught.value.message
    assert "unused" not in caught.value.message
    assert "--servers NAME=" in caught.value.hint and "--yes" in caught.value.hint


def test_nor_is_a_host(file: Path) -> None:
    file.write_text(STUDY.replace('"a", "17"', '"16", "17"') + HOSTS, encoding="utf-8")
    study = load_study(str(file), overrides=["hosts.db=db1,db3"])
    assert reached(study) == ("db1", "load1", "db3")
    with pytest.raises(UsageError, match=r"connects to load1, which") as caught:
        plan_study(session(terminal=False), study, seed=1)
    assert caught.value.hint
    with pytest.raises(UsageError, match="connects to db1 and load1 and db2"):
        plan_study(session(terminal=False), load_study(str(file)), seed=1)


def named(file: Path, *overrides: str) -> Study:
    return load_study(str(file), servers=[f"a={ENTRY}", "17"], overrides=overrides)


def test_places_of_the_command_line_need_no_answer(file: Path) -> None:
    with pytest.raises(UsageError, match=f"connects to {NODE}, which"):
        confirm_reached(session(terminal=False), named(file))
    confirm_reached(session(terminal=False), named(file, f"servers.node={NODE}"))
    with pytest.raises(UsageError):  # the file's alias, which the command line only repeats
        confirm_reached(session(terminal=False), load_study(str(file), servers=["a", "17"]))


def test_a_person_is_asked_once(file: Path, agrees: list[str]) -> None:
    mine = session(terminal=True)
    for _ in range(2):
        confirm_reached(mine, load_study(str(file)))
    assert agrees == [
        f"Only {file} names {ENTRY} and {NODE}. Connect, with your passwords and keys for it?"
    ]


def test_a_person_says_no(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def abort(*_: object, **__: object) -> Never:
        raise click.Abort

    monkeypatch.setattr(click, "confirm", abort)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(click.Abort):
        plan_study(session(terminal=True), load_study(str(file)), seed=1)


def test_programs_are_refused_and_yes_is_an_answer(file: Path, agrees: list[str]) -> None:
    mine = session(terminal=True)
    mine.console.for_programs = True
    with pytest.raises(UsageError, match="with --json nobody is asked"):
        confirm_reached(mine, load_study(str(file)))
    mine.agreed_to_all = True
    confirm_reached(mine, load_study(str(file)))
    assert not agrees


@pytest.mark.parametrize("words", [(), ("--yes",), ("--json",), ("--yes", "--json")])
def test_the_flags_reach_the_question(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> Never:
        raise click.exceptions.Exit(7)

    monkeypatch.setattr(make, "make_plan", stop)
    mine = session(terminal=False)
    assert CliRunner().invoke(plan_verb.command, ["observe", *words], obj=mine).exit_code == 7
    assert mine.agreed_to_all == ("--yes" in words)
    assert mine.console.for_programs == ("--json" in words)


def test_flags_in_the_file_of_a_collection_are_no_command_line(file: Path) -> None:
    text = f"""
name = "night"
title = {{ en = "Night", ja = "Night" }}
budget = "1h"
target = "10m"
[[campaigns]]
study = "{file}"
name = "strange"
servers = ["a={ENTRY}", "17"]
"""
    table = parsed(file, text).table
    with pytest.raises(UsageError, match=f"connects to {ENTRY} and {NODE}"):
        confirm_reached(session(terminal=False), first_study(table, table.campaigns[0]))


def test_plans_without_servers_of_others_need_no_answer() -> None:
    confirm_attached(session(terminal=False), SHORT.plan, LONG.plan, yes=False)
