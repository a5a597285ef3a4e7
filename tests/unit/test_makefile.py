"""``make help`` lists the targets that people use, and nothing else of the file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.same

ROOT = Path(__file__).parents[2]
INNER = {"check-types", "check-units", "help", "needs", "test-crates", "test-python"}
"""Targets of other targets."""


def test_help_names_every_target_once() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    listed = [re.match(r"make (\S+)  +\S", line) for line in done.stdout.splitlines()]
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert phony is not None and None not in listed, done
    assert sorted(one[1] for one in listed if one) == sorted({*phony[1].split()} - INNER)
