"""Templates: filled clusters, built once, kept under their fingerprint, and cloned for trials."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from teiten.datasets.contract import Say
from teiten.errors import MachineError, UsageError
from teiten.execute.postgres.access import require_access
from teiten.execute.postgres.marker import (
    Kind,
    folder_bytes,
    mark,
    new_folder,
    read_marker,
    remove_marked,
)
from teiten.execute.postgres.templates.build import DATA, build_cluster
from teiten.execute.postgres.templates.clone import CloneReport, clone_tree
from teiten.execute.postgres.templates.contents import find_change, seal
from teiten.execute.postgres.templates.copy_methods import CopyMethod
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.paths import Workdir
from teiten.host.system.users import ServerUser
from teiten.model.installation import Pgbench
from teiten.model.plan import TemplateSpec
from teiten.model.quantities import format_size
from teiten.model.units import MIB, Bytes, Share

DESCRIPTION = "template.json"
"""Present only in a finished template; its time of change is the template's last use."""
LARGEST_SHARE = Share(0.25)
"""Share of the file system beyond which templates unused for a day make room for a new one."""
KEPT_SECONDS = 86_400.0
RESERVE = Bytes(256 * MIB)
"""Left free on the disk by a build."""


@dataclass(frozen=True)
class TemplateUse:
    """A template on the disk. ``last_used``: seconds since the epoch."""

    fingerprint: str
    path: Path
    bytes: Bytes
    last_used: float
    description: str


