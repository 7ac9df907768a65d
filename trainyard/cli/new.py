"""`trainyard new`: one more client in a project: a stack of its own that rehearses before anything is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from trainyard.cli.client_answers import first_values, given_to_all, of_options, what_is_said
from trainyard.cli.files import note_stack, write_new
from trainyard.cli.project import (
    ProjectOption,
    fail,
    fail_options,
    file_option,
    find_project,
    progress,
    settings_of,
    stack_files,
    stack_folder,
    warn,
    wave_given,
)
from trainyard.cli.schema import SCHEMA_FILE
from trainyard.cli.stack_text import stack_text
from trainyard.problems import Problem, SettingsError
from trainyard.review.exit_codes import EXIT_VIOLATED

if TYPE_CHECKING:
    from trainyard.advice.assessment import Assessment
    from trainyard.fleet.clients import Client, Entry, Wave

WHO, WHERE, OWN = "Who and how large", "Where", "Its own"
"""Panels of `--help`."""


STATE_AND_KEY: Final = {
    "aws": ("s3://BUCKET/CLIENT?region=REGION", "awskms://alias/CLIENT?region=REGION"),
    "gcp": ("gs://BUCKET/CLIENT", "gcpkms://projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/CLIENT"),
}
"""Where a client's state may be and what may encrypt its secrets, by cloud, as Pulumi spells them."""


