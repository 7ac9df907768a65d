"""`trainyard init`: an agency's repository, or a project for one client; all but its files is the package's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Annotated
from zipfile import is_zipfile

import typer

from trainyard.cli.files import as_json, write_new
from trainyard.cli.project import fail, fail_options, file_option
from trainyard.cli.schema import SCHEMA_FILE, schema_document
from trainyard.cli.stack_text import stack_text
from trainyard.problems import Problem, SettingsError, count, nearest

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

FIRST, AGENCY = "A project for one client: its first stack", "An agency's repository"
"""Panels of `--help`."""

_ONE_S = ("client", "environment", "stateBackend", "gpuPools", "policyExceptions")
"""Settings that no two clients have alike."""


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; made where there is none.")],
    client: Annotated[
        str | None,
        typer.Option(help="Who the environment is for. By default the folder's name.", rich_help_panel=FIRST),
    ] = None,
    cloud: Annotated[str | None, typer.Option(help="By default aws.", rich_help_panel=FIRST)] = None,
    region: Annotated[str | None, typer.Option(help="By default us-east-1.", rich_help_panel=FIRST)] = None,
    team_size: Annotated[
        int | None, typer.Option(help="How many people train models; 12 by default.", rich_help_panel=FIRST)
    ] = None,
    stack: Annotated[str | None, typer.Option(help="The stack's name; dev by default.", rich_help_panel=FIRST)] = None,
    alert_email: Annotated[
        list[str] | None,
        typer.Option(help="Who is told when the budget runs out; once for each address.", rich_help_panel=FIRST),
    ] = None,
    agency: Annotated[
        str, typer.Option(metavar="NAME", help="Who hands over, in reports and proposals.", rich_help_panel=AGENCY)
    ] = "",
    default: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="What all clients have; may be repeated.", rich_help_panel=AGENCY),
    ] = None,
    wheel: Annotated[
        Path | None,
        file_option("--wheel", help="The release that all run, copied into wheels/.", panel=AGENCY),
    ] = None,
) -> None:
    """Start an agency's repository of clients' environments; with options of a first stack, a project for one client.

    The repository: Pulumi.yaml with what all clients have, an empty fleet.yaml, pipelines for GitHub and GitLab that
    check, ask for drift and upgrade in waves, a page for the agency's people; `trainyard new` adds clients to it.
    A project for one client: Pulumi.yaml and a stack file, which rehearses, checks and prices at once. Both have the
    schema for editors, a program of two lines, the policy pack and requirements. Files that are there already are not
    touched: the command then writes nothing.
    Exit codes: 0 written; 2 a value is wrong, a file is there already, or the folder cannot be written.
    """
    first = {"client": client, "cloud": cloud, "region": region, "teamSize": team_size, "stack": stack}
    if all(value is None for value in (*first.values(), alert_email)):
        _repository(folder, agency, default or [], wheel)
        return
    for option, value in (("--agency", agency), ("--default", default), ("--wheel", wheel)):
        if value:
            fail(f"{option} is for an agency's repository, and not beside options of a first stack")
    name = "dev" if stack is None else stack
    chosen = {
        "client": client or folder.resolve().name,
        "cloud": "aws" if cloud is None else cloud,
        "region": "us-east-1" if region is None else region,
        "teamSize": str(12 if team_size is None else team_size),
        **({"alertEmails": json.dumps(alert_email)} if alert_email else {}),
    }
    _check(chosen, name)
    from trainyard.settings.declarations import project_file

    stack_file = stack_text(_settings(chosen), name, SCHEMA_FILE)
    _write(folder, {"Pulumi.yaml": project_file(), f"Pulumi.{name}.yaml": stack_file, **_common()})
    if not alert_email:
        typer.echo(f"Nobody is told when the budget runs out yet: set trainyard:alertEmails in Pulumi.{name}.yaml.")
    typer.echo(f"Next: trainyard rehearse {name} --project {folder}")


def _repository(folder: Path, agency: str, defaults: list[str], wheel: Path | None) -> None:
    from trainyard.fleet.repository import CLIENTS, WHEELS, repository_files
    from trainyard.review.handover.agency import LONGEST_NAME as LONGEST_AGENCY
    from trainyard.settings.declarations import project_file

    if len(agency) > LONGEST_AGENCY:
        allowed = f"must be at most {LONGEST_AGENCY} characters"
        fail_options(SettingsError([Problem("--agency", f"{len(agency)} characters", allowed)]))
    project = project_file(stacks=CLIENTS, defaults=_shared(defaults))
    content = {"Pulumi.yaml": project, **_common(), **repository_files(agency)}
    if wheel is not None:
        _check_wheel(wheel)
    _write(folder, content)
    if wheel is not None:
        shutil.copyfile(wheel, folder / WHEELS / wheel.name)
    else:
        typer.echo(
            f"Put the wheel of trainyard {version('trainyard')} into {WHEELS}/: pipelines install it from there."
        )
    typer.echo(f"Next: trainyard new CLIENT --project {folder}")


def _shared(given: list[str]) -> dict[str, object]:
    """What `--default` gives to all clients, by key; ends the command where the settings refuse one."""
    from trainyard.settings.common import Settings
    from trainyard.settings.mistakes import fields_of
    from trainyard.settings.read import STAND_INS, read_settings
    from trainyard.user_files import parse_yaml

    found: dict[str, object] = {}
    problems = []
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            problems.append(Problem("--default", text, "must be KEY=VALUE, like owner=platform@agency.example"))
        elif key not in fields_of(Settings):
            known = list(fields_of(Settings))
            problems.append(Problem("--default", key, f"must be one of {', '.join(known)}", nearest(key, known)))
        elif key in _ONE_S:
            problems.append(Problem("--default", key, "is each client's own"))
        else:
            try:
                found[key] = parse_yaml(value, f"--default {key}")
            except SettingsError as error:
                problems += error.problems
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in found.items()}
    told = read_settings({**STAND_INS, "teamSize": "12", **texts}).problems
    own = [problem for problem in told if problem.key.split(".")[0].split("[")[0] in found]
    problems += [replace(problem, key=f"--default {problem.key}") for problem in own]
    if problems:
        fail_options(SettingsError(problems))
    return found


def _check_wheel(wheel: Path) -> None:
    """Ends the command where a file is no wheel of the release that is installed."""
    release = version("trainyard")
    if not wheel.is_file():
        fail(f"--wheel {wheel}: there is no such file")
    if not (wheel.name.startswith(f"trainyard-{release}-") and wheel.suffix == ".whl" and is_zipfile(wheel)):
        fail(
            f"--wheel {wheel}: must be the wheel of the release that is installed, trainyard-{release}-py3-none-any.whl"
        )


def _write(folder: Path, content: dict[str, str]) -> None:
    """Writes all files, or none where one is there already, and says so."""
    there = [name for name in content if (folder / name).exists() or (folder / name).is_symlink()]
    if there:
        fail(f"{folder}: {', '.join(there)} {'are' if len(there) > 1 else 'is'} there already; nothing is written")
    write_new(folder, content)
    typer.echo(f"Wrote {_in_words(content)} in {folder}.")


def _in_words(names: Iterable[str]) -> str:
    """The files by name, those of a folder together: `Pulumi.yaml, fleet.yaml, ci/ (9 files)`."""
    folders: dict[str, list[str]] = {}
    for name in names:
        top, slash, _ = name.partition("/")
        folders.setdefault(top + slash, []).append(name)
    return ", ".join(
        same[0] if len(same) == 1 else f"{top} ({count(len(same), 'file')})" for top, same in folders.items()
    )


def _common() -> dict[str, str]:
    """The files that every project has, by their path in it."""
    program = files("trainyard.stacks").joinpath("__main__.py").read_text(encoding="utf-8")
    pack = files("trainyard.policies")
    return {
        SCHEMA_FILE: as_json(schema_document()),
        "__main__.py": program,
        f"{POLICY_PACK}/PulumiPolicy.yaml": pack.joinpath("PulumiPolicy.yaml").read_text(encoding="utf-8"),
        f"{POLICY_PACK}/__main__.py": pack.joinpath("__main__.py").read_text(encoding="utf-8"),
        "requirements.txt": f"trainyard=={version('trainyard')}\n",
        ".gitignore": "".join(f"{name}\n" for name in _IGNORED),
    }


_IGNORED = (
    ".venv/",
    "__pycache__/",
    ".pulumi-homes/",
    ".trainyard-destroy/",
    ".trainyard-upgrade/",
    ".trainyard-upgrade.json",
    "trainyard.md",
)
"""What commands leave beside Pulumi.yaml that belongs to no repository."""


def _settings(chosen: dict[str, str]) -> dict[str, object]:
    """The settings as a stack file has them: numbers and lists, not text."""
    given: dict[str, object] = {**chosen, "teamSize": int(chosen["teamSize"])}
    if "alertEmails" in chosen:
        given["alertEmails"] = json.loads(chosen["alertEmails"])
    return given


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
