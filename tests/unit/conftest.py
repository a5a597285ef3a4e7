"""What unit tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.fixtures.servers import FOLDERS
from tests.fixtures.undrawn import undrawn

__all__ = ["undrawn"]


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty folder in memory, where there is room: whatever a ledger records it flushes. For
    tests of disks where TMPDIR says. The servers' user can enter it."""
    on_disk = request.node.get_closest_marker("disk") is not None
    with _folder(None if on_disk else os.environ[FOLDERS]) as folder:
        yield folder


@pytest.fixture(scope="module")
def module_folder() -> Iterator[Path]:
    """An empty folder in memory, where there is room, for all tests of a module."""
    with _folder(os.environ[FOLDERS]) as folder:
        yield folder


@contextmanager
def _folder(place: str | None) -> Iterator[Path]:
    with TemporaryDirectory(prefix="unit-", dir=place, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
