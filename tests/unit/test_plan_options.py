"""The options that ``plan`` and ``run`` share."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from teiten.cli.plan.options import PlanOptions, plan_options

seen: list[PlanOptions] = []


@click.command()
@plan_options
@click.option("--other", is_flag=True)
def verb(options: PlanOptions, other: bool) -> None:
    seen.append(options)
    assert other


def read(*arguments: str) -> PlanOptions:
    seen.clear()
    result = CliRunner().invoke(verb, [*arguments, "--other"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return seen[0]


def test_options_become_one_value() -> None:
    assert read() == PlanOptions()
    options = read(
        "--servers", "17,18", "--profile", "quick", "--set", "clients=1", "--set", "scale=5",
        "--guc", "jit=off", "--blocks", "3", "--delta", "1%", "--alpha", "5%", "--seed", "0",
        "--name", "first", "--yes",
    )  # fmt: skip
    assert options == PlanOptions(
        servers=("17,18",),
        profile="quick",
        overrides=("clients=1", "scale=5"),
        gucs=("jit=off",),
        blocks=3,
        delta="1%",
        alpha="5%",
        seed=0,
        name="first",
        yes=True,
    )


def test_the_arguments_give_the_same_options_again() -> None:
    arguments = ["--servers", "17,18", "--set", "title=a b", "--guc", "jit=off", "--seed", "0"]
    options = read(*arguments)
    assert options.as_arguments() == arguments
    assert read(*options.as_arguments()) == options


@pytest.mark.parametrize("name", ["../up", "", ".hidden", "a/b", "-x", "a" * 81])
def test_a_name_must_name_a_folder(name: str) -> None:
    result = CliRunner().invoke(verb, ["--name", name, "--other"])
    assert result.exit_code == 2
    assert "cannot name a folder" in result.output
