"""A report in two parts: a body that is read, and an appendix that is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from teiten.report.blocks import Block, Details, Further, Heading, OnPage, Section
from teiten.report.texts import Texts

NAME = "{name}-further"
"""The id of the part of the appendix that is of a section of the body."""


def parted(t: Texts, sections: Iterable[Section]) -> tuple[Section, ...]:
    """The body, and then the appendix: what sections hold as ``Further``, and those that are of the
    appendix as a whole. None is without blocks."""
    parts = [_parts(t, section) for section in sections]
    body = [section for section, _ in parts if not section.appendix]
    whole = [section for section, _ in parts if section.appendix]
    further = [section for _, section in parts]
    return tuple(section for section in (*body, *further, *whole) if section.blocks)


def _parts(t: Texts, section: Section) -> tuple[Section, Section]:
    parting = _Parting()
    for block in section.blocks:
        parting.take(block)
    name, title = NAME.format(name=section.name), t("section.further", title=section.title)
    body = _without_bare_headings(parting.body) if parting.further else parting.body
    return replace(section, blocks=tuple(body)), Section(
        name, title, tuple(parting.further), True, True
    )


@dataclass
class _Parting:
    """Blocks of a section so far."""

    body: list[Block] = field(default_factory=list)
    further: list[Block] = field(default_factory=list)
    above: list[Heading] = field(default_factory=list)
    """The headings that the next block stands below, which the appendix does not have yet."""
    below: list[Heading] = field(default_factory=list)
    """Those below which the appendix is."""

    def take(self, block: Block) -> None:
        if isinstance(block, Heading):
            self.above = [head for head in self.above if head.level < block.level] + [block]
        if isinstance(block, Further):
            self._append(tuple(unfolded(block.blocks)))
        else:
            self.body += unfolded((block,))

    def _append(self, blocks: tuple[Block, ...]) -> None:
        first = blocks[0] if blocks else None
        level = first.level if isinstance(first, Heading) else 9
        heads = [head for head in self.above if head.level < level] if blocks else []
        self.further += [replace(head, name="") for head in heads if head not in self.below]
        self.below = heads
        self.further += blocks


def unfolded(blocks: Iterable[Block]) -> Iterator[Block]:
    """Blocks in which none is ``Further``: within the appendix, and within what a page folds, there
    is no other."""
    for block in blocks:
        if isinstance(block, Further):
            yield from unfolded(block.blocks)
        elif isinstance(block, Details | OnPage):
            yield replace(block, blocks=tuple(unfolded(block.blocks)))
        else:
            yield block


def _without_bare_headings(blocks: list[Block]) -> Iterator[Block]:
    """Without those headings below which the appendix has everything."""
    for at, block in enumerate(blocks):
        after = blocks[at + 1] if at + 1 < len(blocks) else None
        ends = after is None or (
            isinstance(after, Heading) and isinstance(block, Heading) and after.level <= block.level
        )
        if not (isinstance(block, Heading) and ends):
            yield block
