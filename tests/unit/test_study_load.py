"""The catalogue's studies, profiles, and what the command line changes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from teiten.datasets.pgbench.model import PgbenchTables, pgbench_data
from teiten.kinds.pgbench.model import pgbench_of
from teiten.model.study import CachePolicy, Factor, PreferredWay, QueryMode, Sequential
from teiten.model.text import Bilingual
from teiten.model.units import Seconds
from teiten.study.document import CATALOGUE
from teiten.study.load import catalogue, load_study

OWN = """\
[study]
name = "mine"
title = "Mine"
question = { en = "Which?", ja = "どちら" }
contrast = "guc:work_mem"
[servers]
new = "18"
[factors]
server = ["new"]
clients = [4]
"guc:work_mem" = ["4MB", "64MiB"]
[[workloads]]
name = "sort"
title = "Sort"
script = "sort.sql"
scale = 5
changes_data = false
[settings]
jit = false
work_mem = "1GB"
[settings.Random_Page_Cost]
value = 1.1
reason = "an SSD"
"""


@pytest.fixture
def own(tmp_path: Path) -> str:
    (tmp_path / "sort.sql").write_text("SELECT 1;\n", encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(OWN, encoding="utf-8")
    return str(file)


def test_the_catalogue_lists_observe() -> None:
    (observe,) = [study for study in catalogue() if study.name == "observe"]
    assert observe.title == Bilingual("Version observation", "定点観測")
    assert observe.profiles == ("quick", "standard", "published")
    assert observe.sources == (
        "PGECons WG1 2021 §4",
        "PGECons WG1 2020 §4",
        "PGECons WG1 2013 §2.3",
    )


def test_observe_asks_what_the_reports_ask() -> None:
    study = load_study("observe")
    assert study.profile == "standard"
    assert study.conclusive
    assert [workload.name for workload in study.workloads] == ["read", "update"]
    assert study.workload("update").data == pgbench_data(None, 80)
    assert study.workload("update").changes_data
    assert not study.workload("read").changes_data
    assert study.factor("clients") == Factor("clients", ())
    settings = {setting.name: setting.value for setting in study.settings}
    assert settings == {
        "max_connections": "500",
        "shared_buffers": None,
        "work_mem": None,
        "maintenance_work_mem": None,
        "checkpoint_timeout": "60min",
        "max_wal_size": None,
        "log_checkpoints": "on",
        "log_lock_waits": "on",
        "autovacuum": "off",
    }
    for setting in study.settings:
        assert setting.reason.en and setting.reason.ja and setting.source


@pytest.mark.parametrize("file", sorted(CATALOGUE.glob("*.toml")), ids=lambda file: file.stem)
def test_published_runs_no_less_often_than_standard(file: Path) -> None:
    """A report's own runs, three of each, give intervals too wide for the α that statements
    share."""
    table = tomllib.loads(file.read_text(encoding="utf-8"))
    blocks = {
        name: profile.get("blocks", table["measure"]["blocks"])
        for name, profile in table["profiles"].items()
    }
    assert blocks.get("published", blocks["standard"]) >= blocks["standard"] >= 5


def test_published_has_the_numbers_of_the_reports() -> None:
    study = load_study("observe", profile="published")
    levels = ("1", "16", "32", "64", "96", "128", "160", "192")
    assert study.workload("read").own_levels("clients") == levels
    assert study.workload("update").own_levels("clients") == (*levels, "288", "432")
    factor = study.factor("clients")
    assert factor is not None and factor.levels == (*levels, "288", "432")
    assert {workload.data.scale for workload in study.workloads} == {2000}
    assert study.measure.duration == 300.0
    settings = {setting.name: setting.value for setting in study.settings}
    assert settings["shared_buffers"] == "40GB"
    assert settings["work_mem"] == "1GB"
    assert settings["max_wal_size"] == "160GB"


def test_standard_prefers_all_clients_on_one_server_and_ends_with_a_decision() -> None:
    """Findings about N clients are of N clients on one server, which pairs would spread."""
    measure = load_study("observe").measure
    decided = Sequential(budget=Seconds(900.0))
    assert (measure.way, measure.sequential) == ("classic", None)
    assert measure.preferred == PreferredWay("in-step", decided)


def test_a_budget_of_the_command_line_is_that_of_any_way() -> None:
    measure = load_study("observe", budget="7m").measure
    assert measure.sequential == Sequential(budget=Seconds(420.0))
    assert measure.preferred == PreferredWay("in-step", measure.sequential)
    bounded = load_study("observe", blocks=4, budget="7m").measure.sequential
    assert bounded == Sequential(budget=Seconds(420.0), most_blocks=4)


def test_a_way_of_the_command_line_is_preferred_to_none() -> None:
    measure = load_study("observe", overrides=["way=classic"]).measure
    assert (measure.sequential, measure.preferred) == (None, None)


def test_blocks_of_the_command_line_fix_the_design() -> None:
    measure = load_study("observe", blocks=4).measure
    assert measure.sequential is None
    assert measure.preferred == PreferredWay("in-step", None)


def test_quick_is_a_quick_look_in_pairs_where_they_can_be_had() -> None:
    study = load_study("observe", profile="quick")
    assert study.measure.way == "classic"
    assert study.measure.preferred == PreferredWay("pairs", None)
    classic = load_study("observe", profile="quick", overrides=["way=classic"])
    assert classic.measure.preferred is None
    assert study.conclusive and not study.replicates
    assert study.factor("clients") == Factor("clients", ("1", "2", "4"))
    assert study.measure.blocks == 5
    assert study.workload("read").data == pgbench_data(10, 100)
    assert study.differences[-2].en.startswith("Trials of 2 seconds")


def test_optional_workloads_run_where_they_are_named() -> None:
    study = load_study("observe", overrides=["workloads=tpcb-like,read"])
    assert [workload.name for workload in study.workloads] == ["tpcb-like", "read"]
    assert pgbench_of(study.workload("tpcb-like")).script.builtin
    assert pgbench_of(study.workload("tpcb-like")).invariants == ("tpcb-balances",)
    every = load_study("observe", overrides=["workloads=all"])
    assert [workload.name for workload in every.workloads] == [
        "read",
        "update",
        "tpcb-like",
        "simple-update",
        "select-only",
    ]


def test_flags_change_what_they_name() -> None:
    study = load_study(
        "observe",
        profile="quick",
        servers=["13, 18"],
        overrides=[
            "clients=1,8",
            "measure.duration=20s",
            "workloads.read.scale=50",
            "query_mode=prepared",
            "caches=drop",
            "prewarm=off",
        ],
        gucs=["Work_Mem=1.5GiB", "jit=off"],
        blocks=4,
        delta="1%",
        alpha="1%",
    )
    assert study.factor("server") == Factor("server", ("13", "18"))
    assert study.factor("clients") == Factor("clients", ("1", "8"))
    assert [workload.data.scale for workload in study.workloads] == [50, 10]
    assert {pgbench_of(workload).query_mode for workload in study.workloads} == {QueryMode.PREPARED}
    measure = study.measure
    assert (measure.duration, measure.blocks, measure.delta, measure.alpha) == (20.0, 4, 0.01, 0.01)
    assert measure.caches is CachePolicy.DROP
    assert not measure.prewarm
    by_name = {setting.name: setting for setting in study.settings}
    assert by_name["work_mem"].value == "1536MB"
    assert by_name["work_mem"].source == "command line"
    assert by_name["jit"].reason == Bilingual("set on the command line", "コマンドラインで指定")
    assert study.overrides == (
        "server=13,18",
        "clients=1,8",
        "measure.duration=20s",
        "workloads.read.scale=50",
        "query_mode=prepared",
        "caches=drop",
        "prewarm=off",
        "settings.Work_Mem=1.5GiB",
        "settings.jit=off",
        "blocks=4",
        "delta=1%",
        "alpha=1%",
    )


def test_clients_from_the_command_line_replace_those_of_every_workload() -> None:
    study = load_study("observe", profile="published", overrides=["clients=8"])
    assert study.factor("clients") == Factor("clients", ("8",))
    assert [workload.levels for workload in study.workloads] == [(), ()]


def test_any_factor_can_be_added() -> None:
    study = load_study(
        "observe",
        overrides=["checksums=off,on", "query_mode=simple,prepared", "guc:shared_buffers=1GB,4GB"],
    )
    assert [factor.name for factor in study.factors] == [
        "server",
        "clients",
        "checksums",
        "query_mode",
        "guc:shared_buffers",
    ]
    assert "shared_buffers" not in {setting.name for setting in study.settings}


def test_a_level_with_a_comma_stands_in_quotes() -> None:
    study = load_study("observe", overrides=['guc:synchronous_standby_names="a,b",c'])
    factor = study.factor("guc:synchronous_standby_names")
    assert factor is not None and factor.levels == ("a,b", "c")


def test_one_server_with_two_settings_is_a_contrast_too() -> None:
    study = load_study(
        "observe",
        servers=["18"],
        overrides=["contrast=guc:huge_pages", "guc:huge_pages=off,on"],
    )
    assert study.contrast == "guc:huge_pages"


def test_a_script_takes_the_place_of_the_workloads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my script.sql").write_text("SELECT 2;\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    study = load_study("observe", profile="quick", overrides=["script=my script.sql"])
    (workload,) = study.workloads
    assert workload.name == "my-script"
    assert pgbench_of(workload).script.text == "SELECT 2;\n"
    assert workload.changes_data, "what a user's script does is not known"
    assert workload.data == pgbench_data(10, 100)
    unchanged = load_study(
        "observe", overrides=["script=my script.sql", "changes_data=false", "fillfactor=90"]
    )
    assert not unchanged.workloads[0].changes_data
    assert unchanged.workloads[0].data.options_as(PgbenchTables).fillfactor == 90


def test_a_study_file_of_ones_own(own: str) -> None:
    study = load_study(own)
    assert study.name == "mine"
    assert study.title == Bilingual("Mine", "Mine")
    assert study.profile == "standard"
    assert study.server_aliases == (("new", "18"),)
    assert study.factor("guc:work_mem") == Factor("guc:work_mem", ("4MB", "64MB"))
    settings = {setting.name: (setting.value, setting.source) for setting in study.settings}
    assert settings == {"jit": ("off", "mine.toml"), "random_page_cost": ("1.1", "mine.toml")}
    assert pgbench_of(study.workloads[0]).script.text == "SELECT 1;\n"
    assert study.file == Path(own)
    assert study.source_text == OWN


def test_a_script_may_stand_in_the_study(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = OWN.replace('script = "sort.sql"', "script = '''\n\\set x 1\nSELECT :x;\n'''")
    file.write_text(text, encoding="utf-8")
    script = pgbench_of(load_study(str(file)).workloads[0]).script
    assert (script.name, script.text) == ("sort.sql", "\\set x 1\nSELECT :x;\n")
