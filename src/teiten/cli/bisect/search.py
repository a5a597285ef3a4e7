"""The search for a commit: builds, comparisons, and what is known after each.

Record of a search on the disk: one line for each commit, so that a kill loses none.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from teiten.analysis.across.bisection import (
    BisectEnding,
    BisectStep,
    CommitComparison,
    comparisons,
    direction,
    mark_of,
    step_alpha,
    step_delta,
)
from teiten.analysis.model.findings import VerdictKind
from teiten.cli.bisect.comparison import Question, compare
from teiten.cli.main import Session
from teiten.cli.plan.builds import SHORT, build_commit
from teiten.cli.plan.two_sides import SharedOptions
from teiten.errors import (
    BuildError,
    LedgerError,
    ServerError,
    TrialsFailedError,
    UsageError,
    WorkloadError,
    first_line,
)
from teiten.execute.bisect import BisectRepository
from teiten.host.system.held_folder import HeldFolder
from teiten.model.bisection import Mark
from teiten.model.build import BuildSpec
from teiten.model.installation import Installation
from teiten.model.text import Bilingual
from teiten.model.units import Seconds, Share
from teiten.report.effects import percent_decimals
from teiten.report.texts import texts

REQUEST = "request.json"
STEPS = "steps.jsonl"
_STEP = TypeAdapter(BisectStep)


class BisectRecord:
    """A search's folder: what was asked, and its steps in order."""

    def __init__(self, folder: Path, request: dict[str, Any]) -> None:
        """Open or make it. Raises UsageError where another search has the name."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / REQUEST
        if path.exists():
            if json.loads(path.read_text(encoding="utf-8")) != request:
                raise UsageError(
                    f"the search {folder.name} asked something else",
                    "give another --name; to continue a search, repeat its command as it was",
                )
        else:
            self._write(REQUEST, json.dumps(request, indent=1) + "\n")

    def steps(self) -> tuple[BisectStep, ...]:
        """The steps so far. Raises LedgerError where the file is damaged."""
        path = self.folder / STEPS
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else ()
        try:
            return tuple(map(_STEP.validate_json, lines))
        except ValidationError as error:
            raise LedgerError(
                f"{path} is damaged: {error.errors()[0]['msg']}",
                "delete the folder to search anew; its campaigns are kept",
            ) from error

    def add(self, step: BisectStep) -> None:
        """Write a step; durable when it returns."""
        self._write(
            STEPS, "".join(json.dumps(asdict(known)) + "\n" for known in (*self.steps(), step))
        )

    def _write(self, name: str, text: str) -> None:
        with HeldFolder.open(self.folder) as held:
            held.write(name, text.encode(), mode=None, durable=True)


THE_SAME = "the same build as the good commit"


@dataclass(frozen=True)
class Request:
    """A request for a search: the commits, the build, and how commits are compared."""

    name: str
    good: str
    """Whole hashes."""
    bad: str
    spec: BuildSpec
    """Its source is the checkout; the commit is added."""
    options: SharedOptions
    """Options of all comparisons: workload, clients, duration, parameters."""
    delta: Share | None
    """None: half of what good and bad differ by."""
    least_delta: Share
    """The delta for the comparison of the ends, where ``delta`` is None."""
    alpha: Share
    budget: Seconds
    command: str
    jobs: int | None = None


@dataclass
class Search:
    """A search on its way; ``run`` carries it out, or on."""

    session: Session
    request: Request
    repository: BisectRepository
    record: BisectRecord
    commits: tuple[str, ...]
    """After good up to bad, the newest first."""
    spent: float = 0.0
    """Seconds of all comparisons."""
    ends: CommitComparison | None = None
    last: CommitComparison | None = None
    """The first bad commit against its parent."""
    undecided: BisectStep | None = None
    """The step that was not decided; a longer budget takes it up again."""
    candidates: tuple[str, ...] = ()
    ending: BisectEnding = BisectEnding.UNDECIDED
    builds: dict[str, Installation] = field(default_factory=dict)
    """By commit."""

    @property
    def steps(self) -> tuple[BisectStep, ...]:
        """Every commit that was looked at, in the order of the search."""
        return (*self.record.steps(), *([self.undecided] if self.undecided else []))

    def run(self) -> None:
        """Raises BuildError and others where good or bad cannot be built or run."""
        self.candidates = self.commits
        self.spent = sum(step.seconds for step in self.steps)
        good, bad = self._build(self.request.good), self._build(self.request.bad)
        if good.name == bad.name:
            self.ending = BisectEnding.SAME_BUILD
            return
        self.ends = self._compare("ends", good, bad, self.request.bad)
        if self.ends is None:
            raise UsageError(
                f"--budget {self.request.budget:g}s is too short for one comparison",
                "give a longer --budget, or a shorter --duration",
            )
        looked_for = direction(self.ends)
        if looked_for is None:
            undecided = self.ends.verdict in (VerdictKind.INCONCLUSIVE, VerdictKind.MIXED)
            self.ending = BisectEnding.UNDECIDED if undecided else BisectEnding.NO_DIFFERENCE
            return
        self.ending = self._search(good, looked_for)
        if self.ending is BisectEnding.FOUND:
            self._confirm(self.candidates[0])

    def _search(self, good: Installation, looked_for: VerdictKind) -> BisectEnding:
        """Mark commit after commit, as long as git names one."""
        while True:
            marks = [(step.commit, step.mark) for step in self.steps if step.mark is not None]
            stands = self.repository.stand(self.request.good, self.request.bad, marks)
            self.candidates = stands.candidates
            if stands.following is None:
                is_single = len(stands.candidates) == 1
                return BisectEnding.FOUND if is_single else BisectEnding.ONLY_SKIPPED
            self._say_standing(stands.following)
            step = self._step(good, stands.following, looked_for)
            if step.mark is None:
                self.undecided = step
                return BisectEnding.UNDECIDED
            self.record.add(step)

    def _step(self, good: Installation, commit: str, looked_for: VerdictKind) -> BisectStep:
        say = self.session.console.say
        try:
            built = self._build(commit)
            if built.name == good.name:
                say(f"{commit[:SHORT]} is {THE_SAME}")
                return BisectStep(commit, Mark.GOOD, THE_SAME)
            before = self.spent
            comparison = self._compare(commit[:SHORT], good, built, commit)
        except (BuildError, ServerError, WorkloadError, TrialsFailedError) as error:
            why = first_line(error)
            say(f"{commit[:SHORT]} is skipped: {error.message}")
            return BisectStep(commit, Mark.SKIP, why)
        if comparison is None:
            return BisectStep(commit, None, "the budget is spent")
        mark = mark_of(looked_for, comparison)
        shown = "not decided" if mark is None else mark.value
        say(f"{commit[:SHORT]} is {shown}: {effect_text(comparison)} against the good commit")
        return BisectStep(commit, mark, "", comparison, Seconds(self.spent - before))

    def _confirm(self, commit: str) -> None:
        """The commit against its parent: its own effect, whatever else lies between the ends."""
        parent = self.repository.parent(commit)
        if parent == self.request.good:  # compared already
            self.last = self.against_good(commit)
            return
        try:
            old, new = self._build(parent), self._build(commit)
            if old.name != new.name:
                self.last = self._compare(f"{commit[:SHORT]}-parent", old, new, commit)
        except (BuildError, ServerError, WorkloadError, TrialsFailedError) as error:
            self.session.console.warn(
                f"{commit[:SHORT]} cannot be compared with its parent: {error.message}"
            )

    def against_good(self, commit: str) -> CommitComparison | None:
        """The comparison of a commit with the good one: its own step's, else that of the ends."""
        own = (step.comparison for step in self.steps if step.commit == commit and step.comparison)
        return next(own, self.ends)

    def _build(self, commit: str) -> Installation:
        if commit not in self.builds:
            request = self.request
            self.builds[commit] = build_commit(self.session, request.spec, commit, request.jobs)
        return self.builds[commit]

    def _compare(
        self, label: str, old: Installation, new: Installation, commit: str
    ) -> CommitComparison | None:
        request = self.request
        count = comparisons(len(self.commits))
        first = self.ends is None
        delta = request.delta or (
            request.least_delta if self.ends is None else step_delta(self.ends)
        )
        subject = self.repository.subject(commit)
        comparison, seconds = compare(
            self.session,
            Question(
                campaign=f"{request.name}-{label}",
                old=old.name,
                new=new.name,
                what=Bilingual(f"Search for a commit: {subject}", f"コミットの探索: {subject}"),
                options=request.options,
                delta=delta,
                alpha=step_alpha(request.alpha, count),
                beyond_delta=not first or request.delta is not None,
                share=Seconds(request.budget / count),
                budget=Seconds(request.budget - self.spent),
                command=request.command,
                telling=first,
            ),
        )
        self.spent += seconds
        return comparison

    def _say_standing(self, following: str) -> None:
        left = len(self.candidates)
        further = (left - 1).bit_length()
        many = "1 comparison" if further == 1 else f"{further} comparisons"
        self.session.console.say(
            f"one of {left} commits, about {many} to go; next: {following[:SHORT]}"
            f" {self.repository.subject(following)}"
        )


def effect_text(comparison: CommitComparison) -> str:
    """``-9.8 % (95 % interval -11.2 to -8.3 %)``, or why there is none."""
    effect = comparison.effect
    if effect is None:
        why = texts("en").either(f"reason.{comparison.reason}", "")
        return f"no interval ({why})" if why else "no interval"
    digits = percent_decimals(effect)
    low, high, mid = ((ratio - 1) * 100 for ratio in (effect.low, effect.high, effect.ratio))
    return (
        f"{mid:+.{digits}f} % ({low:+.{digits}f} to {high:+.{digits}f} % at"
        f" {effect.confidence:.1%} confidence, {comparison.pairs} pairs)"
    )
