"""What the system refuses is told by its true cause, with exit code 3; a defect stays one."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import click
import pytest

from teiten.cli.campaign.carry_out import blaming_disk
from teiten.cli.failures import report_failure, with_causes
from teiten.errors import MachineError, ServerError
from teiten.host.system.causes import machine_error, translate_os_errors
from teiten.ledger.failures import translated
from teiten.study.document import read_text
from tests.fixtures.verbs import verbs_in


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "reading only"),
        (errno.EACCES, "no permission"),
        (errno.EIO, "input/output error"),
        (errno.ENAMETOOLONG, "longer than the file system takes"),
        (errno.EMFILE, "too many open files"),
        (errno.ENOMEM, "no more memory"),
        (errno.EAGAIN, "no more processes"),
        (errno.EISDIR, "a folder is where a file is needed"),
        (errno.ELOOP, "in a circle"),
        (errno.ESTALE, "gone away"),
    ],
)
def test_each_cause_has_its_words(
    number: int, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    error = OSError(number, os.strerror(number), str(tmp_path / "ledger"))
    assert report_failure(error) == 3
    said = capsys.readouterr().err
    assert words in said and "hint: " in said and "defect" not in said


def test_a_missing_file_nobody_asked_for_is_a_defect(tmp_path: Path) -> None:
    error = FileNotFoundError(errno.ENOENT, "no such file", str(tmp_path / "x"))
    assert machine_error(error) is None
    with (
        pytest.raises(MachineError, match="the report cannot be written: no such file"),
        translate_os_errors("the report cannot be written"),
    ):
        raise error


def test_memory_that_is_used_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(MemoryError()) == 3
    assert "no more memory" in capsys.readouterr().err


def test_a_full_ledger_outside_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.Error) as caught:
            connection.execute("CREATE TABLE t (x)")
    assert report_failure(caught.value) == 3
    assert "the disk is full" in capsys.readouterr().err


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file" / "x", tmp_path / "file"):
        with pytest.raises(MachineError) as caught, translate_os_errors("made"):
            folder.mkdir(exist_ok=True)
        assert f"{tmp_path / 'file'} is a file, where a folder is needed" in caught.value.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_whose_folder_it_is() -> None:
    with pytest.raises(MachineError, match="belongs to the user root"), translate_os_errors("made"):
        Path("/proc/1/fd/x").touch()


def test_a_library_that_the_system_lacks_is_told_with_its_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = "libstdc++.so.6: cannot open shared object file: No such file or directory"
    assert report_failure(ImportError(f"numpy failed.\n\nOriginal error was: {said}")) == 3
    assert "error: a library of the system is missing: libstdc++.so.6\n" in capsys.readouterr().err
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # where a defect's log is left
    assert report_failure(ImportError("No module named 'numpy'")) == 1


def test_a_defect_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(ValueError("odd")) == 1
    said = capsys.readouterr().err
    assert "a defect of Teiten: ValueError: odd" in said
    log = Path(said.split("file ")[-1].strip())
    assert "ValueError: odd" in log.read_text(encoding="utf-8")
    log.unlink()


def test_a_defect_without_room_for_its_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    assert report_failure(ValueError("odd")) == 1
    assert "please report it with the lines above" in capsys.readouterr().err


def test_a_usage_error_always_has_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(click.UsageError("no context")) == 2
    assert "hint: for example: teiten run observe --servers 17,18" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["/dev/null", "FILE/below"])
@pytest.mark.parametrize("verb", ["runs", "run"])
def test_a_working_folder_that_cannot_be(
    verb: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    where = place.replace("FILE", str(tmp_path / "file"))
    words = ["run", "observe"] if verb == "run" else [verb]
    done = verbs_in(Path(where), capsys)(*words)
    assert done.code == 3, done.err
    assert "is a file, where a folder is needed" in done.err


def test_the_cause_that_a_program_quotes_is_told_first(tmp_path: Path) -> None:
    said = "initdb of PostgreSQL 18.4 failed (exit code 1): could not create: "
    refused = ServerError(said + os.strerror(errno.ENOSPC), "look whether bin is complete")
    with pytest.raises(MachineError) as caught, blaming_disk(tmp_path):
        raise refused
    assert caught.value.message.startswith("the disk is full: ")
    assert "initdb of PostgreSQL" in caught.value.message
    assert "teiten clean" in caught.value.hint
    other = ServerError("the server does not start", "see its log")
    with pytest.raises(ServerError) as raised, blaming_disk(tmp_path):
        raise other
    assert raised.value is other


def test_what_fails_while_things_are_put_in_order_does_not_hide_a_full_disk(tmp_path: Path) -> None:
    def put_in_order() -> None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(tmp_path / "trial"))

    with pytest.raises(MachineError) as caught, blaming_disk(tmp_path):
        try:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "log"))
        finally:
            put_in_order()
    assert caught.value.message.startswith("the disk is full: ")
    assert "teiten clean" in caught.value.hint


def test_a_full_disk_is_told_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(MachineError) as caught, blaming_disk(tmp_path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "log"))
    assert caught.value.message == f"the disk is full: {tmp_path / 'log'}"


@pytest.mark.parametrize("read", ["ledger", "study"])
def test_what_the_system_gives_no_number_stays_as_it_is(
    read: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An error that is raised from itself is its own cause: who asks for its causes never ends."""
    bare = OSError("without a number")

    def fail(*_: object, **__: object) -> str:
        raise bare

    study = tmp_path / "a.toml"
    study.touch()
    with pytest.raises(OSError, match="without a number") as caught:
        if read == "ledger":
            with translated(tmp_path):
                fail()
        else:
            monkeypatch.setattr(Path, "read_text", fail)
            read_text(study)
    assert list(with_causes(caught.value)) == [bare]
