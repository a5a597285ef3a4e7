"""Ceilings: measured on a real disk in a moment, kept, found again, and never those of another."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from teiten.cli.doctor.text import ceilings_text
from teiten.cli.main import main
from teiten.errors import MachineError
from teiten.host.ceilings import measure as ceilings_probe
from teiten.host.ceilings.disk_speed import BLOCK, CHUNK, OF_DISK, aligned, rate, scratch
from teiten.host.ceilings.kept import cache_file, cached_ceilings, keep_ceilings
from teiten.host.ceilings.measure import CpuClock, measure_ceilings, others_share, read_clock
from teiten.host.ceilings.storage_speed import command, measure_by_fio, parse
from teiten.host.facts.machine import read_host_facts
from teiten.host.system.paths import Workdir
from teiten.ledger.codec import decode, encode
from teiten.model.facts import HostFacts
from teiten.model.text import Language
from teiten.model.units import Bytes, Seconds
from tests.fixtures.invented_machine import GOOD_MACHINE
from tests.fixtures.invented_readings import CEILINGS

pytestmark = pytest.mark.disk

BRIEF, SMALL = Seconds(0.02), Bytes(8 * CHUNK)

FIO = """\
#!/bin/sh
echo 'fio: a remark before the answer'
cat <<'END'
{"fio version": "fio-3.33", "jobs": [
  {"read": {"bw_bytes": 5000, "iops": 50.5}, "write": {"bw_bytes": 7000, "iops": 70.5}}]}
