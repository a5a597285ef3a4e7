"""The reference in docs/ says what the code says; every verb shows examples."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from teiten.cli.main import VERBS, teiten

ROOT = Path(__file__).resolve().parent.parent.parent


def test_the_reference_is_what_the_code_says() -> None:
    result = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "write_reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, f"{result.stderr}\nhint: python tools/write_reference.py"


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
