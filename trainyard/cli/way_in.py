"""The ways in, as verbs: a kubeconfig, a tunnel to a private API server, and the tracking server with a login.

They ask `pulumi`, `aws` and `kubectl` as the person who calls: what that person may not do, they do not do either.
"""

from __future__ import annotations

import base64
import json
import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainyard.cli.files import write_whole
from trainyard.cli.programs import answer, asked, is_there, need, run
from trainyard.cli.project import ProjectOption, StackArgument, fail, file_option, find_project, find_stack, read_plan
from trainyard.conventions import (
    MLFLOW_CREDENTIALS_SECRET,
    MLFLOW_NAMESPACE,
    MLFLOW_PEOPLE_SECRET,
    MLFLOW_PORT,
    MLFLOW_SERVICE,
    gcp,
)
from trainyard.conventions.aws import kubeconfig_document
from trainyard.fleet.tunnel import (
    ASK_AGAIN_SECONDS,
    PROGRAMS,
    TunnelError,
    Way,
    described,
    endpoint,
    instance,
    way_to,
)

if TYPE_CHECKING:
    from trainyard.plan.gcp.parts import GcpPlan
    from trainyard.plan.parts import ClusterPlan, Plan
    from trainyard.teardown.freeze import Kubectl


def kubeconfig(
    stack: StackArgument,
    output: Annotated[
        Path | None, file_option("--output", "-o", help="Where to write it; standard output by default.")
    ] = None,
    project: ProjectOption = None,
) -> None:
    """The kubeconfig of a stack's cluster, as `pulumi stack output` has it; without Pulumi, as AWS answers.

    It holds no credentials: `aws eks get-token` fetches a token with the caller's own. Where the stack has a bastion,
    it leads to the local end of `trainyard tunnel`. Exit codes: 0 written; 2 it could not be had.
    """
    write_whole(output or Path("-"), _kubeconfig(project, stack, read_plan(project, stack)))


def tunnel(
    stack: StackArgument,
    project: ProjectOption = None,
) -> None:
    """Keeps a tunnel to the API server of a stack's cluster open, through its bastion, until Ctrl-C.

    Start it beside the first `pulumi up`: it waits for the bastion and for the cluster. A session that ends, as one
    does that nothing goes through for a while, is opened again. Exit codes: 2 there is no bastion, or no program to
    open a tunnel with; 130 Ctrl-C.
    """
    plan = read_plan(project, stack)
    cluster = _cluster(plan, stack)
    way = way_to(plan, cluster)
    if way is None:
        fail(f"stack {stack} has no bastion: its API is reached from where apiAccess says, without a tunnel")
    need(*PROGRAMS, why="a tunnel is a session of Session Manager")
    while True:
        target, host = _instance(way), _endpoint(way)
        typer.echo(f"127.0.0.1:{way.port} leads to {host} through {target}; Ctrl-C ends it", err=True)
        run(way.session(target, host))
        time.sleep(ASK_AGAIN_SECONDS)


def open_(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="What to open: mlflow.")],
    stack: StackArgument,
    team: Annotated[
        str | None, typer.Option(help="With the login of a team's jobs. By default the first team's.")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="With the login of a person of that team, one of teams[].people.")
    ] = None,
    env: Annotated[
        Path | None,
        file_option("--env", help="Write what MLflow's client reads there, to be sourced; only you may read it."),
    ] = None,
    show_password: Annotated[bool, typer.Option("--show-password", help="Show the password.")] = False,
    port: Annotated[int, typer.Option(min=1024, max=65535, help="Local port.")] = MLFLOW_PORT,
    project: ProjectOption = None,
) -> None:
    """Opens a stack's tracking server on a local port, with somebody's login, until Ctrl-C.

    Exit codes: 2 there is none, or the login cannot be read; otherwise as `kubectl port-forward` ends.
    """
    from trainyard.plan.parts import NoSuchName

    if what != "mlflow":
        fail(f"{what} cannot be opened; what can is mlflow")
    if env is None and not show_password:
        fail("the login's password would go nowhere: --env FILE writes it to a file of yours, --show-password shows it")
    plan = read_plan(project, stack)
    cluster = _cluster(plan, stack)
    if not plan.tracks(cluster):
        fail(f"stack {stack} has no tracking server: mlflow.enabled is false")
    need("kubectl", why="it forwards the port")
    try:
        queue = cluster.team(team)
    except NoSuchName as error:
        fail(f"--team: {error}")
    with kept(_kubeconfig(project, stack, plan)) as config:
        kubectl = ["kubectl", "--kubeconfig", str(config)]
        login = _login(kubectl, queue.name, queue.namespace, person)
        uri = f"https://127.0.0.1:{port}"
        if env is not None:
            _write_env(env, uri, login)
        typer.echo(f"{uri} as {login['user']}" + (f", password {login['password']}" if show_password else ""))
        forward = [
            "port-forward",
            "--namespace",
            MLFLOW_NAMESPACE,
            f"service/{MLFLOW_SERVICE}",
            f"{port}:{MLFLOW_PORT}",
        ]
        raise typer.Exit(run([*kubectl, *forward]))


def _cluster(plan: Plan, stack: str) -> ClusterPlan:
    """The first cluster of a stack, which has the tracking server; ends the command where there is none."""
    if not plan.clusters:
        fail(f"stack {stack} makes no cluster yet: its stage is account")
    return plan.clusters[0]


