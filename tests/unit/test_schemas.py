"""Every verb's ``--json`` has a schema, and its real output keeps to it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, cast

import click
import jsonschema
import pytest
from click.testing import CliRunner

from teiten.analysis.across.bisection import BisectEnding, BisectStep, CommitComparison
from teiten.analysis.model.findings import CampaignAnalysis, Interval
from teiten.analysis.model.verdict import VerdictKind
from teiten.cli.bisect.search import Search
from teiten.cli.bisect.text import json_search
from teiten.cli.campaign.carry_out import CarriedOut
from teiten.cli.console import json_text
from teiten.cli.doctor.abilities import abilities
from teiten.cli.main import teiten
from teiten.cli.plan.make import Planned
from teiten.cli.printed.form import From, Names, Text, schema_of_type, taken
from teiten.cli.printed.machine import json_machine
from teiten.cli.printed.outcome import json_noise, json_outcome, json_two_sides
from teiten.cli.printed.plan import json_plan
from teiten.cli.printed.registry import BY_NAME, SCHEMAS
from teiten.host.cautions.machine import cautions
from teiten.model.bisection import Mark
from teiten.model.facts import Caution, Severity
from teiten.model.units import Seconds, Share
from teiten.study.document import read_document
from teiten.study.load import catalogue
from tests.fixtures.invented_analysis import empty, invented_analysis, quick
from tests.fixtures.invented_machine import GOOD_MACHINE
from tests.fixtures.planned import FOLDER, planned
from tests.fixtures.schemas import as_printed, described, schema_of
from tests.fixtures.synthetic import START
from tests.fixtures.synthetic_plan import HOST
from tests.fixtures.two_machines import DAY, OTHER, times, write_campaign
from tests.unit.test_noise import FLOOR
from tests.unit.test_pairs_check import check

STUDIES = [(one.name, one.profiles[0]) for one in catalogue()]
UNPLANNED = {"compiler-flags", "cores", "just-upgraded", "placement", "scale-out"}
"""They need builds, processors, programs, folders or extensions that no invented machine has."""
PLANNED = [one.name for one in catalogue() if one.name not in UNPLANNED]
BISECTED = CommitComparison(
    *(
        "bisect-1",
        VerdictKind.SLOWER,
        True,
        Interval(0.9, 0.88, 0.92, Share(0.95)),
        12,
        Share(0.02),
    ),
    *(Seconds(80.0), "report.html"),
)


def verbs_with_json(group: click.Group, above: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from verbs_with_json(found, f"{above}{name} ")
        elif found and any("--json" in param.opts for param in found.params):
            yield f"{above}{name}"


def printed(workdir: Path, *words: str | Path) -> str:
    command = ["--workdir", str(workdir), *map(str, words)]
    done = CliRunner().invoke(teiten, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def workdir(module_folder: Path) -> Path:
    for day in range(6):
        speed = times(0.7 if day >= 3 else 1.0)
        at = START + day * DAY
        write_campaign(
            module_folder / "campaigns" / f"night-{day}", speed=speed, seed=day, created_at=at
        )
    write_campaign(
        module_folder / "campaigns" / "elsewhere", facts=OTHER, created_at=START + 9 * DAY
    )
    (module_folder / "campaigns" / "broken").mkdir()
    (module_folder / "campaigns" / "broken" / "ledger.sqlite").write_text("no ledger")
    return module_folder


@pytest.fixture(scope="module")
def analysis() -> CampaignAnalysis:
    return invented_analysis(seconds=2)


def test_every_verb_with_json_has_one_schema() -> None:
    known = [verb for one in SCHEMAS for verb in (*one.verbs, *one.listing)]
    assert sorted(known) == sorted(verbs_with_json(teiten))
    assert len(BY_NAME) == len(SCHEMAS)


@pytest.mark.parametrize("name", BY_NAME)
def test_each_is_a_schema_with_its_name_and_version(name: str, tmp_path: Path) -> None:
    schema = json.loads(printed(tmp_path, "schema", name))
    jsonschema.Draft202012Validator.check_schema(schema)
    of_second_form = {
        *("verdict", "outcome", "ab", "report", "comparison"),
        *("collection", "collection-comparison", "machine", "bisection"),
    }
    assert schema["$id"] == f"urn:teiten:{name}:{2 if name in of_second_form else 1}"


def test_without_a_name_they_are_listed(tmp_path: Path) -> None:
    lines = printed(tmp_path, "schema").splitlines()
    assert [line.split()[0] for line in lines] == list(BY_NAME)
    assert "teiten run, teiten resume" in lines[1]


@pytest.mark.parametrize(
    "words",
    [
        ("runs",),
        ("report", "night-0"),
        ("compare", "night-0", "elsewhere"),
        ("history",),
        ("history", "--axis", "version"),
        ("claims",),
        ("claims", "observe", "--run", "night-0"),
        ("studies",),
        ("doctor",),
        ("clean", "--all", "--dry-run"),
    ],
    ids=" ".join,
)
def test_what_is_printed_is_described(workdir: Path, words: tuple[str, ...]) -> None:
    assert described(words[0], printed(workdir, *words, "--json"))


def test_exported_and_deleted(workdir: Path, tmp_path: Path) -> None:
    write_campaign(workdir / "campaigns" / "short")
    exported = ("export", "short", "--to", tmp_path / "out", "--format", "csv", "--json")
    assert described("export", printed(workdir, *exported))["campaign"] == "short"
    (gone,) = described("rm", printed(workdir, "rm", "short", "--yes", "--json"))
    assert gone["name"] == "short"


@pytest.mark.parametrize(("study", "profile"), STUDIES)
def test_every_study_is_described(tmp_path: Path, study: str, profile: str) -> None:
    text = printed(tmp_path, "show", study, "--profile", profile, "--json")
    assert described("show", text)["profile"] == profile


@pytest.mark.parametrize("study", PLANNED)
def test_every_plan_is_described(study: str) -> None:
    profile = read_document(study).tables.profiles
    made = planned(study=study, profile=next(iter(profile)), facts=GOOD_MACHINE)
    told = (Caution("swap-used", Severity.WARNING, (("used", "1 MiB"),)),)
    value = json_plan(Planned(made, HOST, told, noise=(FLOOR,)), FOLDER, ("start servers",))
    assert described("plan", as_printed(value))["trials"]


def test_ended_campaigns_are_described(analysis: CampaignAnalysis) -> None:
    for one in (analysis, quick(analysis), empty(analysis)):
        carried = CarriedOut(one, (Path("report.en.html"),), (FLOOR,))
        for verb in ("run", "resume"):
            described(verb, as_printed(json_outcome(one, carried.reports)))
        found = described("null", as_printed(json_noise("one", carried.noise, carried.reports)))
        assert len(found["noise"]) == 1
        if one.contrasts:
            described("ab", as_printed(json_two_sides(one, one.contrasts[0], carried.reports)))


@pytest.mark.parametrize("ending", BisectEnding)
def test_a_search_is_described(ending: BisectEnding) -> None:
    skipped = BisectStep("b" * 40, Mark.SKIP, "does not build")
    search = SimpleNamespace(
        ending=ending,
        candidates=("c" * 40,),
        repository=SimpleNamespace(subject=lambda _: "Change something"),
        last=None,
        against_good=lambda _: BISECTED,
        ends=BISECTED,
        steps=(skipped, BisectStep("c" * 40, Mark.BAD, "", BISECTED, Seconds(80.0))),
        spent=160.0,
        request=SimpleNamespace(command="teiten bisect"),
    )
    found = described("bisect", as_printed(json_search("one", cast("Search", search))))
    assert len(found["steps"]) == 2


def test_a_machine_with_a_check_of_pairs_is_described() -> None:
    value = json_machine(
        GOOD_MACHINE, cautions(GOOD_MACHINE), check(), abilities(GOOD_MACHINE), "en"
    )
    assert described("doctor", as_printed(value))["pairs_check"]["numbers"]


def test_a_new_key_must_be_described(workdir: Path) -> None:
    (first, *_) = value = json.loads(printed(workdir, "runs", "--json"))
    first["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        described("runs", as_printed(value))
    value = json.loads(printed(workdir, "report", "night-0", "--json"))
    value["verdicts"][0]["colour"] = "red"
    with pytest.raises(jsonschema.ValidationError, match="colour"):
        described("report", as_printed(value))
    value["verdicts"][0].pop("colour")
    value["verdicts"][0].pop("ratio")
    with pytest.raises(jsonschema.ValidationError, match="ratio"):
        described("report", as_printed(value))


def test_types_become_schemas_and_others_are_refused() -> None:
    validator = jsonschema.Draft202012Validator(schema_of_type(tuple[str, int | None]))
    assert validator.is_valid(["a", None]) and validator.is_valid(["a", 1])
    assert not validator.is_valid(["a"]) and not validator.is_valid(["a", 1, 2])
    with pytest.raises(TypeError, match="complex"):
        schema_of_type(complex)


@dataclass(frozen=True)
class Part:
    name: Annotated[str, From("kind.value")]
    levels: Names


@dataclass(frozen=True)
class Whole:
    note: Text
    ends: Annotated[tuple[float, float] | None, From("low", "high")]
    parts: Annotated[tuple[Part, ...], From("those")]
    count: Annotated[int, From(lambda source: len(source.those))]


def test_an_object_is_taken_from_another_in_the_forms_of_its_types() -> None:
    part = SimpleNamespace(kind=Mark.BAD, levels=(("clients", "4"),))
    source = SimpleNamespace(note="", low=1.0, high=2.0, those=[part])
    made = taken(Whole, source)
    assert made == Whole(None, (1.0, 2.0), (Part("bad", {"clients": "4"}),), 1)
    assert taken(Whole, source, parts=(), note="seen") == replace(made, parts=(), note="seen")
    assert taken(Whole, SimpleNamespace(note="", low=None, high=None, those=[])).ends is None


def test_a_verb_without_schema_is_not_known() -> None:
    with pytest.raises(KeyError):
        schema_of("init")


def test_the_open_end_of_an_interval_is_null_for_json_has_no_number_for_it() -> None:
    text = json_text({"interval": (0.0, math.inf), "values": [math.nan, 1.5]})
    assert json.loads(text) == {"interval": [0.0, None], "values": [None, 1.5]}
    assert "Infinity" not in text and "NaN" not in text
