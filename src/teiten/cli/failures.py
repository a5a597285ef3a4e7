"""How a failure is told: ``error:`` and ``hint:`` on stderr, and the exit code of CLI.md.

Exit code 1 is for defects of Teiten. What the machine refused is told as that, wherever it came up
(``causes``, ``ledger.failures``).
"""

from __future__ import annotations

import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from teiten import __version__
from teiten.cli.parameters import FormerOption
from teiten.cli.text.layout import plain, write_fitting
from teiten.errors import MachineError, ServerError, TeitenError
from teiten.host.system.causes import machine_error
from teiten.host.system.signals import Interrupted
from teiten.secrets import hidden

INTERRUPTED = 130
EXTRA = {"null": "null measures one server against itself; two are compared by: teiten ab A B"}
"""By verb what to do with more arguments than it takes."""
UNITS = {
    **dict.fromkeys(("s", "sec", "seconds"), "30s"),
    **dict.fromkeys(("m", "min", "minutes"), "30m"),
    **dict.fromkeys(("h", "hours"), "2h"),
    **dict.fromkeys(("kB", "MB", "GB", "TB", "MiB", "GiB"), "4GB"),
    "%": "2%",
}
"""Units that are given as words of their own, and how a value is written with them."""
_NO_LIBRARY = re.compile(r"(lib\S+\.so\S*): cannot open shared object file")
LISTS = ("--servers", "--workloads", "--clients", "--queries")
"""Options whose value is a list."""


