"""``teiten bisect``: which commit of PostgreSQL changed the speed."""

from __future__ import annotations

import hashlib
import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import click

from teiten.analysis.across.bisection import comparisons
from teiten.cli.bisect.search import BisectRecord, Request, Search
from teiten.cli.bisect.text import answer, json_search, search_lines
from teiten.cli.campaign.begin import prepare
from teiten.cli.main import Session
from teiten.cli.parameters import BUILD, json_option, read_value, renamed, repeating, with_flags
from teiten.cli.plan.builds import SHORT, spec_of
from teiten.cli.plan.options import ALPHA, BUDGET, DELTA, GUC, NAME, SET
from teiten.cli.plan.two_sides import (
    CLIENTS,
    DURATION,
    SCRIPT,
    WAY,
    SharedOptions,
    refuse_several_workloads,
)
from teiten.errors import InterruptedCampaignError, UsageError
from teiten.execute.bisect import BisectRepository
from teiten.execute.postgres.building.sources import commit_of
from teiten.given_paths import expanded
from teiten.host.facts.machine import read_host_facts
from teiten.study import values
from teiten.study.sides import SideFlags, ab_study

EXAMPLES = (
    "Examples:  teiten bisect --good REL_17_0 --bad master --source ~/postgresql --script read"
    "  ·  teiten bisect --good HEAD~9 --bad HEAD --source . --script q.sql --delta 3% --budget 6h"
)
DEFAULT_DELTA = "2%"
DEFAULT_ALPHA = "5%"
MINUTES_EACH = 20
"""Minutes of each expected comparison, where no budget is given."""


FLAGS = (
    SCRIPT,
    DELTA.of(
        help="The difference that makes a commit bad; by default half of that between the two ends."
    ),
    ALPHA.of(help="How often the search may be wrong (default 5%)."),
    BUDGET.of(
        help=f"What all comparisons may take; by default {MINUTES_EACH} min for each. Without"
        " builds."
    ),
    CLIENTS,
    DURATION.of(help="Measured time of a trial; else derived."),
    *BUILD,
    *(flag.of(help="As in teiten ab.") for flag in (WAY, SET, GUC)),
    NAME.of(help="Name of the search."),
)


@click.command("bisect", epilog=EXAMPLES)
@click.option("--good", required=True, metavar="REF", help="The older commit, still good.")
@click.option("--bad", required=True, metavar="REF", help="The newer commit, changed.")
@click.option("--source", required=True, metavar="GIT_CHECKOUT", help="A clone of PostgreSQL.")
@partial(with_flags, FLAGS)
@renamed("--workload", SCRIPT.name)
@json_option("what was found")
@click.pass_obj
def command(session: Session, /, **given: Any) -> None:
    """Which commit between --good and --bad changed the speed, and by how much?

    Builds the commits that git bisect names, and compares each with the good one in pairs until it
    is decided. What does not build is skipped. Nothing is guessed: where the budget is spent before
    a comparison is decided, the commits that are left are named. The checkout is not changed.

    After Ctrl-C, a crash or a reboot the same command continues the search.
    """
    prepare(session, None)
    checkout = expanded(given["source"]).absolute()
    good, bad = (commit_of(checkout, given[end]) for end in ("good", "bad"))
    if good == bad:
        raise UsageError(f"--good and --bad are one commit, {good[:SHORT]}", "name two")
    clients = given["clients"] or str(read_host_facts(session.workdir.root).cpu.logical)
    request_values = _request_values(given, checkout, good, bad, clients)
    options = _options(given, request_values)
    refuse_several_workloads(
        ab_study(SideFlags("a", good[:SHORT]), SideFlags("b", bad[:SHORT]), options),
        "teiten bisect",
        "search with the one that became slower, as --script; teiten gate tells which",
    )
    name = given["name"]
    if name is None:
        digest = hashlib.sha256(json.dumps(request_values, sort_keys=True).encode()).hexdigest()
        name = f"bisect-{digest[:8]}"
    folder = session.workdir.bisects / name
    repository = BisectRepository(folder / "repository.git", checkout)
    commits = repository.range(good, bad)
    search = Search(
        session,
        _request(given, name, request_values, options, comparisons(len(commits))),
        repository,
        BisectRecord(folder, request_values),
        commits,
    )
    again = search.request.command
    many = f"{len(commits)} commit{'s' * (len(commits) != 1)}"
    session.console.say(f"search {name}: {many}, about {comparisons(len(commits))} comparisons")
    try:
        search.run()
    except (KeyboardInterrupt, InterruptedCampaignError) as error:
        raise InterruptedCampaignError(
            f"the search {name} was interrupted; what is known is kept", f"continue it: {again}"
        ) from error
    session.console.say(*search_lines(search))
    if given["as_json"]:
        session.console.json(json_search(name, search))
    else:
        session.console.text(answer(search))


def _request_values(
    given: dict[str, Any], checkout: Path, good: str, bad: str, clients: str
) -> dict[str, Any]:
    """All that makes two searches the same; a longer budget continues a search."""
    script = given["script"]
    if script is not None and Path(script).is_file():
        script = str(Path(script).absolute())
    keys = ("delta", "alpha", "duration", "cflags", "meson")
    lists = ("configure", "overrides", "gucs")
    return {
        "good": good,
        "bad": bad,
        "source": str(checkout),
        "script": script,
        "clients": clients,
        **{key: given[key] for key in keys},
        **({"way": given["way"]} if given["way"] is not None else {}),
        **{key: list(given[key]) for key in lists},
    }


def _options(given: dict[str, Any], asked: dict[str, Any]) -> SharedOptions:
    return SharedOptions(
        seed=0,
        script=asked["script"],
        clients=asked["clients"],
        **{key: given[key] for key in ("duration", "way", "overrides", "gucs")},
    )


def _request(
    given: dict[str, Any], name: str, asked: dict[str, Any], options: SharedOptions, count: int
) -> Request:
    budget = given["budget"] or f"{MINUTES_EACH * count}m"
    return Request(
        name=name,
        good=asked["good"],
        bad=asked["bad"],
        spec=spec_of(asked["source"], asked["configure"], asked["cflags"], meson=asked["meson"]),
        options=options,
        delta=None
        if asked["delta"] is None
        else read_value("--delta", asked["delta"], values.delta, DEFAULT_DELTA),
        least_delta=values.delta(DEFAULT_DELTA),
        alpha=read_value("--alpha", asked["alpha"] or DEFAULT_ALPHA, values.alpha, DEFAULT_ALPHA),
        budget=read_value("--budget", budget, values.budget, "4h"),
        command=_command(given, name),
        jobs=given["jobs"],
    )


def _command(given: dict[str, Any], name: str) -> str:
    """The command line that continues the search."""
    commits = [word for key in ("good", "bad", "source") for word in (f"--{key}", given[key])]
    words = [*commits, *repeating(FLAGS, given.__getitem__), "--name", name]
    return shlex.join(["teiten", "bisect", *words])
