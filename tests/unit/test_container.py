"""The Containerfile, as far as it can be read where no image can be built: what it copies is there,
and what it runs is ours."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from teiten.cli.main import teiten

ROOT = Path(__file__).parents[2]


def test_what_it_copies_is_there_and_is_not_ignored() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", text, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    assert "requirements/run.lock" in copied and "src" in copied
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert all((ROOT / one).exists() and one not in ignored for one in copied)
    assert not re.search(r"^(ADD|USER root)", text, re.MULTILINE)


def test_it_runs_the_demo() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^CMD (.+)$", text, re.MULTILINE)
    name, verb, *flags = json.loads(command)
    assert (name, verb) == ("teiten", "demo")
    said = CliRunner().invoke(teiten, [verb, "--help"]).output
    assert set(flags) <= set(re.findall(r"--[a-z-]+", said))
    assert "$(TEITEN) demo\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
