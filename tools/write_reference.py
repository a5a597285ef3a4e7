"""Write docs/reference from the code: the command line, the study file, metrics and telemetry.

python tools/write_reference.py            write it
python tools/write_reference.py --check    say whether it is what the code says; exit 1 if not
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from teiten.cli.main import VERBS, HelpContext, teiten
from teiten.cli.printed.registry import SCHEMAS
from teiten.datasets.plan import own_keys as own_data_keys
from teiten.datasets.plan import plan_of
from teiten.datasets.registry import names as datasets
from teiten.execute.probes import columns
from teiten.factors.registry import rules
from teiten.kinds.metrics import by_name
from teiten.kinds.queries.plan import GroupTable
from teiten.kinds.registry import names
from teiten.study import schema, tables
from teiten.study.file import own_keys, profile_table

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
WIDTH = 100


def pages() -> dict[str, str]:
    """Every page of the reference by its file's name."""
    return {
        "cli.md": cli_page(),
        "json.md": json_page(),
        "study-file.md": study_file_page(),
        "telemetry.md": telemetry_page(),
    }


def json_page() -> str:
    """The schemas of ``--json``, and the verbs that print what they describe."""
    lines = [
        "# JSON of the verbs",
        "",
        "Everything that a verb prints with `--json` is described by a JSON Schema (draft",
        "2020-12): `teiten schema` lists them, `teiten schema NAME` prints one. `$id` holds the",
        "version of its form (`urn:teiten:verdict:2`); a change of meaning and a key that goes",
        "raise it. Tests hold what the verbs print against them. Values are in base units",
        "(seconds, bytes, shares); the open end of an interval is null.",
        "",
        "The second form of `verdict`, and of the documents that hold verdicts, has `mixed`:",
        "`ratio`, `interval` and `confidence` are null, `reason` is `levels-differ`, and",
        "`extremes` has the two levels between which the verdict lies, each with its own",
        "verdict, ratio and interval; it is empty for any other verdict.",
        "",
        "The second form of `collection` and `collection-comparison` tells findings whose",
        "campaign has not run (`not-run`) from those that do not apply; in the first one both",
        "were `not-applicable`, and the reason `not-run` tells them apart.",
        "",
        "The second form of `bisection` tells ends that are one build, of which nothing was",
        "measured (`same-build`), from ends that were compared; in the first one both were",
        "`no-difference`, and `ends` is null of the former.",
        "",
        "The second form of `machine` has the number of clients at each number of `pairs_check`;",
        "in the first one it was that of the whole check.",
        "",
        "| schema | what | printed by | a list of it by |",
        "|---|---|---|---|",
    ]
    for json_schema in SCHEMAS:
        cells = (_listed(json_schema.verbs), _listed(json_schema.listing))
        lines.append(" | ".join((f"| `{json_schema.name}`", json_schema.what, *cells)) + " |")
    lines += [
        "",
        "Objects take no other keys than those of their schema. Open are: a verdict alone, beside",
        "which others stand; a trial of `plan` and the options of `study`, which have keys of the",
        "kind of their workload and data; an installation's `build`; the `reason` of `claims`; and",
        "where a server of `plan` is.",
    ]
    return "\n".join(lines) + "\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def cli_page() -> str:
    parts = [
        "# The command line\n",
        "Data go to stdout, everything for people to stderr. Exit codes: 0 done, 1 a defect of"
        " Teiten, 2 bad usage or study file, 3 the machine does not suffice, 4 trials failed"
        " beyond their repeats or no trial of a workload counted, 5 a `--fail-on` verdict came"
        " true or a gate found a regression, 6 a gate cannot tell, 130 interrupted and"
        " resumable.\n",
        help_of(teiten, "teiten"),
    ]
    context = HelpContext(teiten, info_name="teiten")
    for verb in VERBS:
        command = teiten.get_command(context, verb)
        assert command is not None
        parts += [f"## teiten {verb}\n", *help_texts(command, f"teiten {verb}")]
    return "\n".join(parts)


def help_texts(command: click.Command, name: str) -> Iterator[str]:
    yield help_of(command, name)
    if isinstance(command, click.Group):
        context = HelpContext(command, info_name=name)
        for child in command.list_commands(context):
            subcommand = command.get_command(context, child)
            assert subcommand is not None
            yield from help_texts(subcommand, f"{name} {child}")


def help_of(command: click.Command, name: str) -> str:
    context = HelpContext(
        command, info_name=name, terminal_width=WIDTH, max_content_width=WIDTH, color=False
    )
    return f"```text\n{command.get_help(context)}\n```\n"


