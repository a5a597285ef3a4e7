"""The program in working folders of the tests; a module with needs of its own overrides one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest

from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from tests.fixtures.campaigns import Teiten
from tests.fixtures.servers import left_processes, open_folder


@pytest.fixture
def teiten(workdir: Workdir) -> Teiten:
    """The program in an empty working folder."""
    return Teiten.prepared(workdir)


@pytest.fixture
def server(installation: Callable[[str], Installation]) -> str:
    return str(installation("18").bin_directory)


@pytest.fixture(scope="module")
def prepared() -> Iterator[Teiten]:
    """One working folder, so that templates are built once."""
    with open_folder("teiten-test-") as folder:
        workdir = Workdir(folder)
        workdir.prepare()
        yield Teiten.prepared(workdir)


@pytest.fixture
def emptied(prepared: Teiten) -> Iterator[Teiten]:
    """The working folder without any campaign; after the test nothing of it may run."""
    shutil.rmtree(prepared.workdir.campaigns)
    prepared.workdir.campaigns.mkdir()
    yield prepared
    left = left_processes([prepared.workdir.root])
    assert not left, "processes are left after the test:\n" + "\n".join(left)
