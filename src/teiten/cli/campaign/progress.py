"""How a campaign's progress is shown: a live view on a terminal, plain lines in a pipe."""

from __future__ import annotations

import datetime
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from teiten.cli.console import Console, Verbosity
from teiten.kinds.metrics import judged_in
from teiten.model.metrics import Metric
from teiten.model.plan import Plan, PlannedTrial
from teiten.model.progress import Finished, GivenBlocks, is_given, most_attempts, open_trials
from teiten.model.quantities import rough_duration
from teiten.model.saturation import PROVISIONAL
from teiten.model.trial import Outcome, Step, Trial
from teiten.model.units import Seconds

SHORT = 10.0
"""Milliseconds below which a time is shown to the microsecond."""


class Pace:
    """How long trials take here, and so how long the rest and its likely repeats will take.

    Until a workload's first trial has ended, the plan's estimate stands in for it.
    """

    def __init__(self, plan: Plan, clock: Callable[[], float] = time.time) -> None:
        self._plan = plan
        self._clock = clock
        self._seen: dict[str, list[float]] = defaultdict(list)
        self._finished: list[Finished] = []
        self._given: GivenBlocks = {}
        self._expected = self._expected_trials()
        self._since: float | None = None
        """When the trials that run now were started."""
        trials = max(1, len(plan.trials))
        self._estimate = float(plan.needs.seconds) / trials
        self._spent = 0.0
        """By trials of this session."""

    def already_ended(self, finished: Iterable[Finished]) -> None:
        self._finished += finished
        self._expected = self._expected_trials()

    def given(self, blocks: GivenBlocks) -> None:
        """Expect no more than the blocks that a collection has given; all, where it gave none."""
        self._given = blocks
        self._expected = self._expected_trials()

    def started(self) -> None:
        self._since = self._clock()

    def finished(self, planned: PlannedTrial, trial: Trial, seconds: float) -> None:
        """``seconds``: the trial's own, without those of others that ran at the same time."""
        self._seen[planned.cell.workload].append(seconds)
        self._spent += seconds
        self._since = None
        self.already_ended([(trial.number, trial.attempt, trial.outcome)])

    def seconds_left(self) -> Seconds:
        left = 0.0
        for workload, trials in self._expected.items():
            seen = self._seen[workload]
            left += trials * (sum(seen) / len(seen) if seen else self._estimate)
        elapsed = self._clock() - self._since if self._since is not None else 0.0
        sequential = self._plan.study.measure.sequential
        if sequential is not None and sequential.budget is not None:
            left = min(left, sequential.budget - self._spent)
        return Seconds(max(0.0, left - elapsed))

    def _expected_trials(self) -> Mapping[str, float]:
        """By workload, how many trials will still run, if as many do not count as until now."""
        attempts = most_attempts(self._plan, self._finished)
        lost = sum(outcome is not Outcome.COUNTED for _, _, outcome in self._finished)
        share = lost / max(1, len(self._finished))
        expected: dict[str, float] = defaultdict(float)
        for waiting in open_trials(self._plan, self._finished):
            if self._given and not is_given(self._plan, waiting.trial, self._given):
                continue
            expected[waiting.trial.cell.workload] += sum(
                share**times for times in range(1 + attempts - waiting.attempt)
            )
        return expected


class Watcher:
    """Tells the pace and keeps what both forms of progress show."""

    def __init__(self, console: Console, plan: Plan, name: str) -> None:
        self.console = console
        self.plan = plan
        self.name = name
        self.pace = Pace(plan)
        self.trial: PlannedTrial | None = None
        self.attempt = 1
        self.step: str = "preparing"
        self.second = 0.0
        self.tps: float | None = None
        self.ended = 0
        self.recent: list[str] = []
        self.standing: tuple[str, ...] = ()
        """How the contrasts of a sequential campaign stand, a line each."""
        self.whole = ""
        """How the collection stands to which the campaign belongs, in a line."""

    @property
    def most(self) -> str:
        """Words before a time that a decision may shorten."""
        study = self.plan.study
        fixed = study.measure.sequential is None and study.profile != PROVISIONAL
        return "" if fixed else "at most "

    def preparing(self, what: str) -> None:
        self.step = what

    def trial_started(self, trial: PlannedTrial, attempt: int, ended: int, total: int) -> None:
        del total
        self.trial, self.attempt, self.ended, self.tps = trial, attempt, ended, None
        self.pace.started()

    def step_started(self, trial: PlannedTrial, step: Step) -> None:
        self.trial, self.step, self.tps = trial, step.value, None

    def progress(self, second: Seconds, tps: float, latency: Seconds) -> None:
        del latency
        self.second, self.tps = second, tps

    def trial_finished(self, trial: Trial) -> None:
        planned = self.plan.trials[trial.number - 1]
        seconds = (trial.finished_at - trial.started_at) / len(self.plan.pair_of(planned))
        self.pace.finished(planned, trial, seconds)
        self.ended += 1
        self.recent = [*self.recent[-7:], self.trial_line(trial)]

    def stands(self, lines: tuple[str, ...]) -> None:
        """How a sequential campaign stands now; told before every trial."""
        self.standing = lines

    def trial_line(self, trial: Trial) -> str:
        planned = self.plan.trials[trial.number - 1]
        number = f"{trial.number:>{len(str(len(self.plan.trials)))}}/{len(self.plan.trials)}"
        result = _result(judged_in(self.plan, planned.cell.workload), trial)
        line = f"{number}  block {planned.block}  {result}  {planned.cell}"
        if trial.counts:
            return line
        problem = trial.problems[0]
        return f"{line}  {trial.outcome.value}: {problem.code} ({problem.detail})"


