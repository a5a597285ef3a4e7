"""Campaigns of every kind in which a script's program replaces files at every step, on and on: by
links, hard links to root's, FIFOs, folders, forged pid files; and makes the server's log giant.

The long run: ``python -m benchmarks.robustness strangers``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from teiten.host.system.paths import Workdir
from tests.fixtures.campaigns import Teiten
from tests.fixtures.storms import STUDIES, Storm, assert_secret_is_kept, pgbench_study, raised
from tests.postgres.test_strangers import run_study

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root has what another user may not have"),
]


@pytest.fixture
def storm(workdir: Workdir) -> Iterator[Storm]:
    with raised(workdir.root) as storm:
        yield storm


@pytest.mark.pg(">=18")
@pytest.mark.parametrize("kind", STUDIES)
def test_files_that_are_replaced_during_the_trials(
    teiten: Teiten, server: str, storm: Storm, kind: str
) -> None:
    storm = replace(storm, awaited=f"{teiten.workdir.campaigns}/*/evidence/trial-*.1")
    study = teiten.workdir.root / "stranger.toml"
    study.write_text(STUDIES[kind](storm, json.dumps(server)))
    assert run_study(teiten, study) in {0, 3, 4}
    assert teiten.trials(), "the campaign began"
    assert storm.has_begun
    storm.assert_harmless()
    assert_secret_is_kept(teiten.workdir.campaigns, storm.canary)
    assert sum(path.stat().st_size for path in teiten.workdir.campaigns.rglob("*")) < 1 << 30


@pytest.mark.pg(">=18")
def test_files_that_are_replaced_from_the_rehearsal_on(
    teiten: Teiten, server: str, storm: Storm
) -> None:
    study = teiten.workdir.root / "stranger.toml"
    study.write_text(pgbench_study(storm, json.dumps(server)))
    assert run_study(teiten, study) in {0, 3, 4}
    assert storm.has_begun
    storm.assert_harmless()
    assert_secret_is_kept(teiten.workdir.campaigns, storm.canary)
