"""Commands that a reader types to have the same again, beside Teiten's own command."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator
from pathlib import PurePath

from teiten.model.installation import initdb_options
from teiten.report.blocks import Block, Code, Details, Text, Unprinted
from teiten.report.tables import Table, cells, headings
from teiten.report.view.kit import Kit

OF_THE_PLACE = frozenset({"-h", "-p"})
"""Options of a load program, with a value each, that say where this campaign's server was."""
LOG = "--log-prefix="


def repeat_blocks(kit: Kit) -> Iterator[Block]:
    """How clusters and loads were made, and the kernel's parameters."""
    t = kit.t
    made = dict.fromkeys(_initdb(kit))
    if made:
        yield Text(t("repeat.initdb"))
        yield Code("\n".join(made), "sh")
    loads = tuple(_loads(kit))
    if loads:
        yield Text(t("repeat.load"))
        yield Code("\n".join(loads), "sh")
    kernel = kit.analysis.facts.kernel_parameters
    if kernel:
        table = Table(
            "kernel",
            t("table.kernel.caption"),
            headings(t, "table.parameter", "table.value"),
            tuple(cells(name, value) for name, value in kernel),
            sortable=False,
        )
        listed = Details(t("repeat.kernel", count=len(kernel)), (table,))
        yield Unprinted(t("paper.kernel"), (listed,))


def _initdb(kit: Kit) -> Iterator[str]:
    """A line for each server and setting of checksums that Teiten made clusters with."""
    for template in kit.analysis.plan.templates:
        if template.installation.postgres is None:
            continue
        options = initdb_options(template.installation.version, checksums=template.checksums)
        yield f"initdb {shlex.join(options)} -D DATA    # {template.installation.version}"


def _loads(kit: Kit) -> Iterator[str]:
    """The command line of each workload's first trial that counts, as it was run."""
    workloads: set[str] = set()
    for trial in kit.analysis.trials:
        command = trial.facts.get("command")
        if not trial.counts or trial.workload in workloads:
            continue
        if isinstance(command, str) and command:
            workloads.add(trial.workload)
            context = kit.names.context(kit.context_of(trial))
            yield f"{without_place(command)}    # {trial.workload}, {context}"


def without_place(command: str) -> str:
    """A command line without the folders and the socket of the machine that it was run on."""
    words = shlex.split(command)
    kept = [PurePath(words[0]).name]
    skipped = False
    for before, word in itertools.pairwise(words):
        if skipped:
            skipped = False
        elif word in OF_THE_PLACE:
            skipped = True
        elif not word.startswith(LOG):
            kept.append(PurePath(word).name if before == "-f" else word)  # a script
    return shlex.join(kept)