def _result(metric: Metric, trial: Trial) -> str:
    """Format the trial's value that is judged, or the limit at which it was cut off."""
    value, limit = (trial.metrics.get(name) for name in (metric.name, metric.exceeded))
    if value is not None:
        shown, unit = (value * 1000, "ms") if metric.unit == "s" else (value, metric.unit)
        decimals = 1 if shown >= SHORT or unit != "ms" else 3
        return f"{shown:>12,.{decimals}f} {unit:<3}"
    return f"{'-':>12}    " if limit is None else f"{f'over {limit:g}':>12} s  "


class PlainWatcher(Watcher):
    """A line for each trial that ended."""

    def preparing(self, what: str) -> None:
        self.console.say(f"preparing {what}")

    def step_started(self, trial: PlannedTrial, step: Step) -> None:
        self.console.detail(f"{trial.number}: {step.value}")

    def trial_finished(self, trial: Trial) -> None:
        super().trial_finished(trial)
        left = rough_duration(self.pace.seconds_left())
        self.console.say(f"{self.recent[-1]}  ({self.most}{left} left)")

    def stands(self, lines: tuple[str, ...]) -> None:
        if lines != self.standing:
            self.console.say(*(f"  {line}" for line in lines))
        super().stands(lines)


class LiveWatcher(Watcher):
    """The terminal's lower lines, redrawn twice a second and erased at the end; above them stays
    the line of each trial that does not count."""

    def trial_finished(self, trial: Trial) -> None:
        super().trial_finished(trial)
        if not trial.counts:
            self.console.people.print(Text(self.recent.pop(), style="yellow"), soft_wrap=True)

    def view(self) -> Table:
        grid = Table.grid(padding=(0, 1))
        total = len(self.plan.trials)
        for line in self.recent:
            grid.add_row(Text(line, style="dim", overflow="ellipsis"))
        bar = Table.grid(padding=(0, 1))
        left = self.pace.seconds_left()
        end = datetime.datetime.fromtimestamp(time.time() + left).astimezone()
        bar.add_row(
            Text(self.name, style="bold"),
            ProgressBar(total=total, completed=self.ended, width=24),
            f"{self.ended}/{total}",
            Text(f"{self.most}{rough_duration(left)} left, done at {end:%H:%M}", style="dim"),
        )
        for line in self.standing:
            grid.add_row(Text(f"  {line}", style="bold", overflow="ellipsis"))
        grid.add_row(bar)
        grid.add_row(self.now())
        if self.whole:
            grid.add_row(Text(f"  {self.whole}", style="dim", overflow="ellipsis"))
        return grid

    def now(self) -> Text:
        if self.trial is None:
            return Text(f"  {self.step}", overflow="ellipsis")
        text = Text(f"  block {self.trial.block}  {self.trial.cell}  ", overflow="ellipsis")
        if self.attempt > 1:
            text.append(f"attempt {self.attempt}  ", style="yellow")
        text.append(self.step, style="cyan")
        if self.tps is not None:
            text.append(f"  {self.second:.0f} s  {self.tps:,.0f} tps", style="bold")
        return text


@contextmanager
def watching(console: Console, plan: Plan, name: str) -> Iterator[Watcher]:
    """The watcher that fits the terminal, shown while the block runs."""
    if console.verbosity is not Verbosity.NORMAL or not console.people.is_terminal:
        yield PlainWatcher(console, plan, name)
        return
    watcher, people = LiveWatcher(console, plan, name), console.people
    with Live(console=people, get_renderable=watcher.view, refresh_per_second=2, transient=True):
        yield watcher
