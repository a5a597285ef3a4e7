"""The options of ``ab`` and ``null``."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.cli.plan.two_sides import SharedOptions
from tests.fixtures.verbs import Verbs, verbs_in


def test_the_options_as_a_command_line_that_repeats_them() -> None:
    options = SharedOptions(
        script="q.sql",
        clients="4",
        duration="5s",
        budget="1h",
        slices=5,
        blocks=9,
        delta="1%",
        alpha="5%",
        overrides=("scale=3",),
        gucs=("work_mem=1MB", "jit=off"),
        profile="quick",
    )
    assert options.as_arguments() == [
        "--script", "q.sql", "--clients", "4", "--profile", "quick", "--duration", "5s",
        "--slices", "5", "--budget", "1h", "--blocks", "9", "--delta", "1%", "--alpha", "5%",
        "--set", "scale=3", "--guc", "work_mem=1MB", "--guc", "jit=off",
    ]  # fmt: skip
    assert SharedOptions().as_arguments() == []


@pytest.fixture
def teiten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verbs:
    return verbs_in(tmp_path, capsys)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("18", "18"), "nothing makes them differ"),
        (("17",), "Missing argument 'B'"),
        (("17", "18", "--fail-on", "sloer"), "'sloer' is not one of 'slower'"),
        (("17", "18", "--blocks", "1"), "1 is not in the range"),
        (("17", "18", "--name", "last"), "--name 'last' cannot name a campaign"),
        (("17", "18", "--delta", "0%"), "--delta: must be above 0%"),
        (("17", "18", "--slices", "4", "--duration", "6s"), "--slices: 4 slices do not divide"),
        (
            ("17", "18", "--json", "--set", "workloads=read,update"),
            "teiten ab --json has one verdict, and there are 2 workloads: read, update",
        ),
        (("17", "18", "--profile", "quck"), "no such profile. Did you mean 'quick'"),
    ],
)
def test_bad_usage_ends_with_2_and_runs_nothing(
    teiten: Verbs, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    said = teiten("ab", *words)
    assert said.code == 2
    assert message in said.err and "hint:" in said.err
    assert said.out == ""
    assert not list((tmp_path / "campaigns").glob("*"))


@pytest.mark.parametrize(
    "flags",
    [("--delta", "0%"), ("--set", "measure.blokcs=3"), ("--set", "workloads.read.scal=3")],
    ids=str,
)
def test_hints_say_what_prints_the_keys_and_need_no_name_of_a_study(
    teiten: Verbs, flags: tuple[str, ...]
) -> None:
    said = teiten("ab", "17", "18", *flags)
    assert "hint: teiten init observe prints every key" in said.err
    assert "STUDY" not in said.err


@pytest.mark.parametrize("verb", ["ab", "null"])
def test_each_verb_shows_two_examples(teiten: Verbs, verb: str) -> None:
    said = teiten(verb, "--help")
    assert said.code == 0
    assert "Examples:" in said.out and "--json" in said.out
    assert said.out.count(f"teiten {verb}") >= 3
