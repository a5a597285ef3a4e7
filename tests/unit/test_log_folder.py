"""The log's folder in memory: marked, private, and swept when its Teiten has died."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from teiten.execute.client.log_folder import new_log_folder, sweep_logs
from teiten.execute.postgres.marker import MARKER_NAME, remove_marked


def test_a_folder_is_private_and_goes_with_its_logs(tmp_path: Path) -> None:
    folder = new_log_folder(tmp_path)
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "transactions.1").write_text("0 1 2 0 3 4\n")
    assert sweep_logs(tmp_path) == ()
    remove_marked(folder)
    assert not list(tmp_path.iterdir())


def test_there_is_none_where_memory_has_no_folder(tmp_path: Path) -> None:
    assert new_log_folder(tmp_path / "missing") is None


def test_what_a_dead_teiten_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    folder = new_log_folder(tmp_path)
    assert folder is not None
    marker = folder / MARKER_NAME
    values = json.loads(marker.read_text())
    marker.write_text(json.dumps({**values, "process_started": 1.0}))
    other = tmp_path / "teiten-log-somebody"
    other.mkdir()
    assert sweep_logs(tmp_path) == (f"removed the left log folder {folder}",)
    assert list(tmp_path.iterdir()) == [other]
