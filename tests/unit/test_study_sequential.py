"""Study files that run until they are decided, and whose servers have settings of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from teiten.cli.text.study import study_lines
from teiten.errors import StudyError, UsageError
from teiten.model.study import Sequential
from teiten.model.units import Seconds
from teiten.study.load import commented_copy, load_study
from teiten.study.sides import Shared, SideFlags, ab_study


def test_a_study_file_may_run_until_it_is_decided(tmp_path: Path) -> None:
    text = commented_copy("observe")
    text = text.replace("#   until_decided", "until_decided").replace("#   budget", "budget")
    text = text.replace("#   tuned", "tuned").replace("#   most_blocks", "most_blocks")
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    study = load_study(str(path), servers=["17,tuned"])
    assert study.measure.sequential == Sequential(Seconds(7200.0), 50)
    assert study.server_levels == (("tuned", (("checksums", "on"), ("guc:work_mem", "64MB"))),)
    shown = "\n".join(study_lines(study, (), (), "en"))
    assert "until every verdict is decided (budget 2 h 00 min)" in shown


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('{ checksums = "on" }', "a table needs the key server"),
        ('{ server = "18", clients = 4 }', "clients cannot belong to a server's alias"),
        ('{ server = "18", "guc:port" = 1 }', "port is set by Teiten itself"),
        ('{ server = "18", colour = 1 }', "'colour' is not a factor"),
    ],
)
def test_a_wrong_alias_is_named_with_its_line(tmp_path: Path, entry: str, message: str) -> None:
    text = commented_copy("observe").replace(
        '#   after = "/opt/postgresql-18/bin"', f"it = {entry}"
    )
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError) as caught:
        load_study(str(path))
    assert f"{path}:" in caught.value.message and "servers.it" in caught.value.message
    assert message in caught.value.message


def test_an_alias_fixes_nothing_that_the_study_varies() -> None:
    with pytest.raises(UsageError, match="fixes checksums for B, but the study varies it"):
        ab_study(
            SideFlags("a", "18"),
            SideFlags("b", "18", ("checksums=on",)),
            Shared(overrides=("checksums=off,on",)),
        )
