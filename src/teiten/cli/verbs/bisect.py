"""``teiten bisect``: which commit of PostgreSQL changed the speed."""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

import click

from teiten.analysis.across.bisection import comparisons
from teiten.cli.bisect.search import BisectRecord, Request, Search
from teiten.cli.bisect.text import answer, json_search, search_lines
from teiten.cli.campaign.begin import prepare
from teiten.cli.main import Session
from teiten.cli.parameters import build_options, json_option, read_value, renamed
from teiten.cli.plan.builds import SHORT, spec_of
from teiten.cli.plan.options import checked_name
from teiten.cli.plan.two_sides import SCRIPT, WAY, SharedOptions
from teiten.errors import InterruptedCampaignError, UsageError
from teiten.execute.bisect import BisectRepository
from teiten.execute.postgres.building.sources import commit_of
from teiten.given_paths import expanded
from teiten.host.facts.machine import read_host_facts
from teiten.study import values

EXAMPLES = (
    "Examples:  teiten bisect --good REL_17_0 --bad master --source ~/postgresql --script read"
    "  ·  teiten bisect --good HEAD~9 --bad HEAD --source . --script q.sql --delta 3% --budget 6h"
)
DEFAULT_DELTA = "2%"
DEFAULT_ALPHA = "5%"
MINUTES_EACH = 20
"""Minutes of each expected comparison, where no budget is given."""


@click.command("bisect", epilog=EXAMPLES)
@click.option("--good", required=True, metavar="REF", help="The older commit, still good.")
@click.option("--bad", required=True, metavar="REF", help="The newer commit, changed.")
@click.option("--source", required=True, metavar="GIT_CHECKOUT", help="A clone of PostgreSQL.")
@SCRIPT.option
@renamed("--workload", SCRIPT.name)
@click.option(
    "--delta",
    metavar="SHARE",
    help="The difference that makes a commit bad; by default half of that between the two ends.",
)
@click.option("--alpha", metavar="SHARE", help="How often the search may be wrong (default 5%).")
@click.option(
    "--budget",
    metavar="TIME",
    help=f"What all comparisons may take; by default {MINUTES_EACH} min for each. Without builds.",
)
@click.option("--clients", metavar="N", help="Clients; by default as many as cores.")
@click.option("--duration", metavar="TIME", help="Measured time of a trial; else derived.")
@build_options()
@WAY.of(help="As in teiten ab.").option
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="As in teiten ab.")
@click.option("--guc", "gucs", multiple=True, metavar="NAME=VALUE", help="As in teiten ab.")
@click.option("--name", callback=checked_name, metavar="TEXT", help="Name of the search.")
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
    name = given["name"] or f"bisect-{_hash(request_values)}"
    folder = session.workdir.bisects / name
    repository = BisectRepository(folder / "repository.git", checkout)
    commits = repository.range(good, bad)
    search = Search(
        session,
        _request(given, name, request_values, comparisons(len(commits))),
        repository,
        BisectRecord(folder, request_values),
        commits,
    )
    again = search.request.command
    session.console.say(
        f"search {name}: {len(commits)} commits, about {comparisons(len(commits))} comparisons"
    )
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


def _request(given: dict[str, Any], name: str, asked: dict[str, Any], count: int) -> Request:
    options = SharedOptions(
        seed=0,
        script=asked["script"],
        clients=asked["clients"],
        duration=asked["duration"],
        way=asked.get("way"),
        overrides=tuple(asked["overrides"]),
        gucs=tuple(asked["gucs"]),
    )
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
    flags = {"overrides": "set", "gucs": "guc"}
    words = ["teiten", "bisect"]
    for key, value in given.items():
        flag = f"--{flags.get(key, key)}"
        if key in ("as_json", "name") or value in (None, False, ()):
            continue
        for word in value if isinstance(value, tuple) else (value,):
            words += [flag] if word is True else [flag, str(word)]
    return shlex.join([*words, "--name", name])


def _hash(asked: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:8]
