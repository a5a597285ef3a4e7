"""kill -9 at any moment of what is made of a finished campaign: a site, a PDF.

What an earlier call has made stays whole, nothing half-made stands under a name that is read, and
the next call makes all that is missing.
"""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from xml.etree import ElementTree as XmlTree

from benchmarks.robustness.campaigns import NAME, PATIENCE, Small
from benchmarks.robustness.kills import Breaks

AFRESH = 0.3
"""Of the calls, those that find nothing of an earlier one."""


@dataclass(frozen=True)
class Product:
    """What a verb makes of campaigns."""

    words: tuple[str, ...]
    """Of the command line; ``{to}`` is what it writes."""
    ending: str


PRODUCTS = {
    "site": Product(("site", "--to", "{to}", "--anew"), ""),
    "pdf": Product(("report", NAME, "--format", "pdf", "--to", "{to}"), ".pdf"),
}


def kill_products(count: int, seed: int, server: str | None, kind: str) -> Breaks:
    """Kill ``count`` times."""
    result, random, product = Breaks(f"kills of {kind}"), Random(seed), PRODUCTS[kind]
    with Small.for_a_while(server) as small, suppress(KeyboardInterrupt):
        code, output = small.call(*small.next_words())
        if code != 0:
            result.findings.append(f"the campaign: exit code {code}: {output[-300:]}")
            return result
        made = small.root.parent / "made" / f"product{product.ending}"
        made.parent.mkdir()
        words = [word.format(to=made) for word in product.words]
        begun = time.monotonic()
        _call(small, words, result)
        seconds, names = time.monotonic() - begun, set(_names(made.parent))
        while result.count < count:
            if random.random() < AFRESH:
                _remove(made)
            process = small.start(*words, verbose=False)
            with suppress(Exception):
                process.wait(random.uniform(0.0, 1.2 * seconds))
            result.count += process.returncode is None
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
            result.codes[process.returncode] += 1
            result.findings += (f"kill {result.count}: {broken}" for broken in _broken(made))
            if random.random() < AFRESH:
                _call(small, words, result)
                result.findings += _other_names(names, set(_names(made.parent)), result.count)
        _call(small, words, result)
        result.findings += _other_names(names, set(_names(made.parent)), result.count)
        result.findings += small.leftovers()
    return result


def _call(small: Small, words: list[str], result: Breaks) -> None:
    code, output = small.call(*words)
    result.campaigns += code == 0
    if code != 0:
        result.findings.append(f"after kill {result.count}: exit code {code}: {output[-300:]}")


def _names(folder: Path) -> Iterator[str]:
    yield from (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _other_names(names: set[str], now: set[str], count: int) -> Iterator[str]:
    if names - now:
        yield f"after kill {count}: missing {sorted(names - now)[:5]}"
    if now - names:
        yield f"after kill {count}: left {sorted(now - names)[:5]}"


def _remove(made: Path) -> None:
    shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)


def _is_pdf(content: bytes) -> bool:
    return content.startswith(b"%PDF-") and content.rstrip().endswith(b"%%EOF")


def _is_page(content: bytes) -> bool:
    return content.rstrip().endswith(b"</html>")


def _is_json(content: bytes) -> bool:
    json.loads(content)
    return True


def _is_xml(content: bytes) -> bool:
    XmlTree.fromstring(content)
    return True


WHOLE: dict[str, Callable[[bytes], bool]] = {
    ".pdf": _is_pdf,
    ".html": _is_page,
    ".json": _is_json,
    ".xml": _is_xml,
    ".svg": _is_xml,
}


def _broken(made: Path) -> Iterator[str]:
    """Files that are read by their names, and are not whole."""
    files = made.rglob("*") if made.is_dir() else [made]
    for path in files:
        check = WHOLE.get(path.suffix)
        if check is None or not path.is_file():
            continue
        try:
            whole = check(path.read_bytes())
        except (ValueError, XmlTree.ParseError):
            whole = False
        if not whole:
            yield f"half of {path.name}: {path.stat().st_size} bytes"