def report_failure(error: BaseException) -> int:
    """Say what went wrong and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        if isinstance(error, click.exceptions.NoArgsIsHelpError):  # it is the help, and no error
            sys.stderr.write(f"{error.format_message()}\n")
        else:
            error = _by_names_of_today(error)
            say(error.format_message(), _usage_hint(error))
        return 2
    if isinstance(error, click.Abort | KeyboardInterrupt) or _was_interrupted(error):
        sys.stderr.write(_interruption(error))
        return INTERRUPTED
    known = error if isinstance(error, TeitenError) else of_machine(error)
    if known is None:
        return _report_defect(error)
    say(known.message, known.hint)
    return known.exit_code


def of_machine(error: BaseException) -> MachineError | None:
    """Describe as a MachineError what the machine refused; None for what is a defect of Teiten."""
    if isinstance(error, MemoryError):
        error = OSError(12, "out of memory")  # ENOMEM, the same on all systems
    if isinstance(error, OSError):
        return machine_error(error)
    library = _NO_LIBRARY.search(str(error)) if isinstance(error, ImportError) else None
    if library is not None:  # Ubuntu's smallest systems have none for C++
        return MachineError(
            f"a library of the system is missing: {library[1]}",
            "Debian and Ubuntu: sudo apt-get install libstdc++6",
        )
    sqlite3 = sys.modules.get("sqlite3")  # where it is not loaded, it has raised nothing
    if sqlite3 is not None and isinstance(error, sqlite3.Error):
        from teiten.ledger.failures import of_sqlite

        return of_sqlite(error)
    psycopg = sys.modules.get("psycopg")  # the same; of a server, where nobody expected it
    if psycopg is not None and isinstance(error, psycopg.OperationalError):
        text = "; ".join(line.strip() for line in str(error).strip().splitlines())
        return ServerError(
            f"a server could not go on: {text or type(error).__name__}",
            "see the server's log, its memory and its disk; then repeat, or teiten resume",
        )
    return None


def say(message: str, hint: str | None) -> None:
    """An error on stderr, without passwords and without anything that steers a terminal."""
    for label, text in (("error", message), ("hint", hint)):
        if text:
            write_fitting(sys.stderr, f"{label}: {hidden(text)}".removesuffix("\n"))


def _interruption(error: BaseException) -> str:
    """Click wraps what it catches."""
    for cause in with_causes(error):
        if isinstance(cause, Interrupted) and cause.signal != signal.SIGINT:
            return f"interrupted by {cause.signal.name}\n"
    return "interrupted\n"


def _was_interrupted(error: BaseException) -> bool:
    """pydantic makes an error of its own of what comes while it builds a validator, and keeps but
    the text of that."""
    return type(error).__name__ == "SchemaError" and f"{Interrupted.__name__}: " in str(error)


def with_causes(error: BaseException) -> Iterator[BaseException]:
    """An error, and what went wrong before it."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _by_names_of_today(error: click.ClickException) -> click.ClickException:
    """An unknown option, with what is suggested instead of it: no option that once was."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    former = {
        name: param.today
        for param in error.ctx.command.params
        if isinstance(param, FormerOption)
        for name in param.opts
    }
    near = () if _key_of_a_study(error) else error.possibilities or ()
    if _plural(error.option_name, error.ctx):
        near = [f"{error.option_name}s"]
    offered = [name for name in near if name not in former]
    message = None
    if near and not offered:
        message = f"No such option {error.option_name!r}. Did you mean {former[near[0]]!r}?"
    return click.NoSuchOption(
        error.option_name, message, possibilities=offered or None, ctx=error.ctx
    )


def _key_of_a_study(error: click.NoSuchOption) -> str | None:
    """The key that an unknown option is named as, of a verb that takes ``--set``."""
    from teiten.study.changes import short_keys

    key = error.option_name.lstrip("-").replace("-", "_")
    if error.ctx is not None and _plural(error.option_name, error.ctx):
        return None
    takes = error.ctx is not None and "--set" in _options(error.ctx)
    return key if takes and key in short_keys() else None


def _plural(option: str, context: click.Context) -> bool:
    """Whether an option was named as one, where it is a list: ``--server``."""
    return f"{option}s" in _options(context)


def _options(context: click.Context) -> set[str]:
    return {name for param in context.command.params for name in param.opts}


def _usage_hint(error: click.ClickException) -> str | None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.NoSuchOption) and (key := _key_of_a_study(error)):
        return f"it is a key of the study: --set {key}=…"
    if context is None:
        return example_of(None)
    return (
        (_missing(error, context) if isinstance(error, click.MissingParameter) else None)
        or _meant(error.format_message(), context)
        or example_of(context.command)
    )


def example_of(command: click.Command | None) -> str:
    """The first example of a verb, from its help; of a verb without any, where they are."""
    first = ((command.epilog if command else None) or "").partition("·")[0]
    words = first.removeprefix("Examples:").strip()
    return f"for example: {words or 'teiten run observe --servers 17,18'}"


def _missing(error: click.MissingParameter, context: click.Context) -> str | None:
    """Name the file that is not there beside a missing argument, or suggest a space between
    arguments that were given as one word with commas."""
    given = [value for value in context.params.values() if isinstance(value, str)]
    for value in given:
        if value.endswith(".sqlite") and not Path(value).is_file():
            return f"there is no file {value!r}; {example_of(context.command)}"
    listed = [value for value in given if "," in value]
    if not isinstance(error.param, click.Argument) or len(listed) != 1:
        return None
    words = [word for word in listed[0].split(",") if word]
    if len(words) < 2:
        return None
    return f"separate them by a space: {context.command_path} {shlex.join(words)}"


def _meant(message: str, context: click.Context) -> str | None:
    """Suggest what to type instead, for the mistakes that are made most."""
    if context.parent is None:
        return None
    if "unexpected extra argument" in message:
        lists = [name for name in LISTS if name in _options(context)]
        extra = message.partition("(")[2].rstrip(")").split()
        if context.info_name in EXTRA:
            return EXTRA[context.info_name]
        if extra and extra[0] in UNITS:
            return f"a number and its unit are one word, for example {UNITS[extra[0]]}"
        given = next((name for name in lists if name in sys.argv), None)
        if given and extra:
            before = sys.argv[sys.argv.index(given) + 1]
            return (
                f"the values of {given} are separated by commas: {given} {before},{','.join(extra)}"
            )
    longest_first = sorted(_options(context.find_root()), key=len, reverse=True)
    option = next((name for name in longest_first if f"'{name}'" in message), None)
    if option and "No such option" in message:
        verb = context.info_name
        return f"{option} stands before the verb: teiten {option} … {verb}"
    return None


def _report_defect(error: BaseException) -> int:
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(error))
    what = f"a defect of Teiten: {type(error).__name__}: {error}"
    content = hidden(f"teiten {__version__}\n{' '.join(sys.argv)}\n\n{text}")
    try:
        with tempfile.NamedTemporaryFile(
            prefix="teiten-defect-", suffix=".log", delete=False
        ) as log:
            log.write(content.encode(errors="backslashreplace"))
    except OSError:  # no room for the log: then the account goes where people see it
        sys.stderr.write(plain(hidden(text)))
        say(what, "please report it with the lines above")
    else:
        say(what, f"please report it with the file {log.name}")
    return 1
