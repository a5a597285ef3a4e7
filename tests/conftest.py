"""Fixtures for all tests: a working folder, and real PostgreSQL servers by version."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from importlib import import_module
from itertools import chain, groupby
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, settings

from teiten import secrets
from teiten.execute.postgres.cluster import Cluster
from teiten.host.system.paths import Workdir
from teiten.model.installation import Installation
from teiten.report.charts.library import keep_library_in, library
from tests.fixtures.heeding import let_programs_heed_signals
from tests.fixtures.servers import (
    ClusterKit,
    chosen_servers,
    folders_of_the_run,
    left_processes,
    open_folder,
    place_on_a_disk,
    servers,
    shared_caches,
)

# By hand, property tests look for new examples; how long one takes says how busy the machine is.
settings.register_profile("new", deadline=None, suppress_health_check=[HealthCheck.too_slow])
if settings.get_current_profile_name() == "default":
    settings.load_profile("new")

ROOT = Path(__file__).parents[1]
WAITING = frozenset({"browser", "fuzz", "postgres"})
"""The folders of tests that mostly wait."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files anew; look at the diff"
    )
    parser.addoption(
        "--all-versions",
        action="store_true",
        help="run pg tests against every version found, not the oldest, 13 and the newest only",
    )
    parser.addoption(
        "--one-of-each",
        action="store_true",
        help="run each test with the first of its parameters only",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # pytest-xdist's processes inherit it
        let_programs_heed_signals()
        folders = ExitStack()
        folders.enter_context(folders_of_the_run())
        config.add_cleanup(folders.close)
    keep_library_in(shared_caches())  # made once for all processes, where no verb says otherwise
    if config.getoption("numprocesses", None):  # of the process that waits for the others
        making = Thread(target=library)
        making.start()
        config.add_cleanup(making.join)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each of pytest-xdist's processes imports every test, which pytest rewrites when nobody has
    before: they begin at different ones, and read what another has rewritten."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if number.isdecimal():
        files = sorted(
            chain.from_iterable(Path(one).rglob("test_*.py") for one in session.config.args)
        )
        first = int(number) * len(files) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        for file in files[first:] + files[:first]:
            with suppress(Exception, pytest.skip.Exception):  # collecting it says why
                import_module(".".join(file.absolute().relative_to(ROOT).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each of pytest-xdist's processes begins with tests that wait for servers and programs, and
    ends with short ones, which the others take from it: none is left alone with the long ones."""
    if config.getoption("one_of_each"):
        items[:] = {item.nodeid.partition("[")[0]: item for item in reversed(items)}.values()
        items.reverse()
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        files = [list(tests) for _, tests in groupby(items, key=lambda one: one.path)]
        waiting = [tests for tests in files if tests[0].path.parent.name in WAITING]
        short = list(chain.from_iterable(tests for tests in files if tests not in waiting))
        left = len(items)
        items.clear()
        for at in range(processes):
            begun = list(chain.from_iterable(waiting[at::processes]))
            further = left // (processes - at) - len(begun)  # --dist worksteal gives even parts
            items += begun + short[:further]
            del short[:further]
            left -= len(begun) + further
        items += short


def pytest_collection_finish() -> None:
    """What is imported by now stays: the collector need not look through it after each test."""
    gc.collect()
    gc.freeze()


def pytest_report_header() -> str:
    found = ", ".join(str(one.version) for one in servers())
    return (
        f"PostgreSQL servers: {found or 'none (teiten pg install 13 18, or TEITEN_TEST_WORKDIR)'}"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that wants a server once for each version of its ``pg`` marker."""
    if "server_installation" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("pg")
    conditions = str(marker.args[0]) if marker is not None and marker.args else ""
    chosen = chosen_servers(conditions, metafunc.config.getoption("--all-versions"))
    reason = f"no PostgreSQL server {conditions} is installed: teiten pg install 13 18"
    parameters = [pytest.param(one, id=f"pg{one.version.major}") for one in chosen] or [
        pytest.param(None, id="no-server", marks=pytest.mark.skip(reason=reason))
    ]
    metafunc.parametrize("server_installation", parameters, indirect=True)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """Passwords of a test are not hidden in what the next one prints."""
    yield
    secrets.forget()


@pytest.fixture(autouse=True)
def closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test with programs leaves open is told of that test, not of the one in which the
    collector happens to find it. The others are too many and too quick for that."""
    yield
    if request.path.parent.name in WAITING:
        gc.collect()


@pytest.fixture
def server_installation(request: pytest.FixtureRequest) -> Installation:
    """An installation in the range of the test's ``pg`` marker; the test runs for each of them."""
    installation: Installation = request.param
    return installation


@pytest.fixture(scope="session")
def installation() -> Callable[[str], Installation]:
    """Gives the installation of a major version (``"9.6"``); skips where it is missing."""

    def find(major: str) -> Installation:
        for one in servers():
            if one.version.major == major:
                return one
        pytest.skip(f"PostgreSQL {major} is not installed: teiten pg install {major}")

    return find


@pytest.fixture(scope="session")
def installation_any() -> Installation:
    """The newest installation; skips where there is none."""
    if not servers():
        pytest.skip("no PostgreSQL server is installed: teiten pg install 18")
    return servers()[-1]


@pytest.fixture(scope="session")
def session_folder() -> Iterator[Path]:
    """A folder for the whole session that the servers' user can enter. When it goes, no server
    and no load generator of ours may be left."""
    with open_folder("teiten-tests-") as folder:
        yield folder
        left = left_processes([folder])
        assert not left, "processes are left after the tests:\n" + "\n".join(left)


@pytest.fixture(scope="session")
def cluster_kit(session_folder: Path) -> ClusterKit:
    """Makes clusters quickly."""
    return ClusterKit(session_folder)


@pytest.fixture
def workdir(session_folder: Path, request: pytest.FixtureRequest) -> Iterator[Workdir]:
    """An empty working folder that the servers' user can enter."""
    on_disk = request.node.get_closest_marker("disk") is not None
    with open_folder("teiten-test-", place_on_a_disk() if on_disk else None) as folder:
        workdir = Workdir(folder)
        workdir.prepare()
        yield workdir
        left = left_processes([folder])
        assert not left, "processes are left after the test:\n" + "\n".join(left)


@pytest.fixture
def stopped_cluster(
    server_installation: Installation, workdir: Workdir, cluster_kit: ClusterKit
) -> Iterator[Cluster]:
    """A cluster without checksums that is not started."""
    cluster = cluster_kit.make(server_installation, workdir.clusters / "test")
    yield cluster
    cluster.stop(immediately=True)


@pytest.fixture
def running_cluster(stopped_cluster: Cluster) -> Cluster:
    """A started cluster; it is stopped and deleted after the test."""
    stopped_cluster.start()
    return stopped_cluster
