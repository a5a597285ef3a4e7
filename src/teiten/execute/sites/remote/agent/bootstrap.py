# mypy: ignore-errors
# The first line that is sent to the Python on a host, as a repr. It is never imported, and has to
# be understood by every Python 3: it says so where that is too old, and else takes Teiten's modules
# from standard input, in memory alone.
import sys

OLDEST = (3, 9)  # replaced by what is asked for
stdin = getattr(sys.stdin, "buffer", sys.stdin)

if sys.version_info[:2] < OLDEST:
    sys.stdout.write("teiten-agent python %d.%d\n" % sys.version_info[:2])  # noqa: UP031
    sys.stdout.flush()
    sys.exit(0)

import dataclasses  # noqa: E402
import datetime  # noqa: E402
import enum  # noqa: E402
import importlib.abc  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402

if not hasattr(enum, "StrEnum"):  # 3.11

    class StrEnum(str, enum.Enum):  # noqa: UP042
        __str__ = str.__str__
        __format__ = str.__format__

    enum.StrEnum = StrEnum
    datetime.UTC = datetime.timezone.utc  # noqa: UP017

if sys.version_info < (3, 10):  # noqa: UP036 - hosts may have it
    import builtins

    def zip_loosely(*parts, strict=False, plain=zip):  # noqa: ARG001
        return plain(*parts)

    builtins.zip = zip_loosely

    def dataclass_of_names(cls=None, *, kw_only=False, plain=dataclasses.dataclass, **given):
        def made(cls):
            if kw_only:  # each is given by its name, so that none may lack a default here
                for name in cls.__dict__.get("__annotations__", {}):  # noqa: RUF063
                    if not hasattr(cls, name):
                        setattr(cls, name, None)
            return plain(cls, **given)

        return made if cls is None else made(cls)

    dataclasses.dataclass = dataclass_of_names

sources = json.loads(stdin.readline())


class Sent(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports what was sent."""

    def find_spec(self, name, path=None, target=None):  # noqa: ARG002
        if name not in sources:
            return None
        return importlib.util.spec_from_loader(name, self, is_package=sources[name][0])

    def is_package(self, name):
        return sources[name][0]

    def get_source(self, name):
        return sources[name][1]


sys.meta_path.insert(0, Sent())
from teiten.execute.sites.remote.agent.serve import main  # noqa: E402

main(stdin)
