"""``--conf FILE`` is a ``--guc`` for each of its parameters, without those of its own place."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from teiten.cli.main import teiten
from teiten.cli.plan.options import is_of_its_place, with_conf
from teiten.errors import UsageError

CONF = """# mine
work_mem = 64MB   # each
shared_buffers = '1GB'
port = 5433
ssl = on
include_dir 'conf.d'
synchronous_standby_names = 'other'
random_page_cost 1.1
"""


def test_the_parameters_of_a_file_are_those_of_guc_which_goes_first(tmp_path: Path) -> None:
    file = tmp_path / "postgresql.conf"
    file.write_text(CONF, encoding="utf-8")
    given = {"conf": str(file), "other": 1}
    assert with_conf(("shared_buffers=2GB",), given) == (
        *("shared_buffers=2GB", "work_mem=64MB", "random_page_cost=1.1"),
    )
    assert given == {"other": 1}
    assert with_conf(("a=1",), {"conf": None}) == ("a=1",)


@pytest.mark.parametrize(
    ("name", "place"),
    [("port", True), ("ssl_cert_file", True), ("archive_command", True), ("include", True),
     ("work_mem", False), ("log_statement", False), ("wal_level", False)],
)  # fmt: skip
def test_what_is_of_a_servers_place_is_left_out(name: str, place: bool) -> None:
    assert is_of_its_place(name) is place


def test_a_file_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        with_conf((), {"conf": str(tmp_path / "none")})
    (tmp_path / "empty").write_text("# port = 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match="sets no parameter"):
        with_conf((), {"conf": str(tmp_path / "empty")})


@pytest.mark.parametrize("verb", ["plan", "run", "ab", "null"])
def test_verbs_that_take_guc_take_a_file(verb: str) -> None:
    assert "--conf FILE" in CliRunner().invoke(teiten, [verb, "--help"]).output
