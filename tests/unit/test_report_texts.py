"""The translations: same keys, same placeholders, none missing, none unused."""

from __future__ import annotations

import re
import string
import tomllib
from pathlib import Path

import pytest

import teiten.kinds
import teiten.report
from teiten.analysis.model.findings import VerdictKind
from teiten.model.facts import Caution, Severity
from teiten.model.study import CachePolicy
from teiten.model.text import Language, joined_sentences
from teiten.model.trial import Outcome, Problem, Step
from teiten.report.texts import (
    PARTS,
    caution_text,
    read_entries,
    texts,
    with_words,
    words_in,
)
from teiten.study.document import CATALOGUE

SOURCES = (Path(teiten.report.__file__).parent, Path(teiten.kinds.__path__[0]))


def placeholders(text: str) -> set[str]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field}


@pytest.mark.parametrize("part", PARTS)
def test_both_languages_have_the_same_keys_and_placeholders(part: str) -> None:
    english, japanese = read_entries(f"{part}en.toml"), read_entries(f"{part}ja.toml")
    assert english, "the file is there"
    same_keys_and_placeholders(english, japanese)


@pytest.mark.parametrize("package", with_words())
def test_the_words_of_a_folder_are_there_in_both_languages(package: str) -> None:
    same_keys_and_placeholders(words_in(package, "en"), words_in(package, "ja"))


def same_keys_and_placeholders(english: dict[str, str], japanese: dict[str, str]) -> None:
    assert english.keys() == japanese.keys()
    different = {
        key for key in english if placeholders(english[key]) != placeholders(japanese[key])
    }
    assert not different


def mentions() -> tuple[set[str], list[re.Pattern[str]]]:
    """Keys that the code names in full, and patterns of those that it composes."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for folder in SOURCES
        for pattern in ("**/*.py", "templates/*.j2")
        for path in folder.glob(pattern)
    )
    whole: set[str] = set()
    for key in re.findall(r"""["']([a-z-]+\.[A-Za-z0-9_.-]+)["']""", text):
        whole |= {key, f"{key}.one", f"{key}.many"}
    composed = re.findall(r"""f["']([a-z-]+\.[^"']*\{[^"']*)["']""", text)
    composed += [f"{one}{{x}}" for one in re.findall(r"""["']([a-z-]+\.)["'] ~""", text)]
    composed += [f"{family}.{{key}}" for family in re.findall(r'statement\(t, "([a-z-]+)"', text)]
    patterns = [
        re.compile("[A-Za-z0-9_.:-]+".join(map(re.escape, re.split(r"\{[^}]*\}", one))))
        for one in composed
    ]
    return whole, patterns


def without_cautions(name: str) -> dict[str, str]:
    """Cautions are named by the code that finds them, outside of the reports."""
    return {key: text for key, text in read_entries(name).items() if "caution." not in key}


def test_no_text_is_unused() -> None:
    whole, patterns = mentions()
    unused = {
        key
        for key in {
            **read_entries("en.toml"),
            **without_cautions("profiles.en.toml"),
            **{key: text for one in with_words() for key, text in words_in(one, "en").items()},
        }
        if key not in whole and not any(pattern.fullmatch(key) for pattern in patterns)
    }
    assert not unused


def test_no_text_that_the_code_composes_is_missing() -> None:
    known = texts("en").entries
    needed = {f"outcome.{one.value}" for one in Outcome}
    needed |= {f"severity.{one.value}" for one in Severity}
    needed |= {f"procedure.caches.{one.value}" for one in CachePolicy}
    needed |= {f"verdict.{one.value}" for one in VerdictKind}
    needed |= {f"problem.{one.value}-failed" for one in Step if one is not Step.CHECK}
    assert not needed - known.keys()


def test_sentences_are_joined_as_each_language_has_it() -> None:
    assert joined_sentences(("One.", "", "Two.")) == "One. Two."
    assert joined_sentences(("一文。", "", "二文。")) == "一文。二文。"


def test_a_missing_key_or_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        texts("en")("no.such.key")
    with pytest.raises(KeyError):
        texts("en")("unit.percent", other=1)


def test_a_caution_without_text_shows_its_code_and_values() -> None:
    caution = Caution("no-such-caution", Severity.NOTE, (("cores", "2"),))
    assert caution_text(caution, "en") == ("no-such-caution (cores 2)", "")


def test_problems_have_words_in_both_languages() -> None:
    problem = Problem("steal", "9 %")
    assert texts("en").problem(problem) == "the hypervisor took CPU time"
    assert "steal" in texts("ja").problem(problem)
    assert texts("ja").problem(Problem("unheard-of", "")) == "unheard-of"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("factor", ["layout", "parameters", "placement"])
def test_every_named_level_of_a_shipped_study_has_words(factor: str, language: Language) -> None:
    """A name such as visible-75 is for files and commands."""
    t, named = texts(language), set()
    for path in CATALOGUE.glob("*.toml"):
        study = tomllib.loads(path.read_text(encoding="utf-8"))
        layouts = (workload.get("data", {}).get("layouts", ()) for workload in study["workloads"])
        named |= {*study["factors"].get(factor, ())}
        named |= {name for names in layouts for name in names if factor == "layout"}
    assert len(named) > 4 and not [name for name in named if f"level.{factor}.{name}" not in t]


def test_names_with_commas_stay_apart() -> None:
    t = texts("en")
    assert t.listed(["VACUUM", "REINDEX"]) == "VACUUM, REINDEX"
    assert t.listed(["VACUUM", "CREATE INDEX, BRIN"]) == "VACUUM; CREATE INDEX, BRIN"
    assert t.listed(["CREATE INDEX, BRIN"]) == "CREATE INDEX, BRIN"
    assert texts("ja").listed(["継承", "単表のDELETE、VACUUM"]) == "継承；単表のDELETE、VACUUM"
    assert (t.quoted("8 clients"), t.quoted("index scan, join")) == (
        "8 clients",
        "“index scan, join”",
    )
