"""`trainyard init`: a project of one's own, which takes everything but its settings from the installed distribution."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
import yaml

from trainyard.cli.files import as_json
from trainyard.cli.project import fail, fail_options
from trainyard.cli.schema import SCHEMA_FILE, schema_comment, schema_document
from trainyard.problems import SettingsError

POLICY_PACK = "policy-pack"
"""Where the project's policy pack lies: a name that stands apart from a client's own policies."""


_OPTIONS = {
    "client": "--client",
    "cloud": "--cloud",
    "region": "--region",
    "teamSize": "--team-size",
    "environment": "--stack",
    "alertEmails": "--alert-email",
}
"""The option that gives each setting, by the setting's key. An environment is called after its stack."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The project's folder; made where there is none.")],
    client: Annotated[
        str, typer.Option(help="Who the environment is for: part of names and tags. By default the folder's name.")
    ] = "",
    cloud: Annotated[str, typer.Option(help="The cloud.")] = "aws",
    region: Annotated[str, typer.Option(help="The cloud's region.")] = "us-east-1",
    team_size: Annotated[int, typer.Option(help="How many people train models: picks the profile.")] = 12,
    stack: Annotated[str, typer.Option(help="The first stack's name.")] = "dev",
    alert_email: Annotated[
        list[str] | None, typer.Option(help="Who is told when the budget runs out; once for each address.")
    ] = None,
) -> None:
    """Start a project: Pulumi.yaml, a stack file and its schema, a program of two lines, the policy pack, requirements.

    The stack rehearses, checks and prices at once; a policy asks for somebody who hears its alerts (--alert-email).
    `pulumi install` makes the environment that `pulumi up` uses. Files that are there already are not touched: the
    command then writes nothing.
    Exit codes: 0 written; 2 a value is wrong, a file is there already, or the folder cannot be written.
    """
    chosen = {
        "client": client or folder.resolve().name,
        "cloud": cloud,
        "region": region,
        "teamSize": str(team_size),
        **({"alertEmails": json.dumps(alert_email)} if alert_email else {}),
    }
    _check(chosen, stack)
    content = _content(chosen, stack)
    there = [name for name in content if (folder / name).exists() or (folder / name).is_symlink()]
    if there:
        fail(f"{folder}: {', '.join(there)} {'are' if len(there) > 1 else 'is'} there already; nothing is written")
    _write(folder, content)
    typer.echo(f"Wrote {', '.join(content)} in {folder}.")
    if not alert_email:
        typer.echo(f"Nobody is told when the budget runs out yet: set trainyard:alertEmails in Pulumi.{stack}.yaml.")
    typer.echo(f"Next: trainyard rehearse {stack} --project {folder}")


def _content(chosen: dict[str, str], stack: str) -> dict[str, str]:
    """The project's files by their path in it."""
    from trainyard.settings.declarations import project_file

    program = files("trainyard.stacks").joinpath("__main__.py").read_text(encoding="utf-8")
    pack = files("trainyard.policies")
    return {
        "Pulumi.yaml": project_file(),
        f"Pulumi.{stack}.yaml": _stack_file(chosen, stack),
        SCHEMA_FILE: as_json(schema_document()),
        "__main__.py": program,
        f"{POLICY_PACK}/PulumiPolicy.yaml": pack.joinpath("PulumiPolicy.yaml").read_text(encoding="utf-8"),
        f"{POLICY_PACK}/__main__.py": pack.joinpath("__main__.py").read_text(encoding="utf-8"),
        "requirements.txt": f"trainyard=={version('trainyard')}\n",
        ".gitignore": ".venv/\n__pycache__/\n",
    }


def _stack_file(chosen: dict[str, str], stack: str) -> str:
    config: dict[str, object] = {f"trainyard:{key}": value for key, value in chosen.items()}
    config["trainyard:teamSize"] = int(chosen["teamSize"])
    if "alertEmails" in chosen:
        config["trainyard:alertEmails"] = json.loads(chosen["alertEmails"])
    return (
        schema_comment(SCHEMA_FILE)
        + f"# What every key means is told in Pulumi.yaml; `trainyard explain {stack}` lists what the rest comes to.\n"
        + yaml.safe_dump({"config": config}, sort_keys=False)
        + "  # The ambient credentials must never be used by accident: every resource names its provider.\n"
        + f"  pulumi:disable-default-providers: {json.dumps(['*'])}\n"
    )


def _check(chosen: dict[str, str], stack: str) -> None:
    """Ends the command where the settings refuse a value, before anything is written."""
    from trainyard.plan.resolve import resolve

    try:
        resolve(chosen, stack)
    except SettingsError as error:
        fail_options(
            SettingsError(
                replace(problem, key=_OPTIONS.get(problem.key.split("[")[0], problem.key)) for problem in error.problems
            )
        )


def _write(folder: Path, content: dict[str, str]) -> None:
    """Writes all files or none. A file that came to be since it was looked for is not overwritten."""
    made: list[Path] = []
    try:
        for name, text in content.items():
            path = folder / name
            for parent in reversed([parent for parent in path.parents if not parent.exists()]):
                parent.mkdir()
                made.append(parent)
            with path.open("x", encoding="utf-8") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in reversed(made):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
        fail(f"{error.filename or folder}: cannot be written: {error.strerror}; nothing is")
