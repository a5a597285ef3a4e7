"""One extension at several of the versions that a server has scripts for: ``extension:NAME``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from teiten.errors import UsageError
from teiten.factors.contract import FactorFamily
from teiten.model.plan import PlannedTrial
from teiten.model.setup import PlannedCell, Setup
from teiten.model.study import EXTENSION_PREFIX

_NAME = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*")
_VERSION = re.compile(r"[A-Za-z0-9._+]+(?:-[A-Za-z0-9._+]+)*")
"""As in the names of an extension's scripts (extension.c: no folder, no two hyphens)."""


class ExtensionFactor(FactorFamily):
    name = EXTENSION_PREFIX
    rank = 85
    of_data = True
    not_with = ("nodes",)
    """Tables that are spread over nodes are made in another way."""

    def member(self, written: str) -> str:
        if _NAME.fullmatch(written) is None:
            raise ValueError(f"{written!r} is no name of an extension")
        return written

    def level(self, value: Any) -> str:
        if isinstance(value, float):
            raise ValueError(f'write a version as a text, "{value}": 1.10 would be read as 1.1')
        if isinstance(value, bool) or _VERSION.fullmatch(str(value)) is None:
            raise ValueError(f"{value!r} is no version of an extension")
        return str(value)

    def set(self, setup: Setup, factor: str, level: str, cell: PlannedCell) -> Setup:
        created = (*setup.data.extensions, (self.member_of(factor), level))
        return replace(setup, data=replace(setup.data, extensions=created))

    def check_trial(self, trial: PlannedTrial) -> None:
        """The server has the extension, in whatever versions."""
        for extension, _ in trial.template.data.extensions:
            if trial.template.installation.surely_lacks(extension):
                raise UsageError(
                    f"{trial.template.installation.name} does not have the extension {extension}",
                    "install it there (Debian's packages are named postgresql-17-…), or name"
                    " another server",
                )


FACTOR = ExtensionFactor()
