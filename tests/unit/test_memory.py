"""A memory that is limited, and shared_buffers as a share of it, as far as a plan is concerned."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.cli.plan.make import Planned
from teiten.cli.plan.text import plan_lines
from teiten.cli.text.study import study_lines
from teiten.errors import MachineError, StudyError, TeitenError, UsageError
from teiten.model.facts import HostFacts
from teiten.model.memory import memory_of, shares_of
from teiten.model.plan import Plan
from teiten.model.quantities import exact_size, parse_size
from teiten.model.text import Language
from teiten.model.units import GIB, KIB, MIB, Bytes
from teiten.plan.cells import buffers
from teiten.plan.checks import check, least_memory, limits_of
from teiten.plan.estimate import within
from teiten.plan.expand import expand
from teiten.plan.sites.attached import AttachedPlan
from teiten.plan.sites.contract import ActionContext
from teiten.plan.sites.local import LocalPlan
from teiten.plan.sites.remote import check_remote
from teiten.plan.sizing import size
from teiten.study.load import load_study
from teiten.study.sides import Shared, SideFlags, ab_study
from tests.fixtures.planned import FOLDER, PGBENCH, fingerprint, planned
from tests.fixtures.synthetic_plan import HOST, make_installation
from tests.unit.test_attached import server

BY_SHARE = ("contrast=guc:shared_buffers", "guc:shared_buffers=25%,50%,75%", "factors.server=18")
SHARES = (("a", "25%"), ("b", "50%"))


def sizes(plan: Plan) -> set[tuple[str, str]]:
    """Labels, and what the server gets."""
    return {
        (trial.cell.level("guc:shared_buffers") or "", dict(trial.settings)["shared_buffers"])
        for trial in plan.trials
    }


def test_the_memory_in_force_is_the_limit_or_the_machines() -> None:
    limited, whole = planned(memory="2GiB"), planned()
    assert memory_of(limited.study) == memory_of(limited.study, limited.trials[0]) == 2 * GIB
    assert memory_of(whole.study) == memory_of(whole.study, whole.trials[0]) == 8 * GIB
    assert {trial.memory_limit for trial in limited.trials} == {2 * GIB}
    assert {trial.memory_limit for trial in whole.trials} == {None}
    assert limits_of(limited) == (2 * GIB,) and limits_of(whole) == ()
    with pytest.raises(RuntimeError, match="sized"):
        memory_of(load_study("observe"))


def test_shares_are_labels_and_become_whole_blocks_of_the_memory_in_force() -> None:
    plan = planned(*BY_SHARE, memory="1000MB")
    assert sizes(plan) == {("25%", "250MB"), ("50%", "500MB"), ("75%", "750MB")}
    plan = planned(*BY_SHARE)
    assert sizes(plan) == {("25%", "2GB"), ("50%", "4GB"), ("75%", "6GB")}
    assert shares_of(plan) == {"25%": ("2GB",), "50%": ("4GB",), "75%": ("6GB",)}


@pytest.mark.parametrize("share", ["10%", "33.3%", "80 %", "0.1%", "99%"])
def test_any_share_is_whole_blocks_and_never_more_than_the_share(share: str) -> None:
    memory = Bytes(1_234_567_890)
    found = buffers(share, memory)
    exact = memory * float(share.rstrip("% ")) / 100
    assert found % (8 * KIB) == 0 and exact - 8 * KIB < found <= exact
    assert parse_size(exact_size(found)) == found


def test_a_tiny_share_is_one_block() -> None:
    assert buffers("0.0001%", Bytes(MIB)) == 8 * KIB


def test_a_share_is_taken_wherever_it_stands() -> None:
    plan = planned("settings.shared_buffers=25%", memory="2GiB")
    assert {dict(trial.settings)["shared_buffers"] for trial in plan.trials} == {"512MB"}
    assert shares_of(plan) == {"25%": ("512MB",)}
    a, b = (SideFlags(name, "18", (f"guc:shared_buffers={share}",)) for name, share in SHARES)
    study = size(ab_study(a, b, Shared(clients="1")), HOST)
    servers = [(alias, make_installation("18.4")) for alias in ("A", "B")]
    plan = expand(study, servers, PGBENCH, seed=1, fingerprint=fingerprint)
    assert shares_of(plan) == {"25%": ("2GB",), "50%": ("4GB",)}
    assert {dict(trial.settings)["shared_buffers"] for trial in plan.trials} == {"2GB", "4GB"}


def test_each_memory_has_shares_of_its_own() -> None:
    plan = planned(*BY_SHARE, "memory=2GiB,1GiB")
    assert shares_of(plan)["25%"] == ("256MB", "512MB")
    for trial in plan.trials:
        limit = parse_size(trial.cell.level("memory") or "")
        assert trial.memory_limit == limit == memory_of(plan.study, trial)
        share = float((trial.cell.level("guc:shared_buffers") or "").rstrip("%")) / 100
        assert parse_size(dict(trial.settings)["shared_buffers"]) == limit * share


def test_what_is_derived_fits_the_smallest_memory() -> None:
    large, small = planned(), planned("memory=512MB,machine")
    assert least_memory(small.study) == 512 * MIB
    assert {trial.memory_limit for trial in small.trials} == {512 * MIB, None}
    of_large, of_small = (dict(one.trials[0].settings) for one in (large, small))
    assert parse_size(of_small["maintenance_work_mem"]) < parse_size(
        of_large["maintenance_work_mem"]
    )


def test_a_profile_changes_it_and_a_flag_changes_that(tmp_path: Path) -> None:
    text = (Path(load_study.__code__.co_filename).parents[1] / "studies/observe.toml").read_text(
        encoding="utf-8"
    )
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("[profiles.quick]", '[profiles.quick]\nmemory = "2GiB"'))
    assert load_study(str(path), profile="quick").measure.memory == 2 * GIB
    assert load_study(str(path), profile="standard").measure.memory is None
    assert load_study(str(path), profile="quick", memory="machine").measure.memory is None
    assert load_study(str(path), profile="quick", memory="1GiB").measure.memory == GIB


def test_a_study_says_it_in_words() -> None:
    study = load_study("observe", memory="2GiB")
    said: dict[Language, str] = {"en": "page cache 2.0 GiB", "ja": "合計メモリ 2.0 GiB"}
    for language, words in said.items():
        text = " ".join(" ".join(study_lines(study, (), (), language)).split())
        assert words in text


@pytest.mark.parametrize(
    ("overrides", "memory", "said"),
    [
        ((), "2", "--memory: '2' needs a unit"),
        ((), "64MB", "--memory: must be at least 128MB"),
        ((), "all", "--memory: 'all' is not a size"),
        (("memory=1GiB,1024MB",), None, "the level 1024MB .the same as 1GiB. stands there twice"),
        (("factors.memory=1GiB,2GiB",), "2GiB", "--memory: fixes the memory, but the factor"),
        ((*BY_SHARE[:1], "guc:shared_buffers=25%,25.0%"), None, "the same as 25%"),
    ],
)
def test_what_cannot_be_read_is_refused_where_it_stands(
    overrides: tuple[str, ...], memory: str | None, said: str
) -> None:
    with pytest.raises((UsageError, StudyError), match=said) as caught:
        planned(*overrides, memory=memory)
    assert caught.value.hint


def checked(*overrides: str, facts: HostFacts = HOST, memory: str | None = None) -> Plan:
    plan = planned(*overrides, facts=facts, memory=memory)
    check(plan, facts, FOLDER)
    return plan


@pytest.mark.parametrize(
    ("overrides", "memory", "said", "hint"),
    [
        ((), "9GiB", "memory=9GB: the machine has 8.0 GiB", "--memory machine"),
        (
            (*BY_SHARE[:1], "guc:shared_buffers=25%,95%", "factors.server=18"),
            "1GiB",
            "is too small for .*=95%: the server takes about .*972.8 MiB of shared buffers",
            "a larger --memory",
        ),
        (
            ("guc:shared_buffers=128MB,64MB", "clients=400", "guc:max_connections=500"),
            "1GiB",
            "is too small for .* 400 clients",
            "fewer clients",
        ),
        (("slices=2", "duration=4s"), "5GiB", "for each of 2 servers side by side", "--memory"),
        (("guc:shared_buffers=100%,50%",), None, "shared_buffers=100% is no share", "below 100%"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_numbers(
    overrides: tuple[str, ...], memory: str | None, said: str, hint: str
) -> None:
    with pytest.raises(TeitenError, match=said) as caught:
        checked(*overrides, memory=memory)
    assert hint in caught.value.hint


def test_huge_pages_would_be_outside_of_the_limit() -> None:
    facts = replace(HOST, memory=replace(HOST.memory, huge_pages_total=900, huge_pages_free=900))
    with pytest.raises(MachineError, match=r"900 huge pages .*huge_pages=try .* outside") as caught:
        checked("scale=1", facts=facts, memory="2GiB")
    assert "--guc huge_pages=off" in caught.value.hint
    checked("scale=1", "settings.huge_pages=off", facts=facts, memory="2GiB")
    checked("scale=1", facts=facts)


def test_a_limit_needs_its_whole_memory_of_the_machine() -> None:
    """The page cache fills what servers leave."""
    plan = checked("scale=1", memory="2GiB")
    assert plan.needs.seconds == pytest.approx(planned("scale=1").needs.seconds + 2)
    assert plan.needs.memory > 2 * GIB > within(plan.study, plan.trials[0])
    busy = replace(HOST, memory=replace(HOST.memory, available=Bytes(2 * GIB)))
    with pytest.raises(
        MachineError, match=r"a limit of 2.0 GiB\), 2.0 GiB are available"
    ) as caught:
        checked("scale=1", facts=busy, memory="2GiB")
    assert "less with --memory SIZE" in caught.value.hint


def test_only_servers_that_teiten_starts_here_can_be_limited() -> None:
    study = size(load_study("observe", memory="2GiB"), HOST)
    with pytest.raises(UsageError, match="memory: not with servers or load generators on other"):
        check_remote(study, [("17", make_installation("17.4"))])
    attached = replace(make_installation("17.4"), attached=server())
    with pytest.raises(UsageError, match="memory: the server 17 is attached"):
        AttachedPlan().check_server(study, "17", attached)


def test_the_plan_says_what_it_comes_to_and_what_is_done() -> None:
    plan = planned(*BY_SHARE, memory="2GiB")
    told = ActionContext(plan, HOST, FOLDER, "postgres")
    actions = tuple(LocalPlan().actions(told))
    text = "\n".join(plan_lines(Planned(plan, HOST, ()), FOLDER, actions))
    assert "25% (512MB), 50% (1GB), 75% (1536MB), contrasted" in text
    assert "2.0 GiB for server, load generator and page cache together" in text
    assert "a control group of 2.0 GiB, without swap" in " ".join(text.split())
    assert "take the cluster's own files out of the page cache" in " ".join(text.split())
    assert LocalPlan().start(plan.trials[0]).startswith("start PostgreSQL 18.4 inside 2.0 GiB of")
