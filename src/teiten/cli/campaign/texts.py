"""The statements of a campaign whose ledger does not hold them, from the study's files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from teiten.errors import UsageError
from teiten.ledger.store import Ledger
from teiten.ledger.texts import UnknownTextError
from teiten.study.load import load_study

OF_TEXTS = ("script=", "data.", "variables=", "workloads.")
"""How changes begin that say which texts there are."""


@contextmanager
def having_texts(ledger: Ledger) -> Iterator[None]:
    """Have the plan's texts for as long as the campaign runs. Raises UsageError where the files
    have changed since it began, and StudyError where they are gone."""
    study = ledger.plan.study
    with ExitStack() as texts:
        if not study.keep_texts:
            overrides = [change for change in study.overrides if change.startswith(OF_TEXTS)]
            again = load_study(str(study.file or study.name), overrides=overrides)
            try:
                texts.enter_context(ledger.having_texts(again))
            except UnknownTextError as error:
                raise UsageError(
                    f"{error.args[0]} is not what it was when {ledger.name} began, and its ledger"
                    " holds only fingerprints of statements",
                    "bring the file back, or begin a new campaign",
                ) from error
        yield
