"""`trainyard fleet`: all clients of a project at once."""

from __future__ import annotations

from typing import Annotated

import typer

from trainyard.cli import fleet_judging, fleet_releases
from trainyard.cli.files import check_outputs, write_json
from trainyard.cli.fleet_judging import JobsOption, PulumiOption
from trainyard.cli.fleet_live import ask_all
from trainyard.cli.fleet_tables import print_known, print_shared, print_stacks, row
from trainyard.cli.project import JsonOption, ProjectOption, fail, find_project, progress
from trainyard.fleet.known import HOMES, known_of
from trainyard.problems import SettingsError
from trainyard.review.exit_codes import EXIT_VIOLATED

app = typer.Typer(no_args_is_help=True, help="All clients of a project at once: listed, checked, brought forward.")

EXIT_DRIFT = 1


@app.command("list")
def list_(
    live: Annotated[
        bool, typer.Option("--live", help="Ask every stack's state and account first; nothing is changed.")
    ] = False,
    pulumi: PulumiOption = "pulumi",
    json_file: JsonOption = None,
    jobs: JobsOption = None,
    project: ProjectOption = None,
) -> None:
    """Every client's stack: cloud, profile, wave, verdict, and a month's expected cost beside its budget; then
    policies, last smoke verdict, drift, and what the month has cost so far, each with when it was asked.

    No cloud is asked without --live: what `fleet drift`, `fleet upgrade`, `trainyard smoke` and --live found out is
    kept beside the stack files. What nobody asked is `unknown`.
    Exit codes: 0, whatever the verdicts; 2 fleet.yaml, every stack file or what was kept cannot be read.
    """
    from trainyard.fleet.drift import last

    check_outputs({"--json": json_file})
    folder = find_project(project)
    clients = fleet_judging.held_clients(folder, broken_too=True)
    if live:
        fleet_judging.need_pulumi(pulumi)
        ask_all(folder, [client for client in clients if client.is_read], pulumi)
    try:
        known = {client.stack: known_of(client.stack, folder / HOMES) for client in clients}
    except SettingsError as error:
        fail(str(error))
    told = fleet_judging.judged(clients, jobs)
    drifts = {client.stack: last(client, folder / HOMES) for client in clients}
    if json_file is not None:
        rows = [
            {
                **row(client, told[client.stack]),
                "drift": drift.as_json() if drift else None,
                **known[client.stack].as_json(),
            }
            for client, drift in ((client, drifts[client.stack]) for client in clients)
        ]
        write_json(json_file, {"stacks": rows})
    if str(json_file) != "-":
        print_stacks(clients, told)
        print_known(clients, told, drifts, known)


@app.command()
def check(json_file: JsonOption = None, jobs: JobsOption = None, project: ProjectOption = None) -> None:
    """Judge every stack, and what no two clients may share: owners, addresses, reservations, backends, keys, roles.

    A stack that fleet.yaml pins is judged by the release that it names (`pin`).
    Exit codes: 0; 1 a mandatory policy is violated, or two clients share what is one's; 2 settings are wrong; 3 a
    program is wrong; 70 Trainyard failed.
    """
    from trainyard.fleet.apart import shared_between

    check_outputs({"--json": json_file})
    clients = fleet_judging.held_clients(find_project(project), broken_too=True)
    shared = shared_between([client for client in clients if client.is_read])
    told = fleet_judging.judged(clients, jobs)
    if json_file is not None:
        stacks = [row(client, told[client.stack]) for client in clients]
        write_json(json_file, {"stacks": stacks, "shared": [each.as_json() for each in shared]})
    if str(json_file) != "-":
        print_stacks(clients, told)
        print_shared(shared)
    code = fleet_judging.worst_of(told) or (EXIT_VIOLATED if shared else 0)
    if code:
        raise typer.Exit(code)


@app.command()
def drift(
    pulumi: PulumiOption = "pulumi",
    json_file: JsonOption = None,
    project: ProjectOption = None,
) -> None:
    """Ask every stack whether its cloud is still what its program says; nothing is changed.

    Runs `pulumi preview --refresh --expect-no-changes`, for which a role that only reads is enough; where a cluster is
    reached through a bastion, a tunnel is open meanwhile, for which it takes `ssm:StartSession` too.
    Exit codes: 0 no drift; 1 a stack has drifted, or could not be asked; 2 an option or a file is wrong.
    """
    from trainyard.fleet.drift import ask

    check_outputs({"--json": json_file})
    fleet_judging.need_pulumi(pulumi)
    folder = find_project(project)
    found = []
    clients = fleet_judging.held_clients(folder)
    fleet_judging.need_ways(clients)
    for client in clients:
        with progress(f"asking {client.stack}"):
            answer = ask(client, pulumi, folder / HOMES)
        found.append({"stack": client.stack, "drifted": answer.drifted, "told": answer.told})
    if json_file is not None:
        write_json(json_file, {"stacks": found})
    if str(json_file) != "-":
        for each in found:
            typer.echo(
                f"{each['stack']}: {'drifted, or could not be asked' if each['drifted'] else 'as its program says'}"
            )
            if each["told"]:
                typer.echo("\n".join(f"  {line}" for line in str(each["told"]).splitlines()))
    if any(each["drifted"] for each in found):
        raise typer.Exit(EXIT_DRIFT)


app.command()(fleet_releases.diff)
app.command()(fleet_releases.upgrade)
