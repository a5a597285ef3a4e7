"""Verdicts in the forms of other programs, and the schema of a verdict."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from xml.etree import ElementTree

import jsonschema
import pytest

from teiten.analysis.model.findings import CampaignAnalysis, Interval
from teiten.analysis.verdict.conclusive import marked
from teiten.cli.printed.form import jsonable, taken
from teiten.cli.printed.outcome import JsonVerdict
from teiten.cli.printed.registry import BY_NAME
from teiten.model.units import Share
from teiten.report.exchange import render_exchange
from tests.fixtures.invented_analysis import invented_analysis


@pytest.fixture(scope="module")
def analysis() -> CampaignAnalysis:
    return invented_analysis(seconds=2)


def told(analysis: CampaignAnalysis, form: str) -> str:
    return render_exchange(analysis, form, "en")[1].decode()


def cases(analysis: CampaignAnalysis) -> dict[str, set[str]]:
    """By its name what stands in each test of the suite."""
    root = ElementTree.fromstring(told(analysis, "junit"))
    return {one.get("name", ""): {inner.tag for inner in one} for one in root.iter("testcase")}


def test_a_slower_side_fails_and_what_is_open_is_skipped(analysis: CampaignAnalysis) -> None:
    found = cases(analysis)
    assert found["read, 18 against 17"] == {"system-out"}  # faster
    assert found["update, clients 16, 18 against 17"] == {"failure", "system-out"}
    assert found["update, clients 4, 18 against 17"] == {"skipped", "system-out"}
    suite = next(ElementTree.fromstring(told(analysis, "junit")).iter("testsuite"))
    tags = [tag for one in found.values() for tag in one]
    assert int(suite.get("failures", "")) == tags.count("failure") > 0
    assert int(suite.get("skipped", "")) == tags.count("skipped") > 0
    assert int(suite.get("tests", "")) == len(found)


def test_nothing_fails_that_supports_no_conclusion(analysis: CampaignAnalysis) -> None:
    quick = replace(analysis, contrasts=marked(analysis.contrasts))
    assert all("skipped" in one for one in cases(quick).values())
    measures = [name for one in json.loads(told(quick, "bencher")).values() for name in one]
    assert measures and all(measure.endswith("-no-conclusion") for measure in measures)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x0b", "\ufffe", "\ud800"])
def test_a_name_may_have_a_character_that_xml_forbids(
    analysis: CampaignAnalysis, character: str
) -> None:
    named = replace(analysis, name=f"before{character}after \U0001f418")
    suite = next(ElementTree.fromstring(told(named, "junit")).iter("testsuite"))
    assert suite.get("name") == "before\ufffdafter \U0001f418"


def test_bencher_has_the_ratio_between_its_ends(analysis: CampaignAnalysis) -> None:
    found = json.loads(told(analysis, "bencher"))
    assert len(found) >= 4
    for measures in found.values():
        (measure,) = measures.values()
        assert measure["lower_value"] < measure["value"] < measure["upper_value"]


BENCHER = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "propertyNames": {"maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "additionalProperties": False,
            "properties": {
                name: {"type": "number"} for name in ("value", "lower_value", "upper_value")
            },
        },
    },
}
"""Bencher's metric format as its reference describes it, with the longest names that it takes."""
BENCHMARK_ACTION = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
        "properties": {
            "value": {"type": "number"},
            **{name: {"type": "string"} for name in ("name", "unit", "range", "extra")},
        },
    },
}
"""A custom benchmark of github-action-benchmark, as its README describes it."""
COUNTED = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}


@pytest.mark.parametrize("supports", [True, False], ids=["conclusive", "quick"])
def test_files_have_the_form_that_is_documented(analysis: CampaignAnalysis, supports: bool) -> None:
    one = analysis if supports else replace(analysis, contrasts=marked(analysis.contrasts))
    for form, schema in (("bencher", BENCHER), ("benchmark-action", BENCHMARK_ACTION)):
        jsonschema.Draft202012Validator(schema).validate(json.loads(told(one, form)))


def test_junit_has_the_attributes_and_counts_that_readers_ask_for(
    analysis: CampaignAnalysis,
) -> None:
    root = ElementTree.fromstring(told(analysis, "junit"))
    assert root.tag == "testsuites" and [suite.tag for suite in root] == ["testsuite"]
    (suite,) = root
    for attribute, tag in COUNTED.items():
        assert int(suite.attrib[attribute]) == len(suite.findall(f".//{tag}")), attribute
    assert suite.attrib["name"] and float(suite.attrib["time"]) >= 0
    for case in suite:
        assert case.attrib.keys() == {"classname", "name", "time"}
        (*outcome, output) = case
        assert output.tag == "system-out" and len(outcome) < 2
        assert all(each.attrib["message"] for each in outcome)


def test_smaller_is_better_for_the_benchmark_action(analysis: CampaignAnalysis) -> None:
    found = {one["name"]: one for one in json.loads(told(analysis, "benchmark-action"))}
    assert found["read, 18 against 17"]["value"] < 1 < found["update, 18 against 17"]["value"]
    assert all(set(one) == {"name", "unit", "value", "range", "extra"} for one in found.values())


def test_a_level_is_told_with_its_interval(analysis: CampaignAnalysis) -> None:
    name = "update, clients 16, 18 against 17"
    root = ElementTree.fromstring(told(analysis, "junit"))
    (case,) = (case for case in root.iter("testcase") if case.get("name") == name)
    text = case.findtext("system-out", "")
    assert text.startswith("16 clients: slower; TPS, 18.4 ÷ 17.10 = 0.9")
    assert "(97.5 % interval 0.9" in text
    assert case.find("failure[@message]") is not None
    measured = {
        entry["name"]: entry["extra"] for entry in json.loads(told(analysis, "benchmark-action"))
    }
    assert measured[name] == text


def test_an_interval_without_an_end_is_told_without_it(analysis: CampaignAnalysis) -> None:
    unbounded = Interval(1.1, 0.0, math.inf, Share(0.975))
    contrasts = tuple(
        replace(contrast, overall=replace(contrast.overall, effect=unbounded), levels=())
        for contrast in analysis.contrasts
    )
    wide = replace(analysis, contrasts=contrasts)
    measures = [entry for of in json.loads(told(wide, "bencher")).values() for entry in of.values()]
    assert measures and all(entry == {"value": 1.1, "lower_value": 0.0} for entry in measures)
    entries = json.loads(told(wide, "benchmark-action"))
    assert entries and {entry["range"] for entry in entries} == {"0.0000 to inf"}


def test_a_summary_is_the_first_screen_without_pictures(analysis: CampaignAnalysis) -> None:
    text = told(analysis, "github")
    assert text.count("## ") >= 1 and "![" not in text
    assert "faster" in text and "| clients |" in text


def test_every_verdict_is_as_the_schema_says(analysis: CampaignAnalysis) -> None:
    schema = BY_NAME["verdict"].make()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    verdicts = [level.verdict for contrast in analysis.contrasts for level in contrast.levels] + [
        one.overall for one in marked(analysis.contrasts)
    ]
    for verdict in verdicts:
        validator.validate(jsonable(taken(JsonVerdict, verdict)))
    wrong = {**jsonable(taken(JsonVerdict, verdicts[0])), "verdict": "better"}
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(wrong)
