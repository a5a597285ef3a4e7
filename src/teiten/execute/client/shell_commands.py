"""pgbench's commands that run a program: not as root, who starts pgbench."""

from __future__ import annotations

from teiten.errors import WorkloadError
from teiten.host.system.users import own_uid
from teiten.model.sql import runs_programs


def refuse_programs(name: str, text: str) -> None:
    """Raise WorkloadError, for root, where a script would have pgbench run a program."""
    if own_uid() == 0 and runs_programs(text):
        raise WorkloadError(
            f"script {name}: pgbench would run a program as root (\\shell, \\setshell)",
            "run Teiten as an ordinary user, or leave the command out; what the server itself runs"
            " (COPY … FROM PROGRAM) it runs as its own user",
        )
