"""``studies``, ``show``, ``init`` and the text of ``plan``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from teiten.cli.main import main
from teiten.cli.plan.make import Planned
from teiten.cli.plan.text import plan_lines
from teiten.cli.printed.form import jsonable
from teiten.cli.printed.plan import json_plan
from teiten.cli.text import layout
from teiten.cli.text.layout import NO_LINE_START, bullets, columns, paragraph
from teiten.errors import MachineError
from teiten.model.facts import Caution, Severity
from teiten.plan.dry import actions
from teiten.study.load import load_study
from tests.fixtures.planned import FOLDER, planned
from tests.fixtures.synthetic_plan import HOST

GOLDEN = Path(__file__).parents[1] / "golden" / "study"


def teiten(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    code = caught.value.code
    return code if isinstance(code, int) else 0


def compare(request: pytest.FixtureRequest, name: str, text: str) -> None:
    file = GOLDEN / name
    if request.config.getoption("--update-golden", default=False):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_studies_lists_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert teiten("studies") == 0
    assert "observe  Version observation" in capsys.readouterr().out
    assert teiten("studies", "--lang", "ja") == 0
    assert "observe  定点観測" in capsys.readouterr().out
    assert teiten("studies", "--json") == 0
    (observe,) = [each for each in json.loads(capsys.readouterr().out) if each["name"] == "observe"]
    assert observe["profiles"] == ["quick", "standard", "published"]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("profile", ["standard", "published"])
def test_show_tells_the_study_in_words(
    request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], language: str, profile: str
) -> None:
    assert teiten("show", "observe", "--lang", language, "--profile", profile) == 0
    compare(request, f"show-{profile}.{language}.txt", capsys.readouterr().out)


def test_show_as_json_holds_the_whole_study(capsys: pytest.CaptureFixture[str]) -> None:
    assert teiten("show", "observe", "--profile", "quick", "--json") == 0
    study = json.loads(capsys.readouterr().out)
    assert (study["conclusive"], study["replicates"]) == (True, False)
    assert study["measure"]["blocks"] == 5


@pytest.mark.parametrize("profile", ["quick", "standard", "published"])
def test_a_copy_is_the_same_study(
    profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert teiten("init", "observe") == 0
    file = tmp_path / "mine.toml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    copy = load_study(str(file), profile=profile)
    original = load_study("observe", profile=profile)
    assert copy.file == file
    assert copy == replace(original, file=file, source_text=copy.source_text)
    # Every table and every key is explained by a comment near it, and a copy can be copied.
    assert copy.source_text.count("#") > 40
    assert teiten("init", str(file)) == 0


def test_what_does_not_exist_is_said_with_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert teiten("show", "obsrve") == 2
    assert capsys.readouterr().err == (
        "error: there is no study 'obsrve'. Did you mean 'observe'?\n"
        "hint: teiten studies lists the catalogue; a study file of your own ends in .toml\n"
    )
    assert teiten("init", "nothing.toml") == 2
    assert teiten("plan", "observe", "--set", "clinets=1") == 2
    assert "Did you mean 'clients'?" in capsys.readouterr().err
    assert teiten("plan", "observe", "--name", "../up") == 2
    assert "cannot name a folder" in capsys.readouterr().err


def test_a_flag_of_yesterday_says_its_name_of_today(capsys: pytest.CaptureFixture[str]) -> None:
    assert teiten("plan", "buffers", "--workload", "mine.sql") == 2
    error = capsys.readouterr().err
    assert "--workload is named --script now" in error and "give --script mine.sql" in error
    assert teiten("plan", "--help") == 0
    assert "--workload" not in capsys.readouterr().out
    assert teiten("plan", "buffers", "--script", "no-such.sql") == 2
    assert "no-such.sql" in (told := capsys.readouterr().err) and "is named" not in told


CAUTIONS = (Caution("few-cores", Severity.NOTE, (("cores", "2"),)),)


def test_a_plan_as_text(request: pytest.FixtureRequest) -> None:
    value = Planned(planned(seed=7), HOST, ())
    said = actions(value.plan, HOST, folder=FOLDER, user="postgres")
    text = "\n".join(plan_lines(value, FOLDER, said, order=True, whole=True)) + "\n"
    compare(request, "plan-quick.txt", text)
    short = list(plan_lines(value, FOLDER, said))
    assert "Trials (60, in 5 blocks) in random order: --order lists them" in short
    assert not [line for line in short if "pgbench seed" in line]


def test_a_plan_is_short_unless_the_whole_is_asked_for() -> None:
    """Steps, and actions that differ only in their details, are counted and not listed."""
    value = Planned(planned(seed=7), HOST, CAUTIONS)
    said = actions(value.plan, HOST, folder=FOLDER, user="postgres")
    short = " ".join("\n".join(plan_lines(value, FOLDER, said)).split())
    assert "Trial 1, step" not in short and "4 times, the first: PostgreSQL 18.4" in short
    assert short.count("make a template") == 1
    assert "Compare the two sides" not in short and " - processors: " in short
    whole = " ".join("\n".join(plan_lines(value, FOLDER, said, whole=True)).split())
    assert "Trial 1, step by step (" in whole and "Compare the two sides" in whole


def test_what_stands_in_the_way_comes_first() -> None:
    """Before the conditions, so that no reader of a long plan can miss it."""
    caution = Caution("few-cores", Severity.NOTE, (("cores", "2"),))
    lack = MachineError("no room", "make some")
    lines = list(plan_lines(Planned(planned(), HOST, (caution,)), FOLDER, (), lack=lack))
    assert lines.index("It cannot run here") + 1 == lines.index("  - no room. make some")
    first = next(line for line in lines if line.startswith("server "))
    assert lines.index("It cannot run here") < lines.index("Cautions") < lines.index(first)


def test_a_plan_as_json_has_every_trial() -> None:
    value = Planned(planned("guc:work_mem=4MB,64MB", seed=7), HOST, ())
    data = json.loads(json.dumps(jsonable(json_plan(value, FOLDER, ()))))
    assert len(data["trials"]) == 120
    first = data["trials"][0]
    assert set(first["levels"]) == {"server", "clients", "guc:work_mem"}
    assert first["settings"]["work_mem"] == first["levels"]["guc:work_mem"]
    assert data["needs"]["measured_seconds"] == 120 * data["measure"]["duration"]


def test_columns_count_wide_characters_twice() -> None:
    assert columns([("参照", "a"), ("read", "b")]) == ["参照  a", "read  b"]
    assert columns([("1", "x"), ("10", "y")], right=(0,)) == [" 1  x", "10  y"]
    assert columns([]) == []


def test_japanese_paragraphs_do_not_begin_a_line_with_a_closing_mark(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "検証を行い、結果を示す。" * 20
    for width in range(20, 40):
        monkeypatch.setattr(layout, "WIDTH", width)
        lines = paragraph(text)
        assert "".join(lines) == text
        assert all(line[0] not in NO_LINE_START for line in lines)
        assert all(cell_len(line) <= width for line in lines)


def test_bullets_are_indented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "WIDTH", 11)
    assert bullets(["one two three"]) == ["  - one two", "    three"]