def new(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Short name: part of every name and tag.")],
    team_size: Annotated[
        int | None, typer.Option(help="How many people train models: picks the profile.", rich_help_panel=WHO)
    ] = None,
    alert_email: Annotated[
        list[str] | None,
        typer.Option(help="Who is told when the budget runs out; may be repeated.", rich_help_panel=WHO),
    ] = None,
    environment: Annotated[str, typer.Option(help="Part of the stack's name too.", rich_help_panel=WHO)] = "prod",
    owner: Annotated[str, typer.Option(help="Who answers for it; a tag.", rich_help_panel=WHO)] = "",
    cost_centre: Annotated[str, typer.Option(help="Whom it is booked to; a tag.", rich_help_panel=WHO)] = "",
    monthly_budget: Annotated[
        int | None, typer.Option(metavar="USD", help="The profile's by default.", rich_help_panel=WHO)
    ] = None,
    answers: Annotated[
        Path | None, file_option("--answers", help="What the client said, as a file; kept beside the stack.", panel=WHO)
    ] = None,
    questions: Annotated[
        bool, typer.Option("--ask", help="Ask here for what the client says, and keep it.", rich_help_panel=WHO)
    ] = False,
    cloud: Annotated[
        str | None, typer.Option(help="By default Pulumi.yaml's, else aws.", rich_help_panel=WHERE)
    ] = None,
    region: Annotated[
        str | None, typer.Option(help="By default Pulumi.yaml's, else us-east-1 or us-central1.", rich_help_panel=WHERE)
    ] = None,
    residency: Annotated[
        str | None, typer.Option(help="Where data may be kept: none, eu, uae, …", rich_help_panel=WHERE)
    ] = None,
    account: Annotated[str, typer.Option(help="The account's number, on AWS.", rich_help_panel=OWN)] = "",
    assume_role: Annotated[
        str, typer.Option(metavar="ARN", help="The role that creates everything, on AWS.", rich_help_panel=OWN)
    ] = "",
    gcp_project: Annotated[
        str, typer.Option(metavar="ID", help="The project, on Google Cloud.", rich_help_panel=OWN)
    ] = "",
    gcp_project_number: Annotated[
        str, typer.Option(metavar="NUMBER", help="The project's number, on Google Cloud.", rich_help_panel=OWN)
    ] = "",
    gcp_billing_account: Annotated[
        str, typer.Option(metavar="ID", help="What pays the project, and watches its budget.", rich_help_panel=OWN)
    ] = "",
    state_backend: Annotated[
        str, typer.Option(metavar="URL", help="Where the state is: s3://BUCKET/CLIENT?region=…", rich_help_panel=OWN)
    ] = "",
    state_region: Annotated[
        str, typer.Option(metavar="REGION", help="The state's, where its URL does not say.", rich_help_panel=OWN)
    ] = "",
    secrets_provider: Annotated[
        str, typer.Option(metavar="URL", help="What encrypts its secrets: awskms://alias/…", rich_help_panel=OWN)
    ] = "",
    wave: Annotated[str, typer.Option(help="canary, early or rest.", rich_help_panel=OWN)] = "rest",
    called: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Its name in documents: 'Acme Robotics'; CLIENT else.", rich_help_panel=OWN),
    ] = None,
    project: ProjectOption = None,
) -> None:
    """Add a client: a stack file, its lock, what the client said, and a line in fleet.yaml; all of them or none.

    The stack is rehearsed, judged and priced before it is written. What another client has already (an owner, an
    address of alerts, a place for the state, a key of secrets) is refused; what all share is said in Pulumi.yaml.
    With --answers, --ask, or without --team-size at a terminal, it begins with what the client says of runs, people,
    data and money: what contradicts is refused, and the recommender's machines are the pool's.
    Exit codes: 0 written; 1 a mandatory policy is violated, or another client has it; 2 a value is wrong, or the stack
    is there already; 3 the program is wrong.
    """
    folder = find_project(project)
    files = stack_files(folder)
    where = stack_folder(folder)
    entry = _entry(wave_given(wave), called)
    stack = f"{client}-{environment}"
    file = where / f"Pulumi.{stack}.yaml"
    if file.exists() or file.is_symlink():
        fail(f"{file.name} is there already; nothing is written")
    _need_alerts(folder, alert_email)
    told = {
        "people.teamSize": team_size,
        "where.cloud": cloud,
        "where.region": region,
        "where.residency": residency,
        "money.monthlyBudgetUsd": monthly_budget,
    }
    said = what_is_said(
        folder, {path: value for path, value in told.items() if value is not None}, answers, asked=questions
    )
    own = {
        "client": client,
        "environment": environment,
        **first_values(folder, told, said),
        "alertEmails": list(alert_email or ()),
        "owner": owner,
        "costCentre": cost_centre,
        "stateBackend": state_backend,
        "stateRegion": state_region,
        "aws": _given(accountId=account, assumeRole=assume_role),
        "gcp": _given(project=gcp_project, projectNumber=gcp_project_number, billingAccount=gcp_billing_account),
    }
    settings = {key: value for key, value in own.items() if value is not None and value not in ("", [], {})}
    schema = os.path.relpath(folder / SCHEMA_FILE, where)
    with tempfile.TemporaryDirectory() as scratch:
        draft = Path(scratch) / file.name

        def drafted(settings: Mapping[str, object]) -> str:
            text = stack_text(settings, stack, schema, secrets_provider)
            draft.write_text(text, encoding="utf-8")
            return text

        text = drafted(settings)
        if said is not None:
            text = _with_pool(folder, draft, drafted, settings, said)
        lock = _accepted(folder, draft, files, said is not None)
    _write(folder, file, text, lock, stack, entry, said)


def _given(**values: str) -> dict[str, str]:
    """What of a block was given."""
    return {key: value for key, value in values.items() if value}


def _need_alerts(folder: Path, given: Sequence[str] | None) -> None:
    if not given and not given_to_all(folder, "alertEmails"):
        allowed = "somebody must be told when the budget runs out: give an address"
        fail_options(SettingsError([Problem("--alert-email", "nothing", allowed)]))


def _with_pool(
    folder: Path,
    draft: Path,
    drafted: Callable[[Mapping[str, object]], str],
    settings: Mapping[str, object],
    said: Assessment,
) -> str:
    """The stack file that begins with the recommender's machines, where they can be a pool of the stack."""
    from trainyard.cli.first_pool import start_of
    from trainyard.plan.resolve import resolve_stack

    start = start_of(said, date.today())
    try:
        plan = resolve_stack(folder, draft).plan
    except SettingsError:
        return drafted(settings)  # `_accepted` tells what is wrong
    pools = start.pool(plan)
    typer.echo(f"Recommended: {start.why}.")
    if not pools:
        return drafted(settings)
    text = drafted({**settings, "gpuPools": pools})
    try:
        resolve_stack(folder, draft)
    except SettingsError as error:
        warn([f"the recommended machines are no pool of this stack, which keeps its profile's: {error.problems[0]}"])
        return drafted(settings)
    return text


