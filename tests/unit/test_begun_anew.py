"""A password that stands on the command line leaves the list of processes."""

from __future__ import annotations

import socket
import subprocess
import sys

import psutil
import pytest

WORD = "Planted-7f3a"
PATIENCE = 300.0


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_it_stands_in_no_command_line(tmp_path: object) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        address = f"a=postgresql://u:{WORD}@127.0.0.1:{server.getsockname()[1]}/d"
        words = ["--workdir", str(tmp_path), "run", "observe", "--servers", f"{address},17"]
        process = subprocess.Popen(
            [sys.executable, "-m", "teiten", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        connection, _ = server.accept()
        with connection:
            shown = psutil.Process(process.pid).cmdline()
    said, _ = process.communicate(timeout=PATIENCE)
    assert words[2] in shown
    assert WORD not in " ".join(shown)
    assert WORD not in said
    assert process.returncode in {2, 3}, said
