"""The Containerfile, as far as it can be read where no image can be built: what it copies is there,
and what it runs is ours."""

from __future__ import annotations

import re
import subprocess
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


def test_its_demo_is_a_script_of_verbs_that_exist() -> None:
    script = ROOT / "tools" / "container-demo"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["/bin/sh", "-n", str(script)], check=False).returncode == 0
    lines = script.read_text(encoding="utf-8").replace("exec ", "").splitlines()
    verbs = [line.split()[1:] for line in lines if line.startswith("teiten ")]
    assert len(verbs) == 2
    for words in verbs:
        flags = {word for word in words if word.startswith("--")}
        names = [word for word in words[:2] if word in ("pg", "install", "run")]
        said = CliRunner().invoke(teiten, [*names, "--help"]).output
        assert flags <= set(re.findall(r"--[a-z-]+", said))
    demo = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"$(TEITEN) {' '.join(words).replace(' --yes', '')}" in demo for words in verbs)
