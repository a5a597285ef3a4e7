"""The reference in docs/ says what the code says; every verb shows examples."""

from __future__ import annotations

import re

import click
import pytest
from tools.write_reference import differing

from teiten.cli.main import VERBS, teiten


def test_the_reference_is_what_the_code_says() -> None:
    assert differing() == [], "hint: python tools/write_reference.py"


@pytest.mark.parametrize("width", [50, 80])
def test_help_breaks_no_name_at_a_hyphen(width: int) -> None:
    for verb in VERBS:
        command = teiten.get_command(click.Context(teiten), verb)
        assert command is not None
        context = command.context_class(command, info_name=verb, terminal_width=width)
        broken = re.findall(r"\w+-\n.*", command.get_help(context))
        assert not broken, verb


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_help_shows_two_examples(verb: str) -> None:
    command = teiten.get_command(click.Context(teiten), verb)
    assert command is not None
    assert (command.epilog or "").count(f"teiten {verb}") >= 2, command.epilog
