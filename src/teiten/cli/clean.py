"""``teiten clean --host``: what Teiten keeps on another host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pydantic import TypeAdapter

from teiten.cli.main import Session
from teiten.execute.sites.belongings import Belonging
from teiten.execute.sites.remote.hosts import Host
from teiten.model.hosts import DEFAULT_PYTHON, Role

Remove = Callable[[Sequence[Belonging]], tuple[Belonging, ...]]
_LISTED = TypeAdapter(tuple[Belonging, ...])


@contextmanager
def kept_on_host(
    session: Session, name: str, workdir: str | None, *, dry_run: bool
) -> Iterator[tuple[str, tuple[Belonging, ...], Remove]]:
    """Give the folder in which a host keeps templates and programs of campaigns, these, and the
    function that deletes them.

    Raises MachineError where it cannot be reached, or a campaign is measured there.
    """
    host = Host(Role.DB, name, DEFAULT_PYTHON, workdir)

    def remove(chosen: Sequence[Belonging]) -> tuple[Belonging, ...]:
        return tuple(
            belonging
            for belonging in chosen
            if host.call("belongings.remove", kind=belonging.kind.value, folder=str(belonging.path))
        )

    try:
        if not dry_run:
            session.console.say(*host.prepare())
        kept = _LISTED.validate_python(host.call("belongings.listed"))
        yield f"{host.shown} ({host.workdir})", kept, remove
    finally:
        host.close()
