"""A step that runs a program of the server's installation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from teiten.errors import WorkloadError
from teiten.execute.client.contract import Program
from teiten.execute.postgres.beside import filled
from teiten.execute.probes.os import OsReader
from teiten.execute.probes.process_cpu import ProcessGroup
from teiten.execute.sites.contract import Site
from teiten.host.system.processes import ending
from teiten.kinds.procedure.model import ProcedureStep
from teiten.model.units import Seconds

LOOK_EVERY = 0.2
"""Seconds between two looks whether someone asked for the end."""
PATIENCE = 10.0
"""Seconds that a program may take to end when it is asked to."""
LAST = 4096
"""Bytes at the end of what a program has written, of which a message has the last line."""
OUTPUT, ERRORS = "program output", "program errors"


class StepPrograms:
    """Runs the programs of a trial's steps; what they write is kept in the trial's folder."""

    def __init__(self, site: Site, folder: Path, check: Callable[[], None]) -> None:
        self._site, self._folder, self._check = site, folder, check
        self.evidence: list[tuple[str, str]] = []

    def run(
        self, step: ProcedureStep, values: Mapping[str, str], seen: dict[str, float]
    ) -> Seconds:
        """From its start to its end. Adds to ``seen`` what it and the server's processes have used
        of the processors.

        Raises WorkloadError where it cannot be started, or ends with another status than 0.
        """
        number = len(self.evidence) // 2 + 1
        output, errors = (f"{step.text}-{number}.{kind}" for kind in ("out", "err"))
        program = Program(
            name=step.text,
            path=Path(step.text),
            arguments=tuple(filled(word, values) for word in step.arguments),
            folder=self._folder,
            output=output,
            errors=errors,
            due=Seconds(0.0),
        )
        self.evidence += [(OUTPUT, output), (ERRORS, errors)]
        used = ServerTime(self._site.server_reader())
        begun = time.perf_counter()
        running = self._site.spawn_beside(program)
        try:
            while not running.wait(LOOK_EVERY):
                self._check()
        finally:
            if not running.ended():
                running.end(PATIENCE)
        seconds = Seconds(time.perf_counter() - begun)
        if running.returncode != 0:
            last_line = _last_line(self._folder / errors) or _last_line(self._folder / output)
            raise WorkloadError(
                f"step {step.name}: {step.text} {ending(running.returncode)}: {last_line}",
                f"what it wrote is in the trial's folder: {errors}, {output}",
            )
        _add(seen, "program_cpu", running.cpu_seconds)
        _add(seen, "server_cpu", used.since())
        return seconds


class ServerTime:
    """The processor time of all of a server's processes from now on."""

    def __init__(self, reader: OsReader | None) -> None:
        self._reader = reader
        self._before = self._read()

    def since(self) -> float | None:
        """Seconds, once; None where they cannot be seen."""
        after = self._read()
        if self._reader is not None:
            self._reader.close()
        return None if after is None or self._before is None else after - self._before

    def _read(self) -> float | None:
        if self._reader is None:
            return None
        return self._reader.read(time.monotonic(), None).groups.get(ProcessGroup.SERVER)


def _add(seen: dict[str, float], name: str, seconds: float | None) -> None:
    if seconds is not None:
        seen[name] = seen.get(name, 0.0) + seconds


def _last_line(file: Path) -> str:
    lines = file.read_bytes()[-LAST:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""
