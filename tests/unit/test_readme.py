"""The studies of guides are read as they stand, and all commands are Teiten's."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from teiten.cli.main import teiten
from teiten.study.load import load_study

pytestmark = pytest.mark.same

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)")


def blocks(page: Path, language: str) -> list[str]:
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def test_the_readme_is_read_in_two_minutes() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 620


def test_the_study_of_the_guide_to_two_indexes_is_one(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs/guides/two-indexes.md", "toml")
    for name in ("tables.sql", "narrow.sql", "wide.sql", "sql/latest.sql"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("SELECT 1;\n", encoding="utf-8")
    file = tmp_path / "indexes.toml"
    file.write_text(text, encoding="utf-8")
    assert load_study(str(file)).contrast == "layout"


def test_the_study_of_the_guide_is_one(tmp_path: Path) -> None:
    text = blocks(ROOT / "docs/guides/own-question.md", "toml")[0]
    (tmp_path / "mine.sql").write_text("SELECT 1;\n", encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    study = load_study(str(file))
    assert (study.title.en, study.workloads[0].title.ja) == ("shared_buffers for my query", "mine")


def commands(page: Path) -> list[list[str]]:
    """The lines of shell blocks that call Teiten, without their comments."""
    lines = (
        line
        for text in blocks(page, "sh")
        for line in text.replace("\\\n", " ").splitlines()
        if line.startswith("teiten ")
    )
    return [shlex.split(re.split(r"\s(?:>|\||&&)\s", line)[0], comments=True) for line in lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_is_one(page: Path) -> None:
    """Verbs and options exist; nothing is run."""
    for words in commands(page):
        found, rest = _verb(words[1:])
        known = {name for param in found.params for name in (*param.opts, *param.secondary_opts)}
        for word in rest:
            name = word.partition("=")[0]
            if re.fullmatch(r"--[a-z][a-z-]*", name):
                assert name in known | {"--help"}, f"{shlex.join(words)}: {name}"


def _verb(words: list[str]) -> tuple[click.Command, list[str]]:
    found: click.Command = teiten
    rest = list(words)
    while isinstance(found, click.Group):
        of_group = {name for param in found.params for name in param.opts}
        while rest and rest[0].startswith("-"):
            assert rest[0].partition("=")[0] in of_group | {"--help", "--version"}, rest
            rest = rest[2:] if rest[0] == "--workdir" else rest[1:]
        if not rest:
            break
        inner = found.get_command(click.Context(found), rest[0])
        assert inner is not None, f"there is no verb {rest[0]}"
        found, rest = inner, rest[1:]
    return found, rest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page: Path) -> None:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link
