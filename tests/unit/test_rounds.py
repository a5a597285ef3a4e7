"""Rounds: each pair begins with new copies of the data, and the sentence says what was new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from teiten.analysis.model.findings import CampaignAnalysis, Interval, Verdict, VerdictKind
from teiten.cli.plan.text import linked_text
from teiten.errors import UsageError
from teiten.host.facts.kept import noise_key
from teiten.host.facts.kernel import boot_id
from teiten.model.attached import AttachedServer
from teiten.model.build import BuildFacts
from teiten.model.plan import PlannedTrial
from teiten.model.text import Language
from teiten.model.units import Share
from teiten.plan.estimate import estimate
from teiten.plan.sites.remote import check_remote
from teiten.report.scope import boots, round_rows
from teiten.report.sentences import verdict_sentence
from teiten.report.texts import texts
from teiten.study.load import load_study
from tests.fixtures.invented_analysis import LOST, invented_analysis
from tests.fixtures.pairs import ab_plan
from tests.fixtures.synthetic_plan import HOST

FASTER = Verdict(
    VerdictKind.FASTER, False, Interval(1.05, 1.01, 1.1, Share(0.95)), 6, Share(0.02), None
)

ATTACHED = AttachedServer(
    address="postgresql://somewhere/postgres",
    role="somebody",
    superuser=True,
    can_checkpoint=True,
    can_prewarm=True,
    data_checksums=True,
    free_connections=50,
    other_sessions=0,
    encrypted=False,
    local=True,
    loopback=True,
)


@pytest.fixture(scope="module")
def invented() -> CampaignAnalysis:
    return invented_analysis(seconds=2)


def of_rounds(analysis: CampaignAnalysis, *booted: str | None) -> CampaignAnalysis:
    """The campaign in rounds that ran in these boots, in turn; None in an unknown one."""
    study = analysis.plan.study
    study = replace(study, measure=replace(study.measure, rounds=True))
    trials = tuple(
        replace(trial, facts={**trial.facts, "boot": booted[(trial.block - 1) % len(booted)]})
        for trial in analysis.trials
    )
    return replace(analysis, plan=replace(analysis.plan, study=study), trials=trials)


def said(analysis: CampaignAnalysis, language: Language = "en", rounds: int = 6) -> str:
    contrast = replace(analysis.contrasts[0], overall=replace(FASTER, pairs=rounds))
    return verdict_sentence(analysis, contrast, language)


def test_rounds_are_the_most_pairs_and_cost_copies() -> None:
    usual, plan = ab_plan(way="pairs", blocks=8), ab_plan(way="pairs", rounds=8)
    assert plan.study.measure.rounds and plan.study.measure.sequential is not None
    assert plan.study.measure.blocks == usual.study.measure.blocks == 8
    assert plan.needs.seconds > usual.needs.seconds, "both sides are copied for each round"
    assert plan.needs.disk == usual.needs.disk, "copies of a round are gone before the next"
    assert [trial.cell for trial in plan.trials] == [trial.cell for trial in usual.trials]
    with pytest.raises(UsageError, match="--blocks and --rounds"):
        ab_plan(rounds=8, blocks=8)


def test_a_round_is_a_start() -> None:
    with pytest.raises(UsageError, match="a round begins with a start"):
        load_study("observe", overrides=["rounds=yes", "restart_every=2"])
    study = load_study("observe", overrides=["rounds=yes"])
    with pytest.raises(UsageError, match="rounds: not with servers"):
        check_remote(study, ())


@pytest.mark.parametrize(
    ("booted", "words"),
    [
        (("a",), "the binaries, and the boot of the machine, are the same in all"),
        (("a", "b"), "and they span 2 boots of the machine; the binaries are"),
        (("a", "b", "c", "d", "e"), "and a boot of the machine of its own; the binaries are"),
        (("a", None), "whether the machine was booted in between is not known"),
    ],
)
def test_the_sentence_claims_what_the_rounds_varied(
    invented: CampaignAnalysis, booted: tuple[str | None, ...], words: str
) -> None:
    analysis = of_rounds(invented, *booted)
    sentence = said(analysis)
    assert "Each of the 6 rounds had new copies of the data files" in sentence
    assert sentence.endswith((f"{words}.", f"{words} the same in all."))
    assert "in this campaign" not in sentence
    assert boots(analysis) == (None if None in booted else len(booted))
    assert "{" not in said(analysis, "ja") and "ラウンド" in said(analysis, "ja")


def test_a_boot_is_a_rounds_own_where_no_other_round_of_the_verdict_has_it(
    invented: CampaignAnalysis,
) -> None:
    """As many boots as rounds are not enough: one may be of a round that does not count."""
    lost = invented.plan.trials[LOST - 1]
    assert (lost.cell.workload, lost.block) == ("read", 2), "four rounds are left of five"
    shared = of_rounds(invented, "a", "lost", "a", "b", "c")
    assert "they span 3 boots of the machine" in said(shared, rounds=4)
    own = of_rounds(invented, "a", "a", "b", "c", "d")
    assert "a boot of the machine of its own" in said(own, rounds=4)
    first = next(trial for trial in own.trials if trial.workload == "read")
    between = tuple(
        replace(trial, facts={**trial.facts, "boot": "e"} if trial is first else trial.facts)
        for trial in own.trials
    )
    assert "they span 5 boots of the machine" in said(replace(own, trials=between), rounds=4)


def test_an_undecided_verdict_claims_nothing(invented: CampaignAnalysis) -> None:
    analysis = of_rounds(invented, "a")
    open_one = replace(FASTER, kind=VerdictKind.INCONCLUSIVE)
    contrast = replace(analysis.contrasts[0], overall=open_one)
    assert "rounds" not in verdict_sentence(analysis, contrast, "en")


def test_an_attached_server_gets_what_can_be_had(invented: CampaignAnalysis) -> None:
    analysis = of_rounds(invented, "a")
    (level, server), *others = analysis.plan.servers
    attached = replace(server, attached=ATTACHED)
    plan = replace(analysis.plan, servers=((level, attached), *others))
    sentence = said(replace(analysis, plan=plan))
    assert "new connections and a new copy of the database, and no more" in sentence
    assert "All pairs share one start of the attached servers" in sentence


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_design_tells_what_a_round_is(invented: CampaignAnalysis, language: Language) -> None:
    assert round_rows(texts(language), invented) == ()
    ((_, text),) = round_rows(texts(language), of_rounds(invented, "a", "b"))
    assert "2" in text and "{" not in text


def test_the_kernel_tells_in_which_boot_it_runs(tmp_path: Path) -> None:
    assert boot_id(tmp_path) is None
    file = tmp_path / "proc/sys/kernel/random/boot_id"
    file.parent.mkdir(parents=True)
    file.write_text("d6b5c5a6-0000\n")
    assert boot_id(tmp_path) == "d6b5c5a6-0000"


def test_the_noise_of_rounds_is_kept_by_itself() -> None:
    """It has what the files give, which others' trials keep."""
    usual, rounds = ab_plan(way="pairs", blocks=8), ab_plan(way="pairs", rounds=8)
    assert noise_key(HOST, usual, usual.trials[0]) != noise_key(HOST, rounds, rounds.trials[0])