END
"""


@pytest.fixture
def folder(tmp_path: Path) -> Workdir:
    found = Workdir(tmp_path / "work")
    found.prepare()
    return found


@pytest.mark.slow
def test_all_is_measured_kept_and_nothing_is_left(
    folder: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teiten.host.ceilings.storage_speed.shutil.which", lambda _: None)
    monkeypatch.setattr(ceilings_probe, "MOST_OTHERS", 1.0)  # the tests' machine may be busy
    long_enough = Seconds(0.3)  # for a busy machine's processors to give each pattern some time
    found = measure_ceilings(folder, logical=2, seconds=long_enough, size=SMALL)
    numbers = {name: value for name, value in asdict(found).items() if name != "tool"}
    assert all(value > 0 for value in numbers.values())
    assert found.tool == "teiten"
    assert found.cores < (os.cpu_count() or 1) + 0.5
    assert cached_ceilings(folder) == found
    assert read_host_facts(folder.root).ceilings == found
    assert list(folder.clusters.iterdir()) == []


def test_what_was_measured_on_a_busy_machine_is_not_kept(
    folder: Workdir, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks = iter([CpuClock(100.0, 50.0, 10.0), CpuClock(110.0, 57.0, 14.0)])
    monkeypatch.setattr("teiten.host.ceilings.storage_speed.shutil.which", lambda _: None)
    monkeypatch.setattr(ceilings_probe, "read_clock", lambda: next(clocks))
    with pytest.raises(MachineError, match="took 30% of the processors"):
        measure_ceilings(folder, logical=1, seconds=BRIEF, size=SMALL)
    assert cached_ceilings(folder) is None


def test_the_share_of_others_is_what_is_busy_without_us() -> None:
    start = CpuClock(100.0, 50.0, 10.0)
    assert others_share(start, CpuClock(110.0, 57.0, 17.0)) == 0.0
    assert others_share(start, CpuClock(110.0, 57.0, 17.5)) == 0.0, "clocks tick apart"
    assert others_share(start, start) == 0.0
    now = read_clock()
    assert now.total > now.busy > now.own > 0


def test_a_file_has_no_name_but_can_be_opened(tmp_path: Path) -> None:
    with scratch(tmp_path, SMALL) as file:
        assert list(tmp_path.iterdir()) == []
        assert file.path.stat().st_size == file.size == SMALL
        buffer = aligned(BLOCK)
        assert file.read(buffer, file.size - BLOCK) == BLOCK


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(MachineError, match="cannot be measured \\(No such file") as error,
        scratch(tmp_path / "missing", SMALL),
    ):
        pass
    assert "--workdir" in error.value.hint


def test_a_disk_that_fails_while_it_is_measured_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot be measured"), scratch(tmp_path, SMALL):
        raise OSError(5, "Input/output error")


def test_a_file_system_without_direct_io_is_named(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="no direct I/O") as error, scratch(tmp_path, SMALL):
        raise OSError(errno.EINVAL, "Invalid argument")  # as tmpfs says to O_DIRECT
    assert "a disk of this machine" in error.value.hint


def test_too_little_space_is_said_before_anything_is_written(folder: Workdir) -> None:
    with pytest.raises(MachineError, match="bytes are free"):
        measure_ceilings(folder, logical=1, seconds=BRIEF, size=Bytes(2**60))


def test_an_error_of_a_thread_ends_all() -> None:
    def fails() -> int:
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output"):
        rate([fails, lambda: 1], Seconds(30.0))


def test_spoilt_and_missing_files_are_no_ceilings(folder: Workdir) -> None:
    assert cached_ceilings(folder) is None
    keep_ceilings(folder, CEILINGS)
    assert cached_ceilings(folder) == CEILINGS
    sound = json.loads(cache_file(folder).read_text())
    for spoilt in (
        "{",
        "[]",
        json.dumps({**sound, "fsyncs": 0}),
        json.dumps({**sound, "memory": float("nan")}),
        json.dumps({**sound, "memory": "fast"}),
        json.dumps({name: value for name, value in sound.items() if name != "tool"}),
    ):
        cache_file(folder).write_text(spoilt)
        assert cached_ceilings(folder) is None


def test_another_machine_has_other_ceilings(folder: Workdir, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "etc").mkdir(parents=True)
    (other / "etc/machine-id").write_text("0123456789abcdef\n")
    assert cache_file(folder, other) != cache_file(folder)
    assert cache_file(folder) != cache_file(Workdir(folder.root / "deeper"))
    keep_ceilings(folder, CEILINGS)
    assert cached_ceilings(folder, other) is None


def test_the_ledger_keeps_ceilings_and_old_ledgers_have_none() -> None:
    facts = replace(GOOD_MACHINE, ceilings=CEILINGS)
    assert decode(HostFacts, encode(HostFacts, facts)) == facts
    old = json.loads(encode(HostFacts, GOOD_MACHINE))
    del old["ceilings"]
    assert decode(HostFacts, json.dumps(old)).ceilings is None


def test_fio_is_asked_for_each_pattern_and_its_answer_read(tmp_path: Path) -> None:
    fio = tmp_path / "fio"
    fio.write_text(FIO)
    fio.chmod(0o755)
    found, version = measure_by_fio(str(fio), tmp_path / "file", SMALL, BRIEF, OF_DISK)
    assert version == "fio-3.33"
    assert list(found.values()) == [5000, 7000, 50.5, 70.5, 70.5]


def test_fios_command_is_direct_and_stays_within_the_file() -> None:
    for pattern in OF_DISK:
        arguments = command("fio", Path("/x"), SMALL, Seconds(4.0), pattern)
        assert {"--direct=1", "--runtime=4", "--filename=/x"} <= set(arguments)
        assert ("--fdatasync=1" in arguments) == (pattern.name == "fsyncs")
    assert f"--offset_increment={SMALL // 4}" in command(
        "fio", Path("/x"), SMALL, BRIEF, OF_DISK[0]
    )


def test_a_fio_that_fails_is_shown_with_its_command(tmp_path: Path) -> None:
    fio = tmp_path / "fio"
    fio.write_text("#!/bin/sh\necho no such engine >&2\nexit 1\n")
    fio.chmod(0o755)
    with pytest.raises(MachineError, match="no such engine") as error:
        measure_by_fio(str(fio), tmp_path / "file", SMALL, BRIEF, OF_DISK)
    assert "--rw=read" in error.value.hint
    fio.write_text("#!/bin/sh\necho nothing\n")
    with pytest.raises(MachineError, match="failed"):
        measure_by_fio(str(fio), tmp_path / "file", SMALL, BRIEF, OF_DISK)
    with pytest.raises(MachineError, match="no number for fsyncs"):
        parse({"jobs": []}, OF_DISK[-1])


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_doctor_prints_what_was_measured(language: Language) -> None:
    text = ceilings_text(CEILINGS, language, 80).plain
    assert "fio-3.33" in text
    assert len(text.splitlines()) == 10
    assert "1,000" in text
    assert "{" not in text


def test_the_verb_shows_kept_ceilings_without_measuring(
    folder: Workdir, capsys: pytest.CaptureFixture[str]
) -> None:
    keep_ceilings(folder, CEILINGS)
    for arguments, expected in (
        (["doctor"], "Durable 8 kB writes"),
        (["doctor", "--json"], "fsyncs"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["--workdir", str(folder.root), *arguments])
        assert end.value.code == 0
        assert expected in capsys.readouterr().out
