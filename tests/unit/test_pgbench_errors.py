"""What went wrong, in pgbench's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.kinds.pgbench.load.output import all_errors, blames_connection, first_error

GOLDEN = Path(__file__).parents[1] / "golden" / "pgbench"


def lines(case: str) -> list[str]:
    return (GOLDEN / f"{case}.err").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("version", ["9.6", "13", "15", "16", "18"])
def test_a_syntax_error_is_shown_with_the_place(version: str) -> None:
    assert first_error(lines(f"{version}-unclosed")) == (
        'unclosed.sql:1: syntax error in command "set"\n'
        "\\set aid random(1, 1000\n"
        "                       ^ error found here"
    )
    assert not blames_connection(lines(f"{version}-unclosed"))


@pytest.mark.parametrize("version", ["9.6", "15", "16", "18"])
def test_an_error_of_the_server_about_the_script(version: str) -> None:
    message = first_error(lines(f"{version}-mistyped"))
    assert message is not None
    assert 'ERROR:  syntax error at or near "SELECTT"\nLINE 1: SELECTT nope;' in message
    assert message.count("SELECTT nope") == 1
    assert not blames_connection(lines(f"{version}-mistyped"))


@pytest.mark.parametrize("version", ["15", "16", "18"])
@pytest.mark.parametrize(
    ("case", "text"),
    [
        ("unknown-command", 'unknown-command.sql:1: invalid command in command "sett"'),
        ("meta-division", "division by zero"),
        ("empty", 'empty command list for script "empty.sql"'),
        ("option", "unrecognized option '--foo'"),
        ("sometimes", "aborted in command 1 query 0: ERROR:  division by zero"),
    ],
)
def test_other_errors(version: str, case: str, text: str) -> None:
    message = first_error(lines(f"{version}-{case}"))
    assert message is not None
    assert text in message
    assert not blames_connection(lines(f"{version}-{case}"))


@pytest.mark.parametrize("version", ["15", "16", "18"])
@pytest.mark.parametrize("case", ["no-server", "no-database", "crash"])
def test_the_connection_is_to_blame(version: str, case: str) -> None:
    assert blames_connection(lines(f"{version}-{case}"))
    assert first_error(lines(f"{version}-{case}")) is not None


@pytest.mark.parametrize("case", ["9.6-no-database", "9.6-crash"])
def test_the_connection_is_to_blame_in_old_words(case: str) -> None:
    assert blames_connection(lines(case))
    assert first_error(lines(case)) is not None


@pytest.mark.parametrize("case", ["tpcb", "retries", "reconnect", "rate", "stalled"])
@pytest.mark.parametrize("version", ["15", "16", "18"])
def test_a_good_run_has_no_error(version: str, case: str) -> None:
    assert first_error(lines(f"{version}-{case}")) is None
    assert all_errors(lines(f"{version}-{case}")) == ()


def test_all_errors_without_the_one_that_only_repeats() -> None:
    text = "aborted in command 1 (SQL) of script 0; perhaps the backend died while processing"
    assert all_errors(lines("18-crash")) == (f"client 0 {text}", f"client 1 {text}")