def study_file_page() -> str:
    parts = [
        "# The study file\n",
        "`teiten init observe` prints a whole one with comments. Times are `300s`, `5m`, `1h30m`;"
        " sizes `512MB`, `40GB`, as PostgreSQL reads them; shares `2%`. Texts are one string, or"
        ' `{ en = "…", ja = "…" }`. `"auto"` is derived from the machine.\n',
    ]
    sections: tuple[tuple[str, type[BaseModel] | dict[str, FieldInfo]], ...] = (
        ("[study]", schema.StudyTable),
        ("[[workloads]]", schema.WorkloadTable),
        *((f'[[workloads]], kind = "{kind}"', own_keys(kind)) for kind in names()),
        ("[workloads.data]", tables.DataTable),
        *(
            (f'[workloads.data], kind = "{kind}"', data_fields(kind))
            for kind in datasets()
            if data_fields(kind)
        ),
        ("[workloads.data.layouts.NAME]", tables.LayoutTable),
        ("[[workloads.groups]]", GroupTable),
        ("[builds.NAME]", tables.BuildTable),
        ("[settings.NAME]", tables.SettingTable),
        ("[measure]", tables.MeasureTable),
        ("[clusters.NAME]", tables.ClusterTable),
        ("[hosts]", tables.HostsTable),
        ("[nodes]", tables.NodesTable),
        ("[profiles.NAME]", profile_table()),
    )
    for title, table in sections:
        fields = table if isinstance(table, dict) else table.model_fields
        keys = ", ".join(
            f"**`{name}`**" if field.is_required() else f"`{name}`"
            for name, field in fields.items()
        )
        parts += [f"## `{title}`\n", f"{keys}\n"]
    parts.append(
        "Keys in bold must be there. A workload's `kind` may be left out where one of its keys"
        " tells it: `script` a load of pgbench, `queries` timed queries. `[factors]` holds a list"
        f" of levels for each factor: {_listed(rule.form for rule in rules())};"
        " `[workloads.levels]` the levels that one workload has of some of them;"
        " `[parameters.NAME]` the server parameters of a level of the factor parameters;"
        " `[servers]` names of your own for servers, `[builds.NAME]`"
        " servers that are built from source, `[storage]` names of folders for the factor placement"
        " (docs/guides/placement.md), `[clusters.NAME]` the"
        " nodes behind a server that runs already, and the SQL that makes them one database"
        " (docs/guides/scale-out.md), `[hosts]` where servers and pgbench run"
        " (docs/guides/remote-hosts.md), `[nodes]` what each node of a trial has, emulated as a"
        " machine of its own (docs/concepts/emulated-nodes.md).\n"
    )
    return "\n".join(parts)


def data_fields(kind: str) -> dict[str, FieldInfo]:
    """The keys that only one kind of data has."""
    fields = plan_of(kind).table.model_fields
    return {key: fields[key] for key in own_data_keys(kind)}


def telemetry_page() -> str:
    parts = [
        "# Metrics and telemetry\n",
        "Everything is stored unrounded in base units: seconds, bytes, shares from 0 to 1.\n",
        "## One number for each trial\n",
        "| metric | unit | better |\n| --- | --- | --- |",
        *(
            f"| `{metric.name}` | {metric.unit} | {metric.better.value} |"
            for metric in by_name().values()
        ),
        "\n## Series, once a second\n",
        "| source | column | unit | meaning |\n| --- | --- | --- | --- |",
        *(
            f"| {column.source} | `{column.name}` | {column.unit} | {column.meaning} |"
            for group in (
                columns.OS,
                columns.CPU_STATES,
                columns.DISK,
                columns.OWN,
                columns.POSTGRES,
            )
            for column in group
        ),
        "\nWhere a study has the factor placement, the means over the measured time of each storage"
        " class besides: `storage:NAME:read_bytes_per_second`, and so on with the columns of"
        " `disk:NAME`.\n"
        "\nThe series `waits` has a column for each wait event that was seen, as `Type:Event`, and"
        " `CPU` for those that waited for nothing: mean numbers of active client backends, looked"
        " at ten times a second. Where pgbench runs on a host of its own, the series `client` has"
        " the columns of `os` for that host, and the metrics `client_…` are its shares.\n",
    ]
    return "\n".join(parts)


def differing() -> list[str]:
    """The pages on the disk that are not what the code says."""
    return [
        name
        for name, text in pages().items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]


def main() -> int:
    if "--check" in sys.argv:
        for name in differing():
            sys.stderr.write(f"docs/reference/{name} is not what the code says\n")
        return 1 if differing() else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