def _kubeconfig(project: Path | None, stack: str, plan: Plan) -> str:
    """From the stack's outputs, else from AWS: with neither program it cannot be had."""
    folder = find_project(project)
    cluster = _cluster(plan, stack)
    if is_there("pulumi"):
        from trainyard.rehearsal.engine.project import stack_of

        name = stack_of(find_stack(folder, stack))
        # A setting that is encrypted makes the output a secret; a kubeconfig holds none.
        return answer("pulumi", "stack", "output", "kubeconfig", "--stack", name, "--show-secrets", cwd=folder)
    program = {"aws": "aws", "gcp": "gcloud"}[plan.ground.kind]
    if not is_there(program):
        what = f"neither pulumi, which has the stack's outputs, nor {program}, which describes its cluster,"
        fail(f"{what} is on the path")
    if plan.ground.kind == "gcp":
        return _of_gke(plan.ground, cluster)
    with _told():
        found = described(cluster.name, plan.ground.region)
    if found is None or found.get("status") != "ACTIVE":
        fail(f"AWS has no active cluster {cluster.name} in {plan.ground.region}: `pulumi up` makes it")
    way = way_to(plan, cluster)
    document = kubeconfig_document(
        cluster.name,
        plan.ground.region,
        found["endpoint"],
        found["certificateAuthority"]["data"],
        host=str(found["endpoint"]).removeprefix("https://"),
        tunnel=way.port if way else None,
    )
    return json.dumps(document, indent=2) + "\n"


def _of_gke(ground: GcpPlan, cluster: ClusterPlan) -> str:
    """As gcloud describes the cluster: by the name of its API, which IAM guards."""
    where = ["--region", ground.region, "--project", ground.project, "--format", "json"]
    described = json.loads(answer("gcloud", "container", "clusters", "describe", cluster.name, *where))
    name = described["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"]
    return json.dumps(gcp.kubeconfig_document(cluster.name, f"https://{name}"), indent=2) + "\n"


def _instance(way: Way) -> str:
    """Id of the bastion, as soon as it runs."""
    for again in _looks(f"instance {way.bastion}"):
        with _told():
            found = instance(way)
        if found is not None:
            return found
        again()
    raise AssertionError("it looks until it finds")


def _endpoint(way: Way) -> str:
    """Name of the API server, as soon as it answers."""
    for again in _looks(f"cluster {way.cluster}"):
        with _told():
            found = endpoint(way)
        if found is not None:
            return found
        again()
    raise AssertionError("it looks until it finds")


@contextmanager
def _told() -> Iterator[None]:
    """Ends the command with what the `aws` program said."""
    try:
        yield
    except TunnelError as error:
        fail(str(error))


def _looks(what: str) -> Iterator[Any]:
    """Looks without end; says once what is waited for."""
    told = False

    def again() -> None:
        nonlocal told
        if not told:
            typer.echo(f"waiting for {what}, which `pulumi up` makes", err=True)
            told = True
        time.sleep(ASK_AGAIN_SECONDS)

    while True:
        yield again


def _login(kubectl: list[str], team: str, namespace: str, person: str | None) -> dict[str, str]:
    """User, password and the authority of the server's certificate, from the Secrets that the caller may read."""
    own = _secret(kubectl, namespace, MLFLOW_CREDENTIALS_SECRET)
    authority = own[Path(own["MLFLOW_TRACKING_SERVER_CERT_PATH"]).name]
    if person is None:
        return {
            "user": own["MLFLOW_TRACKING_USERNAME"],
            "password": own["MLFLOW_TRACKING_PASSWORD"],
            "authority": authority,
        }
    people = _secret(kubectl, MLFLOW_NAMESPACE, MLFLOW_PEOPLE_SECRET)
    key = f"{team}.{person}"
    if key not in people:
        of_team = sorted(name.removeprefix(f"{team}.") for name in people if name.startswith(f"{team}."))
        fail(f"team {team} has no login for {person}; there is {', '.join(of_team) or 'none'} (teams[].people)")
    return {"user": f"{team}+{person}", "password": people[key], "authority": authority}


def _secret(kubectl: list[str], namespace: str, name: str) -> dict[str, str]:
    text = answer(*kubectl, "get", "secret", name, "--namespace", namespace, "--output", "json")
    data: dict[str, str] = json.loads(text).get("data", {})
    return {key: base64.b64decode(value).decode() for key, value in data.items()}


def _write_env(file: Path, uri: str, login: dict[str, str]) -> None:
    """What MLflow's client reads, with the authority in a file beside it."""
    authority = file.with_name(f"{file.name}.ca.crt")
    write_whole(authority, login["authority"])
    values = {
        "MLFLOW_TRACKING_URI": uri,
        "MLFLOW_TRACKING_USERNAME": login["user"],
        "MLFLOW_TRACKING_PASSWORD": login["password"],
        "MLFLOW_TRACKING_SERVER_CERT_PATH": str(authority.resolve()),
    }
    text = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in values.items())
    write_whole(file, text, private=True)


@contextmanager
def kubectl_of(kubeconfig: str) -> Iterator[Kubectl]:
    """Runs kubectl on the cluster of a kubeconfig, for as long as the block runs."""
    with kept(kubeconfig) as config:

        def ask(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
            return asked("kubectl", "--kubeconfig", str(config), "--request-timeout=60s", *command)

        yield ask


@contextmanager
def kept(text: str) -> Iterator[Path]:
    """A file of the caller's alone, for as long as the block runs."""
    handle, name = tempfile.mkstemp(prefix="kubeconfig-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        yield Path(name)
    finally:
        Path(name).unlink()
