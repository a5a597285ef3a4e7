"""How checks of curves are told: what each ratio compares."""

from __future__ import annotations

from teiten.analysis.model.claims import Check, CheckKind, ClaimWords


def _contrast(check: Check, words: ClaimWords) -> str:
    old, *_, new = (words.side(side) for side in check.sides)
    if len(check.at) == 1:
        return words.plural("claim.contrast", round(check.at[0]), old=old, new=new)
    levels = words("list.separator").join(words.number(one) for one in check.at)
    return words("claim.contrast-mean", old=old, new=new, levels=levels)


def _levels(check: Check, words: ClaimWords) -> str:
    first, second = (words.number(one) for one in check.at)
    return words("claim.levels", side=words.side(check.sides[0]), first=first, second=second)


def _line(check: Check, words: ClaimWords) -> str:
    first, middle, last = (words.number(one) for one in check.at)
    side = words.side(check.sides[0])
    return words("claim.line", side=side, first=first, middle=middle, last=last)


CONTRAST = CheckKind("contrast", _contrast, of_sides=True)
"""New and old, at the levels named."""
LEVELS = CheckKind("levels", _levels)
"""The second level and the first."""
LINE = CheckKind("line", _line)
"""The middle level and the straight line through the others."""
