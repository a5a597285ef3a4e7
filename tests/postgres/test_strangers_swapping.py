"""A folder for ``directory`` or ``--storage`` belongs to a stranger, whose process exchanges what
root makes there for links to what is root's alone, while root measures and copies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from tests.fixtures.stranger import Canary, Stranger, nothing_hangs
from tests.fixtures.swapping import WORKS, Work, work_among_links

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


@pytest.mark.parametrize("work", WORKS)
def test_no_file_of_roots_is_written(stranger: Stranger, theirs: Path, work: Work) -> None:
    with nothing_hangs():
        work_among_links(work, theirs, stranger, SECONDS)
