"""Errors that a user can act on: what is wrong, what to do next, and how the program exits.

Exit codes (CLI.md): 0 done, 1 a defect of Teiten, 2 bad usage or study file, 3 the machine does not
suffice, 4 trials failed beyond their repeats, 5 a ``--fail-on`` verdict came true or a gate found a
regression, 6 a gate cannot tell, 130 interrupted.
"""

from __future__ import annotations

from typing import ClassVar


class TeitenError(Exception):
    """An error with a hint.

    ``message`` names the flag, key or file that is wrong; ``hint`` says what to do next.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def first_line(error: Exception) -> str:
    """The first line of an error's message; its type's name where it has none."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


class UsageError(TeitenError):
    """A flag, a name or a value on the command line is wrong."""

    exit_code = 2


class WayError(UsageError):
    """The sides of a study cannot be loaded in paired transactions."""


class StudyError(TeitenError):
    """A study file is wrong; the message starts with file, line and key."""

    exit_code = 2


class LedgerError(TeitenError):
    """A campaign or its ledger cannot be used."""

    exit_code = 2


class MachineError(TeitenError):
    """The machine does not suffice: disk, memory, rights, or a missing program."""

    exit_code = 3


class ServerError(MachineError):
    """A PostgreSQL server or one of its programs did not do what was asked."""


class BuildError(MachineError):
    """A source of PostgreSQL that does not build here."""


class WorkloadError(MachineError):
    """The load generator could not run, for example because of an error in a script."""


class TrialsFailedError(TeitenError):
    """Trials failed beyond their repeats, or no trial of a workload counted."""

    exit_code = 4


class VerdictError(TeitenError):
    """A verdict that ``--fail-on`` names came true, or a gate found a regression."""

    exit_code = 5


class CannotTellError(TeitenError):
    """A gate cannot tell whether there is a regression."""

    exit_code = 6


class InterruptedCampaignError(TeitenError):
    """The campaign was interrupted and can be resumed."""

    exit_code = 130
