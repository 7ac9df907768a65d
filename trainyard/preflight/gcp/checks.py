"""The questions to Google Cloud: who asks, the project with its billing and APIs, machines, versions, names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, NobodyError, ask, said
from trainyard.account.marks import marks_of
from trainyard.preflight.gcp import addresses, capacity, endpoint, quotas, rights, shared_network
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Line, Lines, Subject, lines_of
from trainyard.recorded.types import GCP_SERVICE

BEFORE: Final = ("serviceusage.googleapis.com", "cloudresourcemanager.googleapis.com")
"""APIs that have to be on before a program can switch on the others."""


def look(subject: Subject[Any], _: object = None) -> tuple[list[Line], bool]:
    """All questions about a stack on Google Cloud, and whether there was somebody to ask as."""
    on_gcp: GcpSubject = subject
    lines: list[Line] = []
    somebody = True
    for name, asks, check in QUESTIONS:
        try:
            lines.extend(check(on_gcp))
        except NobodyError as error:
            answer = Answer.FAILS if name == "identity" else Answer.UNKNOWN
            lines.append(Line(name, asks, answer, str(error), error.remedy if somebody else ""))
            somebody = False
        except CannotAskError as error:
            lines.append(Line(name, asks, Answer.UNKNOWN, str(error), error.remedy))
    return lines, somebody


def identity(_: GcpSubject) -> Lines:
    """Who asks, and that the program, which has credentials of its own, has some."""
    line = lines_of("identity")
    accounts = [each["account"] for each in ask("auth", "list", "--filter=status:ACTIVE") or ()]
    if not accounts:
        raise NobodyError("gcloud has no active account", "run `gcloud auth login`")
    yield line("account", Answer.FINE, f"as {accounts[0]}")
    try:
        said(["auth", "application-default", "print-access-token"])
    except CannotAskError:
        told = "Pulumi comes in with application-default credentials, and there are none that hold"
        yield line("credentials", Answer.FAILS, told, "log in for programs", "gcloud auth application-default login")
    else:
        yield line("credentials", Answer.FINE, "application-default credentials are there")


def project(subject: GcpSubject) -> Lines:
    """The project by its number, its billing, and the APIs that have to be on before the rest."""
    line, ground = lines_of("project"), subject.plan.ground
    found = ask("projects", "describe", ground.project)
    if found.get("lifecycleState") != "ACTIVE":
        yield line(ground.project, Answer.FAILS, f"it is {found.get('lifecycleState')}", "take another project")
    elif str(found.get("projectNumber")) != ground.project_number:
        told = f"its number is {found.get('projectNumber')}, the stack says {ground.project_number}"
        yield line(ground.project, Answer.FAILS, told, "correct gcp.projectNumber")
    else:
        yield line(ground.project, Answer.FINE, f"active, number {ground.project_number}")
    billing = ask("billing", "projects", "describe", ground.project)
    account = str(billing.get("billingAccountName", "")).removeprefix("billingAccounts/")
    if not billing.get("billingEnabled"):
        command = f"gcloud billing projects link {ground.project} --billing-account=ACCOUNT"
        yield line(
            "billing", Answer.FAILS, "it has no billing account: nothing that costs is made", "link one", command
        )
    elif ground.billing is not None and account != ground.billing.account:
        told = f"it is billed to {account}, the budget counts {ground.billing.account}: it would stay at 0"
        yield line("billing", Answer.FAILS, told, "correct gcp.billingAccount")
    else:
        yield line("billing", Answer.FINE, f"billed to {account}")
    yield from _apis(subject)


def _apis(subject: GcpSubject) -> Lines:
    line, ground = lines_of("project"), subject.plan.ground
    listed = ask("services", "list", "--enabled", f"--project={ground.project}") or ()
    there = {str(each["config"]["name"]) for each in listed}
    own = {str(each.inputs.get("service")) for each in subject.resources.of(GCP_SERVICE)}
    missing = [name for name in BEFORE if name not in there]
    for name in missing:
        command = f"gcloud services enable {name} --project={ground.project}"
        yield line(
            name, Answer.FAILS, "it is off, and the stack needs it to switch on the others", "switch it on", command
        )
    if not missing:
        yield line("APIs", Answer.FINE, f"{len(there & own)} of {len(own)} are on; the stack switches on the others")


def machines(subject: GcpSubject) -> Lines:
    """Whether the zones have the machine types."""
    line, ground = lines_of("offerings"), subject.plan.ground
    wanted = {
        (group.name, type_.partition("+")[0], group.zones)
        for cluster in subject.plan.clusters
        for group in cluster.node_groups
        for type_ in group.instance_types
    }
    if not wanted:
        return
    names = " ".join(sorted({type_ for _, type_, _ in wanted}))
    zones = ",".join(ground.zones)
    listed = ask(
        "compute",
        "machine-types",
        "list",
        f"--project={ground.project}",
        f"--zones={zones}",
        f"--filter=name=({names})",
    )
    there = {(each["name"], str(each["zone"]).rpartition("/")[2]) for each in listed or ()}
    for name, type_, places in sorted(wanted):
        found = [zone for zone in places if (type_, zone) in there]
        if found:
            yield line(name, Answer.FINE, f"{type_} is there in {', '.join(found)}")
        else:
            yield line(name, Answer.FAILS, f"no zone of {', '.join(places)} has {type_}", "choose another zone or GPU")


def versions(subject: GcpSubject) -> Lines:
    """Whether GKE's channel has the version of Kubernetes."""
    line, ground = lines_of("versions"), subject.plan.ground
    if not subject.plan.clusters:
        return
    config = ask("container", "get-server-config", f"--region={ground.region}", f"--project={ground.project}")
    channels = {each["channel"]: each.get("validVersions", ()) for each in config.get("channels", ())}
    for cluster in subject.plan.clusters:
        channel, wanted = ground.control_plane(cluster.name).release_channel, cluster.kubernetes_version
        offered = channels.get(channel, ())
        if any(version == wanted or version.startswith((f"{wanted}.", f"{wanted}-")) for version in offered):
            yield line(f"Kubernetes {wanted}", Answer.FINE, f"channel {channel} has it")
        else:
            there = ", ".join(sorted({".".join(version.split(".")[:2]) for version in offered})) or "none"
            yield line(f"Kubernetes {wanted}", Answer.FAILS, f"channel {channel} has {there}", "set kubernetesVersion")


