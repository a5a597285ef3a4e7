"""One writer at a time; the others are told who it is; a killed one holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from teiten.errors import LedgerError
from teiten.ledger.lock import campaign_lock, is_locked, workdir_lock
from teiten.ledger.store import Ledger
from tests.fixtures.synthetic import write_synthetic_ledger

HOLD = """
import sys, time
from pathlib import Path
from teiten.ledger.lock import campaign_lock, workdir_lock
held = {"campaign": campaign_lock, "workdir": workdir_lock}[sys.argv[1]](Path(sys.argv[2]))
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def held_elsewhere(kind: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    arguments = [sys.executable, "-c", HOLD, kind, str(folder)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_second_writer_is_told_who_the_first_is(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    write_synthetic_ledger(folder, trials=4, samples=10)
    with held_elsewhere("campaign", folder) as holder:
        with pytest.raises(LedgerError) as caught:
            Ledger.open(folder)
        assert (
            caught.value.message
            == f"the campaign campaign is being written by process {holder.pid}"
        )
        assert "Ctrl-C" in caught.value.hint
        assert is_locked(folder)
        with Ledger.open(folder, read_only=True) as reader:
            assert len(reader.finished()) >= 4


def test_a_second_campaign_in_a_working_folder_is_refused(tmp_path: Path) -> None:
    with held_elsewhere("workdir", tmp_path) as holder:
        with pytest.raises(LedgerError) as caught:
            workdir_lock(tmp_path)
        assert f"process {holder.pid}" in caught.value.message
        assert "two at once would disturb each other" in caught.value.hint


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    with held_elsewhere("campaign", tmp_path) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert not is_locked(tmp_path)
    campaign_lock(tmp_path).release()


def test_it_is_held_against_our_own_process_too(tmp_path: Path) -> None:
    with (
        campaign_lock(tmp_path),
        pytest.raises(LedgerError, match=f"by process {os.getpid()}"),
    ):
        campaign_lock(tmp_path)
    assert not is_locked(tmp_path)


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    assert list(tmp_path.iterdir()) == []
