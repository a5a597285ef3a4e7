"""Folders and parameters that a study varies: what is refused or cautioned before the run."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from teiten.errors import MachineError, StudyError, UsageError, WayError
from teiten.host.cautions.machine import plan_cautions
from teiten.model.facts import DirectoryFacts, HostFacts
from teiten.model.installation import Version
from teiten.model.plan import Plan
from teiten.model.settings import Refusal
from teiten.model.units import GIB, MIB, Bytes
from teiten.plan.checks import check, check_parameters, lifetime, shared_memory
from teiten.plan.dry import actions
from teiten.study.load import load_study
from tests.fixtures.planned import FOLDER, expanded
from tests.fixtures.synthetic_plan import HOST

V17, V18 = Version.parse("17.5"), Version.parse("18.4")


def planned(*overrides: str, facts: HostFacts = HOST, study: str = "checksums") -> Plan:
    loaded = load_study(study, profile="quick", overrides=overrides)
    return expanded(loaded, ("18.4",), facts=facts)


def folder(path: str, **changes: object) -> DirectoryFacts:
    disk = replace(HOST.disk, mount_point=path)
    found = DirectoryFacts(path, disk, is_folder=True, writable=True)
    return replace(found, **changes)  # type: ignore[arg-type]


def with_folders(*folders: DirectoryFacts) -> HostFacts:
    return replace(HOST, directories=folders)


def test_checksums_are_contrasted_on_one_server() -> None:
    plan = planned()
    assert plan.study.contrast == "checksums"
    by_level = {trial.cell.level("checksums"): trial.template.checksums for trial in plan.trials}
    assert by_level == {"off": False, "on": True}
    assert len(plan.templates) == 2


def test_a_directory_is_an_absolute_path_and_a_factor_of_each_trial(tmp_path: Path) -> None:
    plan = planned(f"filesystem={tmp_path}/a/../b,/c/", "checksums=off", "contrast=directory")
    factor = plan.study.factor("directory")
    assert factor is not None and factor.levels == (f"{tmp_path}/b", "/c")
    assert {trial.directory for trial in plan.trials} == set(factor.levels)
    assert [path for path, _ in plan.needs.directories] == list(
        dict.fromkeys(trial.directory for trial in plan.trials)
    )
    elsewhere = planned("checksums=off,on")
    assert plan.needs.disk < elsewhere.needs.disk, "its clusters are not in the working folder"
    said = "\n".join(actions(plan, HOST, folder=FOLDER, user="postgres"))
    assert "copy each template to" in said and "/c/teiten-…" in said
    assert str(FOLDER / "clusters") not in said


@pytest.mark.parametrize(
    ("found", "kind", "said"),
    [
        (folder("/d", is_folder=False), UsageError, "directory=/d: there is no such folder"),
        (folder("/d", is_folder=False, is_taken=True), UsageError, "directory=/d: is no folder"),
        (folder("/d", writable=False), MachineError, "directory=/d: no folder can be created"),
        (folder("/d", closed_at="/root"), MachineError, "the servers' user cannot enter /root"),
        (folder("/d", exchangeable_at="/home/m"), MachineError, "what is in /home/m is neither"),
        (
            folder("/d", disk=replace(HOST.disk, mount_point="/d", free=Bytes(MIB))),
            MachineError,
            r"directory=/d: the clusters need \d+\.\d MiB on /d, 1\.0 MiB are free",
        ),
    ],
)
def test_a_directory_that_cannot_be_used_is_refused(
    found: DirectoryFacts, kind: type[MachineError], said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        check(planned("directory=/d"), with_folders(found), FOLDER)
    assert caught.value.hint


def test_folders_of_one_disk_share_what_is_free() -> None:
    plan = planned("directory=/d/a,/d/b", "contrast=directory", "checksums=off")
    each = max(size for _, size in plan.needs.directories)
    disk = replace(HOST.disk, mount_point="/d", free=Bytes(int(1.5 * each)))
    folders = [folder(f"/d/{name}", disk=disk) for name in "ab"]
    with pytest.raises(MachineError, match=r"directory=/d/., /d/.: the clusters need"):
        check(plan, with_folders(*folders), FOLDER)
    roomy = replace(disk, free=Bytes(GIB * 100))
    check(plan, with_folders(*(replace(one, disk=roomy) for one in folders)), FOLDER)


@pytest.mark.parametrize("value", ["", "a\nb", 3])
def test_what_is_no_folder_is_refused(value: object, tmp_path: Path) -> None:
    text = (
        '[study]\nname = "s"\ntitle = "t"\nquestion = "q"\ncontrast = "server"\n[factors]\n'
        f'server = ["17", "18"]\nclients = [1]\ndirectory = [{value!r}]\n'
        '[[workloads]]\nname = "w"\ntitle = "w"\nscript = "select-only"\nscale = 1\n'
        "changes_data = false\n"
    ).replace("'", '"')
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(StudyError, match=r"factors\.directory: "):
        load_study(str(path))


def test_huge_pages_that_are_not_reserved_are_named_with_the_command() -> None:
    plan = planned("guc:huge_pages=off,on", "checksums=off", "contrast=guc:huge_pages")
    with pytest.raises(MachineError, match=r"needs about \d+ huge pages of 2048 kB; 0 are free"):
        check(plan, HOST, FOLDER)
    needed = -(-shared_memory(dict(plan.trials[0].settings)) // (2 * MIB))
    try:
        check(plan, HOST, FOLDER)
    except MachineError as error:
        assert f"sysctl -w vm.nr_hugepages={needed}," in error.hint
    reserved = replace(HOST.memory, huge_pages_total=needed + 9, huge_pages_free=needed)
    check(plan, replace(HOST, memory=reserved), FOLDER)
    other = replace(HOST, memory=replace(HOST.memory, huge_page_size=None), system="Darwin")
    with pytest.raises(MachineError, match="Darwin tells of no huge pages"):
        check(plan, other, FOLDER)


def test_shared_memory_is_rather_too_much_than_too_little() -> None:
    """PostgreSQL 18 says 143 MB of shared_buffers=128MB with 100 connections."""
    size_of = shared_memory({"shared_buffers": "128MB", "max_connections": "100"})
    assert 143 * MIB <= size_of <= 200 * MIB


@pytest.mark.parametrize(
    ("overrides", "code"),
    [
        (("guc:wal_compression=off,on",), "parameter-needs-writes"),
        (("guc:synchronous_commit=off,on",), "parameter-needs-writes"),
        (("guc:commit_siblings=1,5",), "parameter-needs-writes"),
        (("guc:io_method=sync,worker",), "parameter-needs-reads"),
        (("guc:huge_pages=off,try",), "huge-pages-try"),
        (("guc:fsync=on,off", "workloads=update"), "parameter-unsafe"),
    ],
)
def test_a_level_without_effect_or_safety_has_a_caution(
    overrides: tuple[str, ...], code: str
) -> None:
    factor = overrides[0].partition("=")[0]
    plan = planned(*overrides, "checksums=off", f"contrast={factor}")
    assert code in {one.code for one in plan_cautions(plan, HOST)}
    assert not plan_cautions(planned("workloads=update"), HOST)


@pytest.mark.parametrize(("workload", "shared"), [("update", True), ("read", False)])
def test_sides_that_flush_differently_do_not_write_to_one_disk_at_the_same_time(
    workload: str, shared: bool
) -> None:
    factor = "guc:synchronous_commit"
    words = (f"{factor}=on,off", "checksums=off", f"contrast={factor}", f"workloads={workload}")
    with pytest.raises(WayError, match="holds up the other") if shared else nullcontext():
        planned(*words, "way=pairs")
    plan = planned(*words)
    assert "parameter-shared-disk" not in {one.code for one in plan_cautions(plan, HOST)}
    earlier = replace(plan.study, measure=replace(plan.study.measure, way="pairs"))
    codes = {caution.code for caution in plan_cautions(replace(plan, study=earlier), HOST)}
    assert ("parameter-shared-disk" in codes) is shared


def test_when_parameters_came_and_went() -> None:
    assert lifetime("io_method")[0] == "18"
    assert lifetime("old_snapshot_threshold")[1] == "16"
    assert lifetime("vacuum_cleanup_index_scale_factor")[0] == "11"
    assert lifetime("work_mem") == (None, None)


@pytest.mark.parametrize(
    ("refusal", "said", "hint"),
    [
        (
            Refusal("17", V17, "io_method", "", "unrecognized", unknown=True),
            "server 17: PostgreSQL 17.5 does not know the parameter io_method",
            "io_method exists since PostgreSQL 18: leave io_method out, or choose other servers",
        ),
        (
            Refusal("18", V18, "old_snapshot_threshold", "", "unrecognized", unknown=True),
            "does not know the parameter old_snapshot_threshold",
            "exists up to PostgreSQL 16: ",
        ),
        (
            Refusal("17", V17, "wokr_mem", "", "unrecognized", unknown=True),
            "does not know the parameter wokr_mem",
            "leave wokr_mem out",
        ),
        (
            Refusal("17", V17, "wokr_mem", "", "", unknown=True, known=("fsync", "work_mem")),
            "does not know the parameter wokr_mem",
            "Did you mean 'work_mem'? Else leave wokr_mem out",
        ),
        (
            Refusal("18", V18, "wal_compression", "lz4", "invalid", hint="Available values: on."),
            "PostgreSQL 18.4 refuses wal_compression = lz4: invalid",
            "Available values: on; lz4 needs a server that was built --with-lz4: yours, or",
        ),
        (
            Refusal("18", V18, "io_method", "io_uring", "invalid", hint="Available values: sync."),
            "PostgreSQL 18.4 refuses io_method = io_uring: invalid",
            "teiten pg install 18 --build --configure --with-liburing",
        ),
        (
            Refusal("14", Version.parse("14.2"), "wal_compression", "pglz", "needs a Boolean"),
            "PostgreSQL 14.2 refuses wal_compression = pglz",
            "pglz exists since PostgreSQL 15: choose later servers",
        ),
        (
            Refusal("14", Version.parse("14.2"), "wal_compression", "lz4", "needs a Boolean"),
            "PostgreSQL 14.2 refuses wal_compression = lz4",
            "lz4 exists since PostgreSQL 15: choose later servers",
        ),
    ],
)
def test_what_a_server_refuses_is_said_with_what_is_known(
    refusal: Refusal, said: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        check_parameters([refusal])
    assert said in caught.value.message and hint in caught.value.hint
    with pytest.raises(UsageError, match=r"\(and 1 more\)"):
        check_parameters([refusal, refusal])
    check_parameters([])


def test_a_directory_in_memory_has_a_caution() -> None:
    disk = replace(HOST.disk, mount_point="/m", file_system="tmpfs", kind="memory")
    facts = with_folders(folder("/m", disk=disk))
    (caution,) = plan_cautions(planned("directory=/m", "workloads=update"), facts)
    assert (caution.code, dict(caution.values)["mount_point"]) == ("memory-file-system", "/m")
