"""``git bisect`` in a clone of Teiten's: the user's checkout is read and never changed."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from teiten.errors import UsageError
from teiten.execute.postgres.building.sources import GitError, commit_of, git, is_checkout
from teiten.model.bisection import Mark, SearchState

ENDED = (0, 2)
"""Exit codes of git bisect: further to go or found, and only skipped commits left."""


class BisectRepository:
    """A bare clone that shares the objects of the user's repository."""

    def __init__(self, folder: Path, source: Path) -> None:
        """Clone where that was not done. Raises UsageError where the source is no repository."""
        if not is_checkout(source):
            raise UsageError(
                f"--source {source} is no git checkout", "bisect needs one with its history"
            )
        self.source = source
        self._folder = folder
        if not (folder / "HEAD").is_file():
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            try:
                git(folder.parent, "clone", "--quiet", "--bare", "--shared", "--no-tags",
                    str(source), folder.name)  # fmt: skip
            except GitError as error:
                raise UsageError(f"--source {source}: {error}", "git has to read it") from error

    def range(self, good: str, bad: str) -> tuple[str, ...]:
        """The commits after ``good`` up to ``bad``, the newest first.

        Raises UsageError where good is no ancestor of bad.
        """
        try:
            git(self._folder, "merge-base", "--is-ancestor", good, bad)
        except GitError as error:
            raise UsageError(
                f"--good {good[:12]} is no ancestor of --bad {bad[:12]}",
                "name two commits of one line, the older one as good; a commit that made things"
                " faster is found as well: good is the older one",
            ) from error
        return tuple(git(self._folder, "rev-list", f"{good}..{bad}").split())

    def stand(self, good: str, bad: str, marks: Iterable[tuple[str, Mark]]) -> SearchState:
        """Where the search stands after these marks. Git chooses the next commit."""
        self._bisect("reset")
        self._bisect("start", "--no-checkout", bad, good)
        skipped = set()
        for commit, mark in marks:
            self._bisect(mark.value, commit)
            if mark is Mark.SKIP:
                skipped.add(commit)
        worst = git(self._folder, "rev-parse", "refs/bisect/bad").strip()
        known = git(self._folder, "for-each-ref", "--format=%(objectname)", "refs/bisect/good-*")
        left = git(self._folder, "rev-list", worst, "--not", *known.split()).split()
        following = None
        if set(left) - skipped - {worst}:
            following = git(self._folder, "rev-parse", "BISECT_HEAD").strip()
        return SearchState(tuple(left), following)

    def parent(self, commit: str) -> str:
        return commit_of(self._folder, f"{commit}^")

    def subject(self, commit: str) -> str:
        """The first line of a commit's message."""
        return git(self._folder, "log", "-1", "--format=%s", commit).strip()

    def author(self, commit: str) -> str:
        """Who wrote a commit, and when."""
        return git(self._folder, "log", "-1", "--format=%an, %as", commit).strip()

    def _bisect(self, *arguments: str) -> None:
        try:
            git(self._folder, "bisect", *arguments, good=ENDED)
        except GitError as error:
            raise UsageError(
                f"git bisect {arguments[0]}: {error}",
                f"git -C {self.source} log --graph shows how the two commits are related",
            ) from error
