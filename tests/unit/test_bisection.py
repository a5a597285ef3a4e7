"""The search for a commit: what a comparison says, and git's part on real repositories."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from teiten.analysis.across.bisection import (
    BisectEnding,
    BisectStep,
    CommitComparison,
    campaign_alpha,
    comparisons,
    direction,
    mark_of,
    needs_more_pairs,
    step_alpha,
    step_delta,
)
from teiten.analysis.model.findings import Interval, VerdictKind
from teiten.analysis.verdict.verdict import (
    IDENTICAL_PAIRS,
    INCOMPLETE_BLOCKS,
    INFINITE_INTERVAL,
    LEFT_BEHIND,
    LEVELS_DIFFER,
    NOT_AVERAGED,
    NOT_POSITIVE,
    OVER_TIMEOUT,
    TOO_FEW_PAIRS,
)
from teiten.cli.bisect import comparison as comparing
from teiten.cli.bisect import search as searching
from teiten.cli.bisect.comparison import Question, compare
from teiten.cli.bisect.search import BisectRecord, Request, Search
from teiten.cli.bisect.text import answer
from teiten.cli.console import Console, Verbosity
from teiten.cli.main import Session
from teiten.cli.plan.two_sides import SharedOptions
from teiten.errors import LedgerError, UsageError
from teiten.execute.bisect import BisectRepository
from teiten.host.system.paths import Workdir
from teiten.model.bisection import Mark
from teiten.model.build import BuildSpec
from teiten.model.text import Bilingual
from teiten.model.units import Seconds, Share
from tests.fixtures.small_source import commit, git
from tests.fixtures.synthetic_plan import make_installation
from tests.fixtures.verbs import verbs_in

SESSION = Session(Workdir(Path("/nowhere")), Console(Verbosity.QUIET, "never"))
SLOWER, FASTER = VerdictKind.SLOWER, VerdictKind.FASTER


def comparison(
    verdict: VerdictKind, ratio: float = 0.9, *, beyond: bool = True
) -> CommitComparison:
    effect = Interval(ratio, ratio - 0.01, ratio + 0.01, Share(0.95))
    return CommitComparison("c", verdict, beyond, effect, 9, Share(0.02), Seconds(60), "r")


def test_what_is_looked_for_is_what_the_ends_show() -> None:
    assert direction(comparison(SLOWER)) is SLOWER
    assert direction(comparison(FASTER, 1.1)) is FASTER
    for kind in set(VerdictKind) - {SLOWER, FASTER}:
        assert direction(comparison(kind)) is None


@pytest.mark.parametrize(("looked_for", "other"), [(SLOWER, FASTER), (FASTER, SLOWER)])
def test_a_commit_is_marked_only_where_its_interval_is_on_one_side(
    looked_for: VerdictKind, other: VerdictKind
) -> None:
    assert mark_of(looked_for, comparison(looked_for)) is Mark.BAD
    assert mark_of(looked_for, comparison(looked_for, beyond=False)) is None
    assert mark_of(looked_for, comparison(VerdictKind.INCONCLUSIVE)) is None
    for kind in (VerdictKind.EQUIVALENT, VerdictKind.DIFFERENT_BUT_SMALL, other):
        assert mark_of(looked_for, comparison(kind)) is Mark.GOOD


def test_only_what_is_not_decided_needs_more_pairs() -> None:
    assert needs_more_pairs(comparison(VerdictKind.INCONCLUSIVE), beyond_delta=False)
    assert needs_more_pairs(comparison(SLOWER, beyond=False), beyond_delta=True)
    assert not needs_more_pairs(comparison(SLOWER, beyond=False), beyond_delta=False)
    assert not needs_more_pairs(comparison(SLOWER), beyond_delta=True)
    assert not needs_more_pairs(comparison(VerdictKind.EQUIVALENT), beyond_delta=True)


@pytest.mark.parametrize(
    ("reason", "mended"),
    [
        *((reason, True) for reason in (TOO_FEW_PAIRS, INCOMPLETE_BLOCKS, INFINITE_INTERVAL)),
        *((reason, False) for reason in (NOT_AVERAGED, NOT_POSITIVE, OVER_TIMEOUT)),
        *((reason, False) for reason in (IDENTICAL_PAIRS, LEFT_BEHIND, LEVELS_DIFFER)),
    ],
)
def test_what_pairs_do_not_mend_is_not_repeated(reason: str, mended: bool) -> None:
    without = replace(comparison(VerdictKind.INCONCLUSIVE), effect=None, reason=reason)
    assert needs_more_pairs(without, beyond_delta=True) is mended


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.97, 1.05, 2.0])
def test_the_limit_lies_half_way_between_the_ends(ratio: float) -> None:
    band = math.log1p(step_delta(comparison(SLOWER, ratio)))
    assert band == pytest.approx(abs(math.log(ratio)) / 2, abs=1e-4)


def test_the_whole_search_errs_in_alpha() -> None:
    assert [comparisons(count) for count in (1, 2, 3, 8, 9)] == [2, 3, 4, 5, 6]
    assert step_alpha(0.05, 5) == pytest.approx(0.01)


def test_all_campaigns_of_a_comparison_err_in_its_alpha_together() -> None:
    alphas = [campaign_alpha(0.0083, number) for number in range(1, 30)]
    assert math.fsum(alphas) <= 0.0083 and alphas[0] == 0.0083 / 2
    assert step_alpha(0.001, 12) * 12 <= 0.001, "an α that was given small stays so"


def test_a_comparison_is_repeated_at_less_alpha_and_not_where_pairs_do_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_ = comparison(VerdictKind.INCONCLUSIVE)
    answers: list[CommitComparison] = []
    asked: list[tuple[str, float]] = []

    def campaign(_session: Session, question: Question, name: str) -> CommitComparison:
        asked.append((name, question.alpha))
        return answers[len(asked) - 1]

    monkeypatch.setattr(comparing, "_campaign", campaign)
    question = Question(
        *("s-ends", "a", "b", Bilingual("", ""), SharedOptions(), Share(0.02), Share(0.01)),
        *(False, Seconds(60), Seconds(600), "teiten bisect"),
    )
    answers += [open_, open_, comparison(SLOWER)]
    last, spent = compare(SESSION, question)
    assert (last, spent) == (comparison(SLOWER), Seconds(180))
    assert asked == [("s-ends", 0.005), ("s-ends-2", 0.0025), ("s-ends-3", 0.00125)]
    asked.clear()
    answers[:] = [replace(open_, effect=None, reason=LEFT_BEHIND)]
    assert compare(SESSION, question) == (answers[0], Seconds(60))


def search_of(repository: Any = None) -> Search:
    spec = BuildSpec(source="checkout")
    request = Request(
        *("s", "g" * 40, "b" * 40, spec, SharedOptions(), None, Share(0.02), Share(0.05)),
        *(Seconds(600), "teiten bisect"),
    )
    nothing: Any = SimpleNamespace(steps=tuple)
    return Search(SESSION, request, repository, nothing, ("c" * 40,), candidates=("c" * 40,))


def test_ends_that_are_one_build_are_not_said_to_have_been_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = make_installation("17.4")
    monkeypatch.setattr(searching, "build_commit", lambda *_: built)
    search = search_of()
    search.run()
    assert search.ending is BisectEnding.SAME_BUILD and search.ends is None
    assert answer(search) == "good and bad are the same build: nothing was measured"


def test_why_a_search_ended_undecided_is_said() -> None:
    """Not the budget, where no pairs would have decided."""
    cut_short, ends = comparison(VerdictKind.INCONCLUSIVE), comparison(SLOWER)
    stuck = replace(cut_short, effect=None, reason=LEFT_BEHIND)
    mixed = replace(stuck, verdict=VerdictKind.MIXED, reason=LEVELS_DIFFER)
    search = search_of()

    def text_of(ends: CommitComparison, step: CommitComparison | None = None) -> str:
        search.ends, search.undecided = ends, BisectStep("c" * 40, None, "", step)
        return answer(search)

    assert text_of(cut_short).endswith("within --budget 600s")
    for comparison_of, why in ((stuck, "leaves behind"), (mixed, "contradict one another")):
        assert "--budget" not in text_of(comparison_of) and why in text_of(comparison_of)
        at_commit = text_of(ends, comparison_of)
        assert at_commit.startswith("cccccccccc is not decided: no interval (") and why in at_commit
        assert "budget" not in at_commit and at_commit.endswith(
            "it is one of 1 commits: cccccccccc"
        )
    for step in (None, cut_short):
        assert text_of(ends, step).startswith("the budget is spent; it is one of 1 commits")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("history") / "checkout"
    folder.mkdir()
    return folder, [commit(folder, f"commit {number}") for number in range(12)]


@pytest.mark.parametrize("first_bad", [1, 2, 6, 11])
def test_git_finds_the_first_bad_commit(
    history: tuple[Path, list[str]], tmp_path: Path, first_bad: int
) -> None:
    folder, commits = history
    before = git(folder, "rev-parse", "HEAD"), (folder / ".git" / "HEAD").read_text()
    repository = BisectRepository(tmp_path / "search" / "repository.git", folder)
    assert repository.range(commits[0], commits[-1]) == tuple(reversed(commits[1:]))
    marks: list[tuple[str, Mark]] = []
    while (stands := repository.stand(commits[0], commits[-1], marks)).following is not None:
        bad = commits.index(stands.following) >= first_bad
        marks.append((stands.following, Mark.BAD if bad else Mark.GOOD))
    assert stands.candidates == (commits[first_bad],)
    assert len(marks) <= comparisons(11) - 2
    assert repository.parent(commits[first_bad]) == commits[first_bad - 1]
    assert repository.subject(commits[3]) == "commit 3"
    assert before == (git(folder, "rev-parse", "HEAD"), (folder / ".git" / "HEAD").read_text())
    assert not git(folder, "for-each-ref", "refs/bisect")
    assert not (folder / ".git" / "BISECT_LOG").exists()


def test_what_only_skipped_commits_hide_is_said(
    history: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, commits = history
    repository = BisectRepository(tmp_path / "repository.git", folder)
    skipped = range(4, 8)
    marks: list[tuple[str, Mark]] = []
    while (stands := repository.stand(commits[0], commits[-1], marks)).following is not None:
        number = commits.index(stands.following)
        mark = Mark.SKIP if number in skipped else Mark.BAD if number > 5 else Mark.GOOD
        marks.append((stands.following, mark))
    assert set(stands.candidates) == {commits[number] for number in range(4, 9)}


def test_ends_that_do_not_follow_one_another_are_refused(
    history: tuple[Path, list[str]], tmp_path: Path
) -> None:
    folder, commits = history
    repository = BisectRepository(tmp_path / "repository.git", folder)
    with pytest.raises(UsageError, match="no ancestor"):
        repository.range(commits[5], commits[2])
    with pytest.raises(UsageError, match="no git checkout"):
        BisectRepository(tmp_path / "other.git", tmp_path)


@pytest.mark.parametrize(
    ("count", "said_of_it"), [(1, "1 commit, about 2 "), (3, "3 commits, about 4 ")]
)
def test_a_search_begins_with_its_size(
    history: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, count: int, said_of_it: str,
) -> None:  # fmt: skip
    folder, commits = history

    def run(search: Search) -> None:
        search.ending = BisectEnding.SAME_BUILD

    monkeypatch.setattr(Search, "run", run)
    ends = ("--good", commits[0], "--bad", commits[count])
    answered = verbs_in(tmp_path, capsys)("bisect", *ends, "--source", str(folder))
    assert answered.code == 0 and f": {said_of_it}comparisons" in answered.err


def test_several_workloads_are_refused_before_anything_is_built(
    history: tuple[Path, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, commits = history
    scripts = tmp_path / "sql"
    scripts.mkdir()
    for name in ("q.sql", "r.sql"):
        (scripts / name).write_text("SELECT 1;\n", encoding="ascii")
    ends = ("--good", commits[0], "--bad", commits[3], "--source", str(folder))
    for flags, names in (
        (("--script", str(scripts)), "q, r"),
        (("--set", "workloads=read,update"), "read, update"),
    ):
        answered = verbs_in(tmp_path / "work", capsys)("bisect", *ends, *flags)
        assert answered.code == 2 and "hint: search with the one" in answered.err
        assert f"teiten bisect has one verdict, and there are 2 workloads: {names}" in answered.err
        assert not list((tmp_path / "work" / "bisects").glob("*"))


def test_a_record_survives_and_belongs_to_one_question(tmp_path: Path) -> None:
    record = BisectRecord(tmp_path / "search", {"good": "a"})
    steps = (
        BisectStep("c1", Mark.SKIP, "it does not build"),
        BisectStep("c2", Mark.BAD, "", comparison(SLOWER), Seconds(70)),
    )
    for step in steps:
        record.add(step)
    assert BisectRecord(tmp_path / "search", {"good": "a"}).steps() == steps
    with pytest.raises(UsageError, match="asked something else"):
        BisectRecord(tmp_path / "search", {"good": "b"})
    (tmp_path / "search" / "steps.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(LedgerError, match="damaged"):
        record.steps()