def _accepted(folder: Path, draft: Path, files: Sequence[Path], answered: bool) -> str:
    """The lock of a stack that nobody refuses, as text; ends the command otherwise."""
    from trainyard.fleet.apart import shared_between
    from trainyard.fleet.clients import Entry, read_client, read_clients
    from trainyard.plan.lock import lock_of, lock_text
    from trainyard.plan.resolve import resolve_stack
    from trainyard.review.review import judge
    from trainyard.review.verdict import dollars

    try:
        added = read_client(folder, draft, Entry())
        resolved = resolve_stack(folder, draft)
    except SettingsError as error:
        fail_options(SettingsError(of_options(error.problems, answered)))
    with settings_of("of the fleet"):
        clients = [*read_clients(folder, files), added]
    found = [shared for shared in shared_between(clients) if added.stack in shared.stacks]
    if found:
        why = "".join(f"\n  {shared}{_option_for(shared.key, added)}" for shared in found)
        fail(f"{added.stack} is not written: what is one client's is another's{why}", code=EXIT_VIOLATED)
    with progress(f"rehearsing {added.stack}"):
        verdict = judge(folder, draft).verdict
    if not verdict.state.deployable:
        fail(f"{verdict.headline}; {'; '.join(verdict.next_steps)}; nothing is written", code=verdict.exit_code)
    warn(resolved.warnings)
    typer.echo(f"{verdict.headline}.")
    if verdict.money is not None:
        idle, expected = dollars(verdict.money.idle), dollars(verdict.money.expected)
        typer.echo(f"USD a month: {idle} idle, {expected} expected; {verdict.money.sentence}.")
    return lock_text(lock_of(resolved.plan), added.stack)


def _option_for(key: str, added: Client) -> str:
    """The option that gives a client what no two may share, for whoever has not heard of the key."""
    place, opened = STATE_AND_KEY.get(added.settings.cloud, STATE_AND_KEY["aws"])
    options = {"stateBackend": f"--state-backend '{place}'", "secretsprovider": f"--secrets-provider '{opened}'"}
    return f": {options[key].replace('CLIENT', added.name)}" if key in options else ""


def _entry(wave: Wave, called: str | None) -> Entry:
    """The stack's line in fleet.yaml."""
    from trainyard.fleet.clients import Entry
    from trainyard.review.handover.agency import LONGEST_NAME

    if called is not None and not 0 < len(called) <= LONGEST_NAME:
        fail(f"--called: got {len(called)} characters; must have 1 to {LONGEST_NAME}")
    return Entry(wave=wave, called=called)


def _write(folder: Path, file: Path, text: str, lock: str, stack: str, entry: Entry, said: Assessment | None) -> None:
    from trainyard.advice.assessment import assessment_path, assessment_text
    from trainyard.fleet.clients import FILE
    from trainyard.plan.lock import lock_path

    content = {file.name: text, lock_path(file).name: lock}
    if said is not None:
        content[assessment_path(file).name] = assessment_text(said, f"the client of stack {stack}")
    _readable_fleet(folder)
    write_new(file.parent, content)
    try:
        note_stack(folder, stack, lambda _: entry)
    except (
        BaseException
    ):  # a Ctrl-C too, while another command holds fleet.yaml: what is left would refuse the next try
        for name in content:
            (file.parent / name).unlink(missing_ok=True)
        raise
    there = file.parent.relative_to(folder) if file.parent.is_relative_to(folder) else file.parent
    typer.echo(f"Wrote {', '.join(str(there / name) for name in content)} and its line in {FILE}.")
    typer.echo(f"Next: trainyard rehearse {stack}")


def _readable_fleet(folder: Path) -> None:
    """Ends the command where fleet.yaml is wrong, before anything is written."""
    from trainyard.fleet.clients import read_fleet
    from trainyard.rehearsal.engine.project import stack_of

    with settings_of("of the fleet"):
        read_fleet(folder, [stack_of(each) for each in stack_files(folder)])
