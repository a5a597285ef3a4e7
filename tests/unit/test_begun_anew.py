"""A password that stands on the command line leaves the list of processes."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

WORD = "Planted-7f3a"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_it_stands_in_no_command_line(tmp_path: object) -> None:
    address = f"a=postgresql://u:{WORD}@127.0.0.1:1/d?connect_timeout=2"
    words = ["--workdir", str(tmp_path), "run", "observe", "--servers", f"{address},17"]
    process = subprocess.Popen(
        [sys.executable, "-m", "teiten", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    clean = False
    while process.poll() is None:
        try:
            shown = " ".join(psutil.Process(process.pid).cmdline())
        except psutil.Error:
            break
        if shown:
            assert not (clean and WORD in shown)
            clean = WORD not in shown
        time.sleep(0.005)
    said, _ = process.communicate()
    assert clean
    assert WORD not in said
    assert process.returncode in {2, 3}, said