LINKED_ANEW = {"linked": {"seed": 1, "fingerprint": "f", "seconds": 2.0}}


def with_orders(analysis: CampaignAnalysis, *servers: int) -> CampaignAnalysis:
    """The trials of these servers of the plan had programs that were linked anew."""
    names = {analysis.plan.servers[server][1].name for server in servers}
    of_trial = {trial.number: trial.template.installation.name for trial in analysis.plan.trials}
    trials = tuple(
        replace(trial, facts={**trial.facts, **LINKED_ANEW})
        if of_trial[trial.number] in names
        else trial
        for trial in analysis.trials
    )
    return replace(analysis, trials=trials)


def test_the_sentence_says_which_servers_were_linked_anew(invented: CampaignAnalysis) -> None:
    analysis = of_rounds(invented, "a", "b")
    both, one = with_orders(analysis, 0, 1), with_orders(analysis, 1)
    name = analysis.plan.servers[1][1].name
    assert said(both).endswith(
        "Each of the 6 rounds had new copies of the data files, and every server linked with its"
        " objects in a new order; they span 2 boots of the machine."
    )
    assert f"{name} linked with the objects in a new order (other binaries" in said(one)
    assert "the binaries are the same in all" not in said(both) + said(one)
    assert "オブジェクトの順序を変えてすべてのサーバをリンクし直した" in said(both, "ja")
    assert f"{name}だけを" in said(one, "ja")
    ((_, row),) = round_rows(texts("en"), both)
    assert "every server linked" in row and "not linked anew" not in row
    ((_, row),) = round_rows(texts("en"), analysis)
    assert "the binaries are not linked anew" in row


def test_one_trial_without_an_order_of_its_own_takes_its_server_out(
    invented: CampaignAnalysis,
) -> None:
    analysis = with_orders(of_rounds(invented, "a"), 0, 1)
    first, *others = analysis.trials
    facts = {name: one for name, one in first.facts.items() if name != "linked"}
    mixed = replace(analysis, trials=(replace(first, facts=facts), *others))
    assert "every server" not in said(mixed)


def test_the_plan_says_which_servers_will_be_linked_anew() -> None:
    plan = ab_plan(way="pairs", rounds=8)
    facts = BuildFacts("key", "a source", "digest", None, (), None, False, "cc", relink_seconds=3.0)
    servers = [replace(one, build=facts) if n else one for n, (_, one) in enumerate(plan.servers)]
    levels = [level for level, _ in plan.servers]
    mixed = replace(plan, servers=tuple(zip(levels, servers, strict=True)))
    old, new = (server.name for server in servers)
    assert f"linked with its objects in a new order: {new};" in linked_text(mixed)
    assert linked_text(mixed).endswith(f"kept its objects: {old}")
    assert "linked with" not in linked_text(plan)
    trials = [_with_build(trial, facts) for trial in plan.trials]
    seconds = (
        estimate(plan.study, trials, ()).seconds - estimate(plan.study, plan.trials, ()).seconds
    )
    assert seconds == pytest.approx(3.0 * len(plan.trials))


def _with_build(trial: PlannedTrial, facts: BuildFacts) -> PlannedTrial:
    templates = tuple(
        replace(template, installation=replace(template.installation, build=facts))
        for template in trial.templates
    )
    return replace(trial, templates=templates)
