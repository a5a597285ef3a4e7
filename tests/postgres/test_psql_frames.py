"""What a psql here prints of a plan, in all of its forms."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from teiten.execute.postgres.cluster import Cluster
from tests.fixtures.psql_frames import printed
from tests.unit.test_explain_diff import same_but_for_wrapping

PSQL = shutil.which("psql")


@pytest.mark.pg(">=18")
@pytest.mark.skipif(PSQL is None, reason="no psql is installed")
def test_every_form_of_a_plan_is_read(running_cluster: Cluster, tmp_path: Path) -> None:
    folder, port = running_cluster.socket_directory, running_cluster.port
    # This psql's libpq may be older than ours, and know fewer of a connection string's keys.
    address = f"host={folder} port={port} user=postgres dbname=postgres"
    found = printed(str(PSQL), address, tmp_path)
    for form, text in found.items():
        assert same_but_for_wrapping(text, found["plain"]), form
