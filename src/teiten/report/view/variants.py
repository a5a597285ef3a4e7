"""What the machine and the servers said of a study's variants, for the evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from teiten.report.names import CORES
from teiten.report.numbers import bytes_text
from teiten.report.view.kit import Kit

CHECKSUMS = "checksums"
Rows = Iterator[tuple[str, str]]


def variant_rows(kit: Kit) -> Rows:
    """Rows of the environment's table; none where the study varies nothing of this kind."""
    yield from _pinning(kit)
    yield from _checksums(kit)
    for one in kit.analysis.facts.directories:
        disk = one.disk
        yield (
            kit.t("fact.directory"),
            kit.t(
                "fact.directory.text",
                path=one.path,
                file_system=disk.file_system,
                device=disk.device,
                kind=disk.kind,
                mount_point=disk.mount_point,
                free=bytes_text(disk.free),
            ),
        )


def _pinning(kit: Kit) -> Rows:
    """The processors of each number of cores, as /proc told them in the trials."""
    t = kit.t
    pinned = [one.facts["pinned"] for one in kit.analysis.trials if "pinned" in one.facts]
    found = {
        (tuple(one["server"]), tuple(one["pgbench"]))
        for one in pinned
        if {"server", "pgbench"} <= one.keys()
    }
    said = [
        t(
            "fact.pinning.text",
            cores=kit.names.context(((CORES, str(len(server))),)),
            server=_listed(server),
            client=_listed(client),
        )
        for server, client in sorted(found, key=lambda one: (len(one[0]), one))
    ]
    if said:
        yield t("fact.pinning"), t("list.strong").join([*said, t("fact.pinning.note")])


def _checksums(kit: Kit) -> Rows:
    t = kit.t
    if kit.study.factor(CHECKSUMS) is None:
        return
    found = Counter(
        (dict(one.levels)[CHECKSUMS], str(one.facts["data_checksums"]))
        for one in kit.analysis.trials
        if CHECKSUMS in dict(one.levels) and "data_checksums" in one.facts
    )
    said = [
        t("fact.checksums.text", asked=asked, said=answer, count=count)
        for (asked, answer), count in sorted(found.items())
    ]
    if said:
        yield t("fact.checksums"), t("list.strong").join(said)


def _listed(cpus: Iterable[int]) -> str:
    """Numbers as the kernel lists them: ``0-3,8``."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and runs[-1][-1] == cpu - 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
