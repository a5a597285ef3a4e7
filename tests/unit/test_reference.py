"""The reference in docs/ says what the code says; every verb shows examples."""

from __future__ import annotations

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


@pytest.mark.parametrize("verb", VERBS)
def test_a_verbs_help_shows_two_examples(verb: str) -> None:
    command = teiten.get_command(click.Context(teiten), verb)
    assert command is not None
    assert (command.epilog or "").count(f"teiten {verb}") >= 2, command.epilog
