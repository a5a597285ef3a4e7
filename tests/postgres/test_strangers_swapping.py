"""A folder for ``directory`` or ``--storage`` belongs to a stranger, whose process exchanges what
root makes there for links to what is root's alone, while root measures and copies."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from teiten.errors import TeitenError
from teiten.execute.postgres.templates.clone import clone_tree
from teiten.host.ceilings.scratch import CHUNK, scratch
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.model.units import Bytes
from tests.fixtures.stranger import Canary, Stranger, nothing_hangs
from tests.fixtures.swapping import swapping

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
]
SECONDS = 3.0
"""For each of root's works: it took less than one until root's files were written."""


@pytest.fixture
def stranger(workdir: Workdir) -> Iterator[Stranger]:
    canary = Canary.put(workdir.root / "canary")
    yield Stranger(server_user(), canary)
    canary.assert_untouched()


@pytest.fixture
def theirs(workdir: Workdir, stranger: Stranger) -> Path:
    folder = workdir.root / "theirs"
    folder.mkdir()
    os.chown(folder, stranger.user.uid or 0, stranger.user.gid or 0)
    return folder


def measure(folder: Path, _: Stranger) -> None:
    with scratch(folder, Bytes(CHUNK)):
        pass


def copy(folder: Path, stranger: Stranger) -> None:
    source = stranger.canary.folder.parent / "source"
    if not source.exists():
        source.mkdir()
        (source / "PG_VERSION").write_text("18\n")
        (source / "base").write_bytes(bytes(CHUNK))
        os.chown(source, 0, 0)
    clone_tree(source, folder / f"copy-{time.monotonic_ns()}", user=stranger.user)


@pytest.mark.parametrize("work", [measure, copy])
def test_no_file_of_roots_is_written(
    stranger: Stranger, theirs: Path, work: Callable[[Path, Stranger], None]
) -> None:
    end = time.monotonic() + SECONDS
    with nothing_hangs(), swapping(stranger, theirs):
        while time.monotonic() < end:
            try:
                work(theirs, stranger)
            except (TeitenError, OSError):
                continue
            stranger.canary.assert_untouched()
