"""A group's limit of what it reads from and writes to storage, which is let go for a while.

What is prepared and what is checked is not measured: held to the bandwidth of a node it would only
take longer. The group is the same all the time, so that what it used is counted throughout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from teiten.errors import MachineError
from teiten.execute.sites.local.limit_files import STORAGE, Allowed, eased, settings
from teiten.host.facts.cgroups import Hierarchy

Written = tuple[tuple[Path, str], ...]
"""Files and what is written into them."""


@dataclass(frozen=True)
class Throttle:
    """Writes that limit a group's storage, and that lift this; both empty where it has no limit."""

    held: Written = ()
    let_go: Written = ()

    @classmethod
    def of(cls, allowed: Allowed, parents: Mapping[str, Hierarchy], name: str) -> Throttle:
        """``name``: of the group below its parent."""
        if STORAGE not in allowed.limited or STORAGE not in parents:
            return cls()
        parent = parents[STORAGE]
        group, version = parent.folder / name, parent.version
        return cls(
            tuple((group / file, text) for file, text in settings(allowed, STORAGE, version)),
            tuple((group / file, text) for file, text in eased(allowed, version)),
        )

    def apply(self) -> None:
        """Raises MachineError where the kernel refuses, so that nothing is measured without."""
        _write(self.held)

    def lift(self) -> None:
        """Raises MachineError where the kernel refuses."""
        _write(self.let_go)


NO_THROTTLE = Throttle()


def _write(files: Written) -> None:
    for file, text in files:
        try:
            file.write_text(text, encoding="ascii")
        except OSError as error:
            raise MachineError(
                f"the limit of a node's storage cannot be changed: {file}: {error.strerror}",
                "did somebody else remove the control group? Run it again",
            ) from error