def taken(subject: GcpSubject) -> Lines:
    """Whether a cluster of the name is there already."""
    line, ground = lines_of("already there"), subject.plan.ground
    if not subject.plan.clusters:
        return
    listed = ask("container", "clusters", "list", f"--region={ground.region}", f"--project={ground.project}") or ()
    labels = {str(each["name"]): each.get("resourceLabels") or {} for each in listed}
    own = marks_of(ground.labels)
    for cluster in subject.plan.clusters:
        if cluster.name not in labels:
            yield line(cluster.name, Answer.FINE, "there is no cluster of the name")
        elif own.items() <= labels[cluster.name].items():
            yield line(cluster.name, Answer.FINE, "it is this stack's, from an earlier `up`")
        else:
            told = f"there is a cluster {cluster.name} already, and it is not this stack's"
            yield line(cluster.name, Answer.FAILS, told, "give the stack another client or environment")


QUESTIONS: Final[tuple[tuple[str, str, Callable[[GcpSubject], Lines]], ...]] = (
    ("identity", "who asks", identity),
    ("project", "the project, its billing and its APIs", project),
    ("quotas", "whether quotas leave room for every GPU and vCPU", quotas.check),
    ("offerings", "whether the zones have the machines", machines),
    (capacity.NAME, "whether what is reserved is there", capacity.check),
    (rights.NAME, "whether the identity may make it", rights.check),
    (shared_network.NAME, "whether a Shared VPC is as the stack says", shared_network.check),
    (addresses.NAME, "whether addresses clash", addresses.check),
    ("versions", "whether the version is offered", versions),
    ("already there", "whether something of a name is there already", taken),
    (endpoint.NAME, "whether the cluster's API is reached from here", endpoint.check),
)
"""Name, what is asked in words, and who asks it."""