class TemplateStore:
    """The templates of a working folder."""

    def __init__(self, workdir: Workdir, user: ServerUser) -> None:
        self._workdir = workdir
        self._user = user

    def ready(self, spec: TemplateSpec) -> bool:
        """Whether the template is built and as it was then; it then counts as used now."""
        return self._is_built(spec) and find_change(self._folder(spec.fingerprint)) is None

    def _is_built(self, spec: TemplateSpec) -> bool:
        description = self._folder(spec.fingerprint) / DESCRIPTION
        try:
            fingerprint = json.loads(description.read_text(encoding="utf-8"))["fingerprint"]
            os.utime(description)
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return bool(fingerprint == spec.fingerprint)

    def build(self, spec: TemplateSpec, pgbench: Pgbench, say: Say) -> None:
        """Build the template, unless another Teiten has meanwhile.

        Raises MachineError where the disk does not suffice, ServerError where a step fails; then
        nothing of it is left but the server's log in the message.
        """
        with self.building(spec, str(pgbench.version), say) as partial:
            if partial is not None:
                build_cluster(spec, partial, user=self._user, pgbench=pgbench, say=say)

    @contextlib.contextmanager
    def building(self, spec: TemplateSpec, pgbench: str, say: Say) -> Iterator[Path | None]:
        """The folder in which a template is to be built; it becomes one at the end of the ``with``.

        None where the template is there. ``pgbench``: the version that fills it. Raises as
        ``build`` does.
        """
        with self._locked(spec.fingerprint, say):
            if self._is_built(spec):
                change = find_change(self._folder(spec.fingerprint))
                if change is None:
                    yield None
                    return
                say(f"{_changed(spec, change)}: it is built anew")
            self._make_room(spec, say)
            require_access(self._workdir.templates, self._user)
            say(f"building the template: {_describe(spec)} ({format_size(spec.expected_bytes)})")
            partial = self._workdir.templates / f"building-{spec.fingerprint[:12]}-{os.getpid()}"
            begin = time.monotonic()
            try:
                yield partial
                self._finish(spec, pgbench, partial, time.monotonic() - begin)
            finally:
                if read_marker(partial) is not None:
                    remove_marked(partial)

    def clone(
        self,
        spec: TemplateSpec,
        destination: Path,
        places: Mapping[str, Path] | None = None,
        method: CopyMethod | None = None,
    ) -> CloneReport:
        """Make a cluster's folder ``destination``, marked, with a copy of the template in its
        ``data``, and of its other parts where ``places`` says, by ``method`` (``clone_tree``). A
        folder that was left there by this or a dead Teiten is replaced.

        Raises UsageError where the folder is not Teiten's, or where the template is not built,
        MachineError where it is no longer what was built.
        """
        with self._locked(spec.fingerprint, lambda _: None):
            if not self._is_built(spec):
                raise UsageError(
                    f"the template of {_describe(spec)} is not built",
                    "it may have been removed by teiten clean; run or resume again",
                )
            folders = tuple(dict.fromkeys((destination, *(places or {}).values())))
            for folder in folders:
                _replace_left(folder, _describe(spec))
            report = clone_tree(
                self._folder(spec.fingerprint) / DATA,
                destination / DATA,
                user=self._user,
                method=method,
                caches=self._workdir.caches,
                places=places,
            )
            # afterwards, so that what was written while it was copied shows as well
            change = find_change(self._folder(spec.fingerprint))
        if change is not None:
            for folder in folders:
                remove_marked(folder)
            raise MachineError(
                _changed(spec, change),
                "another program of the servers' user has written there: end it, then run or"
                " resume again, and the template is built anew",
            )
        return report

    def usage(self) -> list[TemplateUse]:
        """The finished templates, the longest unused first."""
        uses: list[TemplateUse] = []
        templates = self._workdir.templates
        for folder in templates.iterdir() if templates.is_dir() else ():
            marker = read_marker(folder)
            if marker is None or marker.what != Kind.TEMPLATE:
                continue
            with contextlib.suppress(OSError):  # removed meanwhile
                description = folder / DESCRIPTION
                known = description if description.exists() else folder
                used = known.stat().st_mtime
                uses.append(
                    TemplateUse(folder.name, folder, folder_bytes(folder), used, marker.about)
                )
        return sorted(uses, key=lambda use: use.last_used)

    def remove(self, fingerprint: str) -> bool:
        """Delete a template; False where another Teiten uses it just now, or there is none."""
        folder = self._folder(fingerprint)
        if not folder.exists():
            return False
        try:
            with self._lock(fingerprint).acquire(timeout=0):
                (folder / DESCRIPTION).unlink(missing_ok=True)
                remove_marked(folder)
        except Timeout:
            return False
        return True

    def _finish(self, spec: TemplateSpec, pgbench: str, partial: Path, seconds: float) -> None:
        description = {
            "fingerprint": spec.fingerprint,
            "description": _describe(spec),
            "installation": spec.installation.name,
            "server_fingerprint": spec.installation.fingerprint,
            "checksums": spec.checksums,
            "data": str(spec.data),
            "scale": spec.data.scale,
            **spec.data.options.told,
            "pgbench": pgbench,
            "seconds": seconds,
        }
        with HeldFolder.open_itself(partial) as held:
            text = f"{json.dumps(description, indent=2)}\n"
            held.write(DESCRIPTION, text.encode(), mode=0o644, durable=True)
        seal(partial, self._user)
        mark(partial, Kind.TEMPLATE, _describe(spec))
        final = self._folder(spec.fingerprint)
        if final.exists():  # a damaged one: ready() found no description
            remove_marked(final)
        partial.rename(final)

    def _make_room(self, spec: TemplateSpec, say: Say) -> None:
        """Remove the longest unused templates where the new one would exceed the bounds."""
        self._workdir.templates.mkdir(parents=True, exist_ok=True)
        laid_out = spec.data.layout is not None and spec.data.layout.scripts
        # what is laid out anew, or upgraded, is there twice until that ends
        twice = laid_out or spec.origin is not None
        needed = spec.expected_bytes * (2 if twice else 1) + RESERVE
        for use in self.usage():
            if self._fits(needed) or time.time() - use.last_used < KEPT_SECONDS:
                break
            if self.remove(use.fingerprint):
                say(f"removed an old template: {use.description} ({format_size(use.bytes)})")
        free = shutil.disk_usage(self._workdir.templates).free
        if free < needed:
            raise MachineError(
                f"the disk of {self._workdir.templates} has {format_size(free)} free; a template "
                f"of {_describe(spec)} needs {format_size(needed)} "
                f"({format_size(needed - free)} more)",
                "give disk back with teiten clean, or use another disk with --workdir",
            )

    def _fits(self, needed: int) -> bool:
        disk = shutil.disk_usage(self._workdir.templates)
        used = sum(use.bytes for use in self.usage())
        return disk.free >= needed and used + needed <= disk.total * LARGEST_SHARE

    def _folder(self, fingerprint: str) -> Path:
        return self._workdir.templates / fingerprint

    def _lock(self, fingerprint: str) -> FileLock:
        self._workdir.caches.mkdir(parents=True, exist_ok=True)
        return FileLock(self._workdir.caches / f"template-{fingerprint[:16]}.lock")

    def _locked(self, fingerprint: str, say: Say) -> contextlib.AbstractContextManager[object]:
        lock = self._lock(fingerprint)
        try:
            return lock.acquire(timeout=0)
        except Timeout:
            say("another Teiten works on this template: waiting for it")
            return lock.acquire()


def _describe(spec: TemplateSpec) -> str:
    checksums = "with" if spec.checksums else "without"
    server = f"PostgreSQL {spec.installation.version} ({spec.installation.name})"
    upgraded = "" if spec.origin is None else f" from {spec.origin.name}"
    return f"{server} {checksums} checksums, {spec.data}{upgraded}"


def _changed(spec: TemplateSpec, change: str) -> str:
    return f"the template of {_describe(spec)} has changed since it was built ({change})"


def _replace_left(folder: Path, about: str) -> None:
    """Make a cluster's folder, in the place of one that was left there."""
    marker = read_marker(folder)
    if marker is not None and not marker.is_left(or_ours=True):
        raise UsageError(
            f"the folder {folder} is in use by another Teiten (process {marker.maker.pid})",
            "wait for it to end, or work in another folder with --workdir; delete the folder where"
            " that Teiten was one on another machine and has ended",
        )
    if marker is not None:
        remove_marked(folder)
    new_folder(folder, Kind.CLUSTER, about)
