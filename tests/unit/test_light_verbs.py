"""``--help`` answers at once: a verb imports the stages that it needs when it runs."""

from __future__ import annotations

import subprocess
import sys

LIGHT = (
    *("claims", "data", "demo", "doctor", "explain_diff", "export", "history", "init", "pg"),
    *("report", "schema", "show", "site", "studies"),
)
"""The verbs whose options need no stage."""
HEAVY = ("jinja2", "pydantic")
LOADED = """
import importlib, sys
for verb in sys.argv[1].split():
    importlib.import_module(f"teiten.cli.verbs.{verb}")
print(*sorted(set(sys.argv[2].split()) & set(sys.modules)))
"""


def test_a_verb_loads_no_stage_before_it_runs() -> None:
    command = [sys.executable, "-c", LOADED, " ".join(LIGHT), " ".join(HEAVY)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_studies_are_shown_without_the_driver_of_servers_and_analysis() -> None:
    listed = "import sys; from click.testing import CliRunner; from teiten.cli.main import teiten"
    asked = "print(CliRunner().invoke(teiten, ['show', 'observe']).exit_code)"
    loaded = "print(*sorted({'psycopg', 'scipy'} & set(sys.modules)))"
    command = [sys.executable, "-c", f"{listed}; {asked}; {loaded}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]
