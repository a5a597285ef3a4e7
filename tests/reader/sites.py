"""Where servers and load were: attached servers, and the provisional run that chose the clients."""

from __future__ import annotations

from tests.reader.document import Part
from tests.reader.language import Book, Groups
from tests.reader.reader import Reader

BOOK = Book(__name__)


@BOOK.says()
def attached_step(reader: Reader, groups: Groups, _part: Part) -> None:
    levels = [level for level, one in reader.campaign.plan.servers if one.attached is not None]
    reader.equal(groups["servers"], reader.separator.join(levels), "the attached servers")


@BOOK.says()
def all_attached(reader: Reader, groups: Groups, _part: Part) -> None:
    listed(reader, groups, every=True)


@BOOK.says()
def some_attached(reader: Reader, groups: Groups, _part: Part) -> None:
    listed(reader, groups, every=False)


def listed(reader: Reader, groups: Groups, *, every: bool) -> None:
    """The attached servers and their addresses."""
    servers = reader.campaign.plan.servers
    known = [(level, one.attached) for level, one in servers if one.attached is not None]
    reader.that((len(known) == len(servers)) == every, "all of them, or some")
    stop = ". " if reader.language == "en" else "。"
    expected = "".join(f"{level}: {one.address}{stop}" for level, one in known).rstrip()
    reader.equal(groups["listed"], expected, "the attached servers")


@BOOK.says()
def saturated(reader: Reader, groups: Groups, _part: Part) -> None:
    provisional(reader, groups, reached=True)


@BOOK.says()
def not_saturated(reader: Reader, groups: Groups, _part: Part) -> None:
    provisional(reader, groups, reached=False)


def provisional(reader: Reader, groups: Groups, *, reached: bool) -> None:
    """As its event was recorded."""
    workload = reader.workload_of(groups["workload"])
    for event in reader.campaign.events:
        if event.kind != "saturation" or event.detail["workload"] != workload:
            continue
        found = event.detail
        reader.that(found["reached"] == reached, "saturated, or not")
        reader.same(groups["delta"], found["delta"] * 100, "δ")
        reader.equal(groups["clients"], found["clients"], "the clients")
        reader.equal(groups["ledger"], found["provisional"], "the ledger")
        levels = reader.separator.join(map(str, found["levels"]))
        reader.equal(groups["levels"], levels, "the levels")
        said = groups["probes"].split(reader.separator)
        for text, probe in zip(said, found["probes"], strict=True):
            clients, tps = text.split(": ")
            reader.equal(clients, probe["clients"], "the clients of a probe")
            if probe["tps"] is None:
                reader.equal(tps, "—", "no TPS")
            else:
                reader.same(tps, probe["tps"], "the TPS of a probe")
        return
    reader.that(False, "there was none")
