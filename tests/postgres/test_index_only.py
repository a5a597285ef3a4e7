"""Index-only lookups on real servers: with pages that are not known to be visible readers visit the
table and write WAL, and after VACUUM they do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from teiten.datasets.pgbench.model import pgbench_data
from teiten.errors import ServerError
from teiten.execute.postgres.templates.store import TemplateStore
from teiten.host.system.paths import Workdir
from teiten.host.system.users import server_user
from teiten.kinds.pgbench.metrics import HEAP_FETCHES, INDEX_LOOKUPS
from teiten.model.installation import Installation, Pgbench
from teiten.model.metrics import VISIBLE_PAGES, WAL_PER_TRANSACTION
from teiten.model.study import Layout
from teiten.model.trial import Outcome, Trial
from teiten.model.units import Share
from tests.fixtures.campaigns import Teiten
from tests.fixtures.pgbench_run import pgbench
from tests.postgres.test_templates import quiet, spec_of

__all__ = ["pgbench"]

SHARES = {"visible-100": 1.0, "visible-50": 0.5, "visible-0": 0.0, "vacuumed": 1.0}
PAGES = 1640
"""Of pgbench's accounts at scale 1."""


@pytest.mark.parametrize("major", ["13", "18"])
def test_readers_write_wal_until_pages_are_vacuumed(
    major: str, teiten: Teiten, installation: Callable[[str], Installation]
) -> None:
    found = installation(major)
    flags = ["--servers", str(found.bin_directory), "--profile", "quick", "--yes", "--seed", "3"]
    changes = (
        "scale=1",
        "conclusive=no",
        "blocks=1",
        "clients=1",
        "duration=1s",
        "disturbed_share=100%",
    )
    flags += [word for change in changes for word in ("--set", change)]
    result = teiten.run("run", "index-only", *flags)
    assert result.returncode == 0, result.stderr
    trials = _by_layout(teiten)
    assert set(trials) == set(SHARES)
    for layout, share in SHARES.items():
        metrics = trials[layout].metrics
        assert trials[layout].outcome is Outcome.COUNTED
        assert metrics[VISIBLE_PAGES.name] == pytest.approx(share, abs=0.02)
        assert metrics[INDEX_LOOKUPS.name] == pytest.approx(metrics["transactions"], rel=0.02)
        assert metrics[HEAP_FETCHES.name] == pytest.approx(1 - share, abs=0.1)
    wal = {one: trial.metrics[WAL_PER_TRANSACTION.name] for one, trial in trials.items()}
    written = {one: wal[one] * trial.metrics["transactions"] for one, trial in trials.items()}
    assert written["visible-0"] > 1000 * PAGES, "a page in full for many a first visit"
    for layout in ("visible-100", "vacuumed"):
        assert written[layout] < 0.02 * written["visible-0"]
    assert written["visible-100"] < written["visible-50"] < written["visible-0"]
    # The views of cumulative statistics lag by up to this window's one second, so that how many
    # images they have counted by its end is chance. That it is told from 14 on, where the view
    # came, is not.
    for trial in trials.values():
        assert ("wal_full_page_images" in trial.metrics) == (major == "18")


def _by_layout(teiten: Teiten) -> dict[str, Trial]:
    """The trials of the only block, by the layout that they had."""
    plan = teiten.plan()
    layouts = {trial.number: trial.cell.level("layout") or "" for trial in plan.trials}
    return {layouts[trial.number]: trial for trial in teiten.trials()}


def test_a_layout_that_leaves_another_share_is_refused(
    installation: Callable[[str], Installation], workdir: Workdir, pgbench: Pgbench
) -> None:
    layout = Layout("half", all_visible=False, visible=Share(0.5))
    store, spec = (
        TemplateStore(workdir, server_user()),
        spec_of(installation("18"), pgbench_data(1, layout=layout)),
    )
    with pytest.raises(ServerError, match=r"100\.0% of the pages.*layout half says 50%"):
        store.build(spec, pgbench, quiet)
    assert not store.ready(spec)
