from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len

from teiten.cli.doctor.text import cautions_text, facts_text, summary
from teiten.cli.main import main
from teiten.cli.printed.form import jsonable
from teiten.cli.printed.machine import json_machine
from teiten.cli.text.layout import NO_LINE_START, wrap
from teiten.host.cautions.machine import cautions
from teiten.model.text import Language
from teiten.report.texts import read_entries
from tests.fixtures.invented_machine import GOOD_MACHINE, machine

POOR = machine(
    cpu={"governor": "powersave", "turbo": True, "quota_cores": 1.5, "physical_cores": None},
    memory={"swap_total": 2**30, "swap_used": 2**20, "huge_page_size": None},
    virtualisation="unknown",
    container="docker",
    load_average=None,
    is_root=False,
)


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("facts", [GOOD_MACHINE, POOR])
def test_no_line_is_wider_than_the_terminal(language: Language, width: int, facts: object) -> None:
    assert isinstance(facts, type(GOOD_MACHINE))
    found = cautions(facts)
    for text in (facts_text(facts, language, width), cautions_text(found, language, width)):
        lines = text.plain.splitlines()
        assert len(lines) > 1
        assert max(map(cell_len, lines)) <= width


def test_both_languages_have_the_same_words() -> None:
    assert read_entries("doctor.en.toml").keys() == read_entries("doctor.ja.toml").keys()


def test_the_sums() -> None:
    assert summary(cautions(GOOD_MACHINE), "en") == "Warnings: 0, notes: 1."
    assert summary(cautions(GOOD_MACHINE), "ja") == "警告 0 件、注記 1 件。"
    assert "known to disturb" in cautions_text((), "en", 80).plain


def test_json_holds_facts_and_texts() -> None:
    found = json.loads(json.dumps(jsonable(json_machine(POOR, cautions(POOR), None, (), "ja"))))
    assert found["facts"]["cpu"]["governor"] == "powersave"
    first = found["cautions"][0]
    assert first["severity"] == "warning"
    assert first["what"].endswith("。")


def test_the_verb_prints_data_on_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--workdir", str(tmp_path / "w"), "doctor", "--json"])
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["facts"]["disk"]["free"] > 0
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("width", [20, 33, 60])
def test_japanese_lines_break_between_characters_but_not_before_marks(width: int) -> None:
    text = (
        "停止するか、空いている時間に測定してください（できれば夜間）。PostgreSQL の試行は 3 回。"
    )
    lines = wrap(text, width)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(line) <= width for line in lines)
    assert not any(line[0] in NO_LINE_START for line in lines)
    assert not any(line.endswith("（") for line in lines)


def test_a_long_word_stands_alone() -> None:
    assert wrap("a " + "b" * 30 + " c", 10) == ["a", "b" * 30, "c"]
    assert wrap("", 10) == [""]
