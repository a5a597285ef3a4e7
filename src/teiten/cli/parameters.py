"""Parameters of verbs, each stated once: types, options that several verbs have, and the flags of
verbs that plan, as options and as words that repeat them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from teiten.errors import UsageError
from teiten.model.text import Language

Command = TypeVar("Command", bound=Callable[..., Any])
Value = TypeVar("Value")

LANGUAGES: tuple[Language, ...] = ("en", "ja")


class GivenPath(click.Path):
    """A path. An empty one, as an unset variable of a shell gives it, is refused: pathlib takes it
    for the working folder."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("the path is empty (. is the working folder)", param, ctx)
        return super().convert(value, param, ctx)


class Forms(click.Choice[str]):
    """Forms of a report; ``md`` is markdown wherever that is one of them."""

    def __init__(self, *forms: str) -> None:
        spelled = (("markdown", "md") if form == "markdown" else (form,) for form in forms)
        super().__init__([name for names in spelled for name in names])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The form's own name."""
        form = super().convert(value, param, ctx)
        return "markdown" if form == "md" else form


FORMS = {
    "html": "One HTML file that works offline",
    "markdown": "a folder of Markdown with charts as SVG",
    "pdf": "a PDF (with the extra teiten[pdf])",
}


def form_option(
    *forms: str, others: Iterable[str] = (), about: str = ""
) -> Callable[[Command], Command]:
    """The option of a verb that writes a report in one of ``forms``, or of ``others``, which
    ``about`` describes."""
    *first, last = (FORMS[form] for form in forms)
    return click.option(
        "--format",
        "form",
        type=Forms(*forms, *others),
        default="html",
        show_default=True,
        help=f"{', '.join(first)}, or {last}.{about}",
    )


def json_option(what: str) -> Callable[[Command], Command]:
    """The option of a verb that prints ``what`` as JSON instead of words."""

    def note(context: click.Context, _: click.Parameter, value: bool) -> bool:
        if context.obj is not None:
            context.obj.console.for_programs = value
        return value

    help_text = f"Print {what} as JSON."
    return click.option("--json", "as_json", is_flag=True, callback=note, help=help_text)


language_option = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default="en",
    show_default=True,
    help="Language.",
)


def languages_option(what: str, default: str = "one in each") -> Callable[[Command], Command]:
    """The option of a verb that writes ``what`` in every language unless told otherwise."""
    return click.option(
        "--lang",
        "language",
        type=click.Choice(LANGUAGES),
        help=f"Language of the {what} (default: {default}).",
    )


def folder_option(text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """The option of a verb that writes a folder, with its help."""
    folder = GivenPath(path_type=Path, file_okay=False)
    return click.option("--to", "target", type=folder, required=required, help=text)


def read_value(flag: str, text: str, read: Callable[[str], Value], example: str) -> Value:
    """Read a value of a flag. Raises UsageError with ``example`` where it cannot be read."""
    try:
        return read(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}", f"for example {flag} {example}") from error


@dataclass(frozen=True)
class Flag:
    """A flag, and the field in which its value is kept."""

    name: str
    """``--set``"""
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
    key: str | None = None
    """The key of the study that its value becomes, and by which ``--set`` repeats it."""
    own_field: str = ""
    """``overrides``: where its value is kept, if not under the flag's own name."""

    @property
    def field(self) -> str:
        return self.own_field or self.name.removeprefix("--").replace("-", "_")

    def of(self, **changes: Any) -> Flag:
        """Copy the flag with the changes of a verb."""
        return replace(self, **changes)

    def option(self, function: Any) -> Any:
        """Give a command this option."""
        return click.option(
            self.name,
            self.field,
            is_flag=True if self.metavar is None else None,  # False: a value may be missing
            metavar=self.metavar,
            multiple=self.many,
            type=self.type,
            callback=self.check,
            shell_complete=self.complete,
            help=self.help,
        )(function)

    def words(self, value: Any) -> Iterator[str]:
        """The words of a command line that gives this value again; none for what is not given."""
        if not self.repeats or self.key or value is None or value is False:
            return
        if self.metavar is None:
            yield self.name
            return
        for word in value if isinstance(value, tuple | list) else (value,):
            yield from (self.name, str(word))


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


BUILD = (
    Flag("--configure", "As in teiten pg build.", "OPTIONS", many=True),
    Flag("--cflags", "As in teiten pg build.", "FLAGS"),
    Flag("--meson", "As in teiten pg build."),
    Flag("--jobs", "Compilers at a time.", "N", type=click.IntRange(1, 1024)),
)
"""How servers are built from source."""


def build_options(*texts: str | None) -> Callable[[Command], Command]:
    """Give a verb the options of builds. ``texts``: their help, where the verb has its own; None
    for one that it lacks."""
    helps = texts or [flag.help for flag in BUILD]
    flags = zip(BUILD, helps, strict=True)
    return partial(with_flags, [flag.of(help=text) for flag, text in flags if text is not None])


def with_keys(
    flags: Iterable[Flag], overrides: tuple[str, ...], given: dict[str, Any]
) -> tuple[str, ...]:
    """Add the flags that become keys of the study to what ``--set`` gives; takes them out of
    ``given``."""
    keyed = [(flag.key, given.pop(flag.field)) for flag in flags if flag.key]
    written = ((key, ",".join(v) or None if isinstance(v, tuple) else v) for key, v in keyed)
    return (*overrides, *(f"{key}={value}" for key, value in written if value is not None))


def repeating(flags: Iterable[Flag], given: Callable[[str], Any]) -> list[str]:
    """The words that give all flags again. ``given``: the value of a field."""
    return [word for flag in flags for word in flag.words(given(flag.field))]
