"""The flags of verbs that plan: each said once, as an option and as words that repeat it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import click

from teiten.errors import UsageError


@dataclass(frozen=True)
class Flag:
    """A flag, and the field in which its value is kept."""

    name: str
    """``--set``"""
    field: str
    """``overrides``"""
    help: str
    metavar: str | None = None
    """None for a switch."""
    many: bool = False
    """It may be given several times; the field is a tuple."""
    type: Any = None
    """click's, or Python's."""
    check: Callable[..., Any] | None = None
    complete: Callable[..., list[str]] | None = None
    """The function that lists the values a shell offers."""
    repeats: bool = True
    """False for what a command line that repeats a campaign leaves out."""

    def of(self, **changes: Any) -> Flag:
        """Copy the flag with the changes of a verb."""
        return replace(self, **changes)

    def option(self, function: Any) -> Any:
        """Give a command this option."""
        if self.metavar is None:
            return click.option(self.name, self.field, is_flag=True, help=self.help)(function)
        return click.option(
            self.name,
            self.field,
            metavar=self.metavar,
            multiple=self.many,
            type=self.type,
            callback=self.check,
            shell_complete=self.complete,
            help=self.help,
        )(function)

    def words(self, value: Any) -> Iterator[str]:
        """The words of a command line that gives this value again; none for what is not given."""
        if not self.repeats or value is None or value is False:
            return
        if self.metavar is None:
            yield self.name
            return
        for one in value if isinstance(value, tuple | list) else (value,):
            yield from (self.name, str(one))


class FormerOption(click.Option):
    """The name that an option once had."""

    today = ""
    """Its name now."""


def renamed(former: str, name: str) -> Callable[[Any], Any]:
    """An option that is no more: whoever still gives it reads its name of today."""

    def refuse(_: click.Context, __: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise UsageError(f"{former} is named {name} now", f"give {name} {value}")

    of_today = type("FormerOption", (FormerOption,), {"today": name})
    # a name of its own: the option of today may have the former one's, and would be taken for it
    own = f"former_{former.strip('-').replace('-', '_')}"
    hidden = {"hidden": True, "expose_value": False, "callback": refuse}
    return click.option(former, own, cls=of_today, **hidden)


def with_flags(flags: Iterable[Flag], function: Any) -> Any:
    """Give a command these options, in this order."""
    for flag in reversed(tuple(flags)):
        function = flag.option(function)
    return function


def repeating(flags: Iterable[Flag], given: Callable[[str], Any]) -> list[str]:
    """The words that give all flags again. ``given``: the value of a field."""
    return [word for flag in flags for word in flag.words(given(flag.field))]
