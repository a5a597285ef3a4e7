"""A copy of a study to edit: its own text, with the scripts inside."""

from __future__ import annotations

import re
from collections.abc import Mapping

from teiten.errors import UsageError
from teiten.model.study import Script
from teiten.study.changes import StudyFlags
from teiten.study.document import read_document
from teiten.study.load import load_study

_SCRIPT_LINE = re.compile(r'^script = "([^"\n]+)"[^\n]*$', re.MULTILINE)


def commented_copy(reference: str) -> str:
    """The text of a study file that can be edited and run on its own.

    Raises UsageError where there is no such study, StudyError where its file is wrong.
    """
    document = read_document(reference)
    study = load_study(reference, StudyFlags(overrides=["workloads=all"]))
    scripts = {text.name: text for workload in study.workloads for text in workload.options.texts}

    def inlined(match: re.Match[str]) -> str:
        return _inlined(match, scripts)

    name = document.tables.study.name
    header = f"# A copy of the study {name}, made by: teiten init {reference}\n# Edit it; then:\n"
    steps = "#   teiten plan FILE     what it would do here\n#   teiten run FILE      run it\n#\n"
    return header + steps + _SCRIPT_LINE.sub(inlined, document.text)


def _inlined(match: re.Match[str], scripts: Mapping[str, Script]) -> str:
    """A line that names a script's file as one that holds its text."""
    script = scripts.get(match[1])
    if script is None or script.builtin:
        return match[0]
    if "'''" in script.text:
        raise UsageError(
            f"the script {script.name} holds three quotes in a row and cannot stand in a TOML text",
            "copy the study file and its script by hand",
        )
    return f"script = '''\n{script.text}'''"
