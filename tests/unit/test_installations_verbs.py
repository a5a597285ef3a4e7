"""``teiten pg`` as a person types it."""

from __future__ import annotations

import pytest

from teiten.cli.main import main
from teiten.host.system.paths import Workdir
from teiten.model.installation import Source
from tests.fixtures.fake_trees import make_managed
from tests.fixtures.schemas import described


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    code = ended.value.code
    assert isinstance(code, int)
    return code


@pytest.fixture
def root(workdir: Workdir, monkeypatch: pytest.MonkeyPatch) -> str:
    """A working folder with two installations, on a machine that has no other."""
    make_managed(workdir, "17.10")
    make_managed(workdir, "18.4", Source.WHEEL, "wheel:18.4", ("pgbench", "psql"))
    monkeypatch.setattr("teiten.execute.postgres.inspection.this_machine", lambda: ())
    return str(workdir.root)


def test_list_as_a_table(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--workdir", root, "pg", "list") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["name", "version", "source", "build", "contrib", "pgbench", "programs"]
    assert lines[1][:6] == ["wheel:18.4", "18.4", "wheel", "(Teiten)", "(no", "server)"]
    assert lines[2] == [
        *("17.10", "17.10", "npm", "(Teiten)", "unknown", "none", "no"),
        f"{root}/installations/17.10/bin",
    ]


def test_list_as_json(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--workdir", root, "pg", "list", "--json") == 0
    wheel, server = described("pg list", capsys.readouterr().out)
    assert (wheel["name"], wheel["server"], server["version"]) == ("wheel:18.4", False, "17.10")
    assert (server["version_number"], server["managed"]) == (170010, True)


def test_install_what_is_there(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--workdir", root, "pg", "install", "17", "pgbench", "--json") == 0
    captured = capsys.readouterr()
    assert "PostgreSQL 17.10 is installed already" in captured.err
    assert "pgbench 18.4 is installed already" in captured.err
    assert [one["name"] for one in described("pg install", captured.out)] == ["17.10", "wheel:18.4"]


def test_remove(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--workdir", root, "pg", "remove", "pgbench", "17") == 0
    assert capsys.readouterr().err.splitlines() == ["removed wheel:18.4", "removed 17.10"]
    assert run("--workdir", root, "pg", "list") == 0
    assert "teiten pg install 17 18" in capsys.readouterr().err


def test_a_wrong_version_is_bad_usage(root: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--workdir", root, "pg", "install", "seventeen") == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: 'seventeen' is not a version of PostgreSQL.",
        "hint: name a major version (17), a minor one (18.4), or pgbench",
    ]


@pytest.mark.parametrize("verb", ["list", "install", "remove"])
def test_help_has_two_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("pg", verb, "--help") == 0
    assert capsys.readouterr().out.count(f"teiten pg {verb}") == 3
