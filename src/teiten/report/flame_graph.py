"""Flame graphs as SVG: drawn here, so that one drawing serves page, print and Markdown.

Widths and positions are per cent of the drawing, so that it fits any page; the page's script zooms
and searches by changing them. A frame's colour says what it is (program, kernel, without a name),
or, in a difference, whether it takes more or less than before. Nothing is coloured for decoration.
Form: Gregg, The Flame Graph, CACM 59(6), 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from teiten.model.stacks import FRAMES, KERNEL
from teiten.report.charts.base import FONT

ROW = 18
"""Pixels of a frame's height."""
NARROWEST = 0.001
"""Share of the whole width: a narrower frame is left out, with what it calls."""
WIDTH = 960
"""Pixels of a drawing that stands alone."""
MORE, LESS = "#d55e00", "#3d7ab8"
"""Differ for colour-blind readers (Okabe and Ito 2008); the sign stands in the text, too."""
COLOURS = {"program": "#e07b1f", "kernel": "#009e73", "unnamed": "#9aa3ad"}
FAINTEST, STRONGEST = 0.1, 0.85
WORDLESS = 0.015
"""Share of the whole width: a narrower frame shows no text until it is zoomed to."""
STANDING_ALONE = "text{fill:#1d2329}.frame rect{stroke:#fff}.narrow text{display:none}"
"""On white, as every picture in a text."""


@dataclass
class Frame:
    """A function called from one place: CPU seconds per transaction of both sides."""

    name: str
    old: float = 0.0
    new: float = 0.0
    called: dict[str, Frame] = field(default_factory=dict)


@dataclass(frozen=True)
class PlacedFrame:
    """A frame on the drawing; ``left`` and ``width`` are shares of the whole."""

    frame: Frame
    depth: int
    left: float
    width: float


Words = Callable[[Frame], tuple[str, str]]
"""Text that stands on a frame, and text that is shown on hover."""
Colour = Callable[[Frame], tuple[str, float]]
"""A frame's colour and its opacity."""


def tree(old: Mapping[str, float], new: Mapping[str, float]) -> Frame:
    """Folded stacks of two sides as one tree; ``new`` may be empty."""
    root = Frame("")
    for side, stacks in (("old", old), ("new", new)):
        for stack, cost in stacks.items():
            _add(root, side, cost)
            at = root
            for name in stack.split(FRAMES):
                at = at.called.setdefault(name, Frame(name))
                _add(at, side, cost)
    return root


def _add(frame: Frame, side: str, cost: float) -> None:
    setattr(frame, side, getattr(frame, side) + cost)


def placed(root: Frame) -> Iterator[PlacedFrame]:
    """Every frame wide enough to be seen; siblings by name, so that two graphs can be compared.

    A frame is as wide as both sides together: one that only one side has keeps its place.
    """
    whole = root.old + root.new
    if whole <= 0:
        return
    waiting = [PlacedFrame(root, 0, 0.0, 1.0)]
    while waiting:
        frame = waiting.pop()
        yield frame
        left = frame.left
        for name in sorted(frame.frame.called):
            child = frame.frame.called[name]
            width = (child.old + child.new) / whole
            if width >= NARROWEST:
                waiting.append(PlacedFrame(child, frame.depth + 1, left, width))
            left += width


def flame_graph(root: Frame, title: str, words: Words, *, alone: bool = False) -> Markup:
    """One side, coloured by what a frame is."""
    return _drawing(root, title, words, lambda frame: (COLOURS[kind_of(frame.name)], 0.38), alone)


def difference(root: Frame, title: str, words: Words, *, alone: bool = False) -> Markup:
    """Two sides: more in the new one is vermilion, less is blue, the stronger the more."""
    most = greatest_difference(root) or 1.0

    def colour(frame: Frame) -> tuple[str, float]:
        change = frame.new - frame.old
        strength = FAINTEST + (STRONGEST - FAINTEST) * abs(change) / most
        return (MORE if change > 0 else LESS), strength

    return _drawing(root, title, words, colour, alone)


def greatest_difference(root: Frame) -> float:
    """CPU seconds per transaction that the strongest colour of ``difference`` stands for."""
    return max((abs(frame.frame.new - frame.frame.old) for frame in placed(root)), default=0.0)


def kind_of(name: str) -> str:
    """kernel, unnamed (a file's name in brackets), or program."""
    if name.endswith(KERNEL):
        return "kernel"
    return "unnamed" if name.startswith("[") else "program"


def _drawing(root: Frame, title: str, words: Words, colour: Colour, alone: bool) -> Markup:
    frames = sorted(placed(root), key=lambda frame: (frame.depth, frame.left))
    rows = 1 + max((frame.depth for frame in frames), default=0)
    height = rows * ROW
    size = Markup('width="{}"').format(WIDTH if alone else "100%")
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="flame-graph" role="img" {} height="{}"'
        ' font-family="{}" font-size="11.5" aria-label="{}">'
    ).format(size, height, FONT, title)
    if alone:
        head += Markup("<style>" + STANDING_ALONE + "</style>")  # noqa: S704 - constant
        head += Markup('<rect width="100%" height="100%" fill="white"/>')
    drawn = [_frame(frame, height, words, colour) for frame in frames]
    return head + Markup("").join(drawn) + Markup("</svg>")


def _frame(frame: PlacedFrame, height: int, words: Words, colour: Colour) -> Markup:
    """A box of its own, which clips its text; the outermost function stands at the foot."""
    label, hint = words(frame.frame)
    fill, strength = colour(frame.frame)
    return Markup(
        '<svg class="frame{}" x="{:.4f}%" y="{}" width="{:.4f}%" height="{}" data-depth="{}"'
        ' data-name="{}"><title>{}</title>'
        '<rect width="100%" height="100%" fill="{}" fill-opacity="{:.3f}"/>'
        '<text x="3" y="13">{}</text></svg>'
    ).format(
        " narrow" if frame.width < WORDLESS else "",
        frame.left * 100,
        height - (frame.depth + 1) * ROW,
        frame.width * 100,
        ROW,
        frame.depth,
        frame.frame.name,
        hint,
        fill,
        strength,
        label,
    )
