"""A Python that was built for an old C library lacks calls that its Linux has: hosts have such."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from teiten.host.system.files import copy_range
from teiten.host.system.processes import EndSignal


def test_without_copy_file_range_an_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "copy_file_range", raising=False)
    with pytest.raises(OSError, match="no copy_file_range"):
        copy_range(0, 1, 1)


def test_without_pidfd_the_end_is_polled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        signal = EndSignal(process.pid)
        while process.poll() is None:
            signal.wait(1.0)
        signal.close()
    assert process.returncode == 0
