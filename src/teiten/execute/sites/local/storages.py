"""The storage classes of a campaign on this machine: found or emulated, identified, measured."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from teiten.errors import MachineError
from teiten.execute.postgres.access import require_access
from teiten.execute.sites.local.emulated import EmulatedDevice
from teiten.execute.sites.local.limit import Limit
from teiten.execute.sites.local.limit_files import Allowed, TransferLimit
from teiten.host.ceilings.disk_speed import OF_STORAGE
from teiten.host.ceilings.storage_speed import measure_folder
from teiten.host.facts.disks import block_devices, disk_of
from teiten.host.system.paths import Workdir
from teiten.host.system.processes import killed_after, own_python, spawn
from teiten.host.system.signals import KILL
from teiten.host.system.users import ServerUser
from teiten.model.storage import FilePlacement, StorageClass
from teiten.model.units import MIB, Bytes, Seconds

MEASURED = "storage"
"""The event that holds what storage classes are, and what they do."""
SECONDS = Seconds(2.0)
"""How long each of five patterns is measured."""
SIZE, EMULATED_SIZE = Bytes(256 * MIB), Bytes(32 * MIB)
"""Sizes of the file that is measured: an emulated device has no cache that could hold it."""
PATIENCE = 300.0
PROBE = "teiten.host.ceilings.storage_speed"


@dataclass(frozen=True)
class _Open:
    """A storage class that can be used."""

    storage: StorageClass
    folder: Path
    devices: tuple[str, ...]
    emulated: EmulatedDevice | None = None


class Storages:
    """The storage classes that the levels of the factor placement name. To be closed."""

    def __init__(self, workdir: Workdir, user: ServerUser) -> None:
        self._workdir, self._user = workdir, user
        self._open: dict[str, _Open] = {}

    def open(
        self, storages: Iterable[StorageClass], tell: Callable[[str], None]
    ) -> dict[str, dict[str, Any]]:
        """Make the emulated ones, and measure all; the facts of each by its name.

        Raises MachineError where one cannot be had, or not be measured.
        """
        facts = {}
        for storage in storages:
            opened = self._open[storage.name] = self._opened(storage)
            tell(f"measuring the storage {storage.name} ({opened.folder})")
            facts[storage.name] = self._facts(opened)
        return facts

    def folder(self, name: str) -> Path:
        return self._open[name].folder

    def limits(self, placement: FilePlacement) -> tuple[TransferLimit, ...]:
        """Limits of the emulated devices that a placement uses."""
        emulated = (self._open[name].emulated for name in placement.used)
        return tuple(device.limit for device in emulated if device is not None)

    @property
    def devices(self) -> Mapping[str, tuple[str, ...]]:
        """By storage class, as in /proc/diskstats."""
        return {name: opened.devices for name, opened in self._open.items()}

    @property
    def emulated_devices(self) -> frozenset[str]:
        """Their transfers reach another disk as well."""
        return frozenset(
            device for opened in self._open.values() if opened.emulated for device in opened.devices
        )

    def close(self) -> tuple[Path, ...]:
        """The files of emulated devices that are still in use: they stay noted, and the next start
        removes them."""
        emulated = [opened.emulated for opened in self._open.values() if opened.emulated]
        self._open.clear()
        return tuple(device.image for device in emulated if not device.remove())

    def _opened(self, storage: StorageClass) -> _Open:
        if storage.emulation is None:
            folder = Path(storage.path)
            require_access(folder, self._user)
            return _Open(storage, folder, block_devices(folder))
        made = EmulatedDevice.make(self._workdir, storage)
        return _Open(storage, made.mount_point, (made.device.name,), made)

    def _facts(self, opened: _Open) -> dict[str, Any]:
        disk, storage = disk_of(opened.folder), opened.storage
        emulation = None
        if storage.emulation is not None and opened.emulated is not None:
            emulation = {**asdict(storage.emulation), "direct": opened.emulated.device.direct}
        return {
            "folder": str(opened.folder),
            "device": disk.device,
            "devices": list(opened.devices),
            "file_system": disk.file_system,
            "options": disk.options,
            "kind": disk.kind,
            "emulation": emulation,
            **self._speed(opened),
        }

    def _speed(self, opened: _Open) -> dict[str, Any]:
        if opened.emulated is None:
            speed, tool = measure_folder(opened.folder, SIZE, SECONDS, OF_STORAGE)
            return {**speed, "tool": tool}
        limit = Limit.make(self._workdir, Allowed(transfers=(opened.emulated.limit,)))
        try:
            return _measured_inside(limit, opened.folder)
        finally:
            limit.remove()


def _measured_inside(limit: Limit, folder: Path) -> dict[str, Any]:
    """By a program that the device's limit holds for."""
    hint = "a larger limit: --storage NAME=emulate:iops=…,bandwidth=…"
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        program = spawn(
            own_python("-m", PROBE, str(folder.absolute()), str(EMULATED_SIZE), str(SECONDS)),
            folder=Path("/"),
            stdout=output,
            stderr=errors,
            death_signal=KILL,
            groups=limit.groups,
        )
        code = killed_after(program, PATIENCE)
        output.seek(0)
        errors.seek(0)
        if code == 0:
            speed: dict[str, Any] = json.loads(output.read())
            return speed
        complaint = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
    how = "takes too long" if code is None else f"failed ({' '.join(complaint) or code})"
    raise MachineError(f"measuring the emulated device in {folder} {how}", hint)
