"""A Shared VPC: whether this project is joined to its host, whether the network is as the stack says, and who may use
it."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Final

from trainyard.account.gcp import CannotAskError, ask, is_absence
from trainyard.conventions.gcp import GOOGLE_APIS_CIDR
from trainyard.plan.gcp.parts import GcpPlan, SharedNetworkPlan
from trainyard.preflight.gcp.subject import GcpSubject
from trainyard.preflight.model import Answer, Lines, lines_of

NAME: Final = "shared network"
_line = lines_of(NAME)
_USER: Final = "roles/compute.networkUser"
_GOOGLE: Final = "googleapis.com."
_HOST_AGENT: Final = "roles/container.hostServiceAgentUser"

_ELSEWHERE: Final = "unless a folder, the organisation or a group gives it"
_GIVE: Final = (
    "ask its administrators, or have them give the role once this project's APIs compute and container are on"
)


def check(subject: GcpSubject) -> Lines:
    """Nothing is asked of a network that the stack makes itself."""
    ground = subject.plan.ground
    shared = ground.network.shared
    if shared is None:
        return
    yield from _joined(ground, shared)
    yield from _subnet(ground, shared)
    yield from _names(shared)
    yield from _peering(ground, shared)
    if not shared.rights_by_stack:
        yield from _rights(ground, shared)


def _joined(ground: GcpPlan, shared: SharedNetworkPlan) -> Lines:
    found = ask("compute", "shared-vpc", "get-host-project", ground.project) or {}
    host = str(found.get("name", ""))
    if host == shared.project:
        yield _line(shared.project, Answer.FINE, f"it is the host project of {ground.project}")
        return
    told = f"the host project of {ground.project} is {host}" if host else f"{ground.project} has no host project"
    command = f"gcloud compute shared-vpc associated-projects add {ground.project} --host-project={shared.project}"
    yield _line(
        shared.project, Answer.FAILS, told, "have its administrators join the project, or correct the key", command
    )


def _subnet(ground: GcpPlan, shared: SharedNetworkPlan) -> Lines:
    where = (f"--region={ground.region}", f"--project={shared.project}")
    try:
        found = ask("compute", "networks", "subnets", "describe", shared.subnetwork, *where)
    except CannotAskError as error:
        if not is_absence(error):
            raise
        told = f"{shared.project} has no subnet {shared.subnetwork} in {ground.region}"
        yield _line(shared.subnetwork, Answer.FAILS, told, "correct gcp.sharedNetwork.subnetwork")
        return
    wrong = list(_differences(found, ground, shared))
    for told, remedy in wrong:
        yield _line(shared.subnetwork, Answer.FAILS, told, remedy)
    if not wrong:
        yield _line(shared.subnetwork, Answer.FINE, "network, ranges and private access are as the stack says")


def _differences(found: Any, ground: GcpPlan, shared: SharedNetworkPlan) -> Iterator[tuple[str, str]]:
    network = str(found.get("network", "")).rpartition("/")[2]
    if network != shared.network:
        yield f"it is of network {network}, not of {shared.network}", "correct gcp.sharedNetwork.network"
    ranges = {str(each.get("rangeName")): str(each.get("ipCidrRange")) for each in found.get("secondaryIpRanges") or ()}
    plan = ground.network
    if found.get("ipCidrRange") != plan.node_cidr:
        yield f"its range is {found.get('ipCidrRange')}, not {plan.node_cidr}", "correct gcp.sharedNetwork.nodeCidr"
    for name, cidr, key in (
        (shared.pod_range, plan.pod_cidr, "pod"),
        (shared.service_range, plan.service_cidr, "service"),
    ):
        if name not in ranges:
            known = ", ".join(sorted(ranges)) or "none"
            yield f"it has no secondary range {name}; it has {known}", f"correct gcp.sharedNetwork.{key}Range"
        elif ranges[name] != cidr:
            yield f"range {name} is {ranges[name]}, not {cidr}", f"correct gcp.sharedNetwork.{key}Cidr"
    if found.get("privateIpGoogleAccess") is not True:
        yield "nodes in it do not reach Google's services", "have private Google access switched on for the subnet"


def _names(shared: SharedNetworkPlan) -> Lines:
    """Pods are let out to the addresses of private access alone. Zones of the network may be another project's, by
    peering, and a policy of responses may answer instead: none of this network's own is no proof that there is none."""
    what = "names of Google's services"
    zones = ask("dns", "managed-zones", "list", f"--project={shared.project}") or ()
    own = [each for each in zones if each.get("dnsName") == _GOOGLE and shared.network in _networks(each)]
    remedy = (
        f"have its administrators make a private zone {_GOOGLE} on network {shared.network}: "
        f"*.{_GOOGLE} CNAME private.{_GOOGLE}, and that one A in {GOOGLE_APIS_CIDR}"
    )
    if not own:
        told = f"{shared.project} has no private zone {_GOOGLE} on network {shared.network}"
        yield _line(what, Answer.UNKNOWN, f"{told}; without another that answers, pods reach no bucket", remedy)
        return
    name = str(own[0].get("name"))
    records = ask("dns", "record-sets", "list", f"--zone={name}", f"--project={shared.project}") or ()
    wanted = IPv4Network(GOOGLE_APIS_CIDR)
    addresses = [str(one) for each in records if each.get("type") == "A" for one in each.get("rrdatas") or ()]
    every = any(each.get("name") == f"*.{_GOOGLE}" for each in records)
    if every and addresses and all(IPv4Address(one) in wanted for one in addresses):
        yield _line(what, Answer.FINE, f"zone {name} answers with {GOOGLE_APIS_CIDR}")
    else:
        has = ", ".join(sorted(addresses)) or "no address"
        told = f"zone {name} answers with {has}" if every else f"zone {name} has no record of *.{_GOOGLE}"
        yield _line(what, Answer.FAILS, f"{told}; pods are let out to {GOOGLE_APIS_CIDR} alone", remedy)


def _networks(zone: Any) -> set[str]:
    seen_by = (zone.get("privateVisibilityConfig") or {}).get("networks") or ()
    return {str(each.get("networkUrl", "")).rpartition("/")[2] for each in seen_by}


def _peering(ground: GcpPlan, shared: SharedNetworkPlan) -> Lines:
    """The database, Managed Lustre and Filestore have their addresses by it."""
    peerings = ask(
        "services", "vpc-peerings", "list", f"--network={shared.network}", f"--project={shared.project}"
    )  # fmt: skip
    names = [str(name) for each in peerings or () for name in each.get("reservedPeeringRanges") or ()]
    if not names:
        told = f"network {shared.network} has no private services access: database and file systems get no address"
        yield _line("private services access", Answer.FAILS, told, "have its administrators make the connection")
        return
    wanted = ground.network.private_services_cidr
    reserved = {
        f"{each.get('address')}/{each.get('prefixLength')}"
        for each in ask("compute", "addresses", "list", "--global", f"--project={shared.project}") or ()
        if each.get("name") in names
    }
    if wanted in reserved:
        yield _line("private services access", Answer.FINE, f"it is there, in {wanted}")
    else:
        told = f"its ranges are {', '.join(sorted(reserved)) or 'not told'}; the stack lets pods reach {wanted} alone"
        yield _line("private services access", Answer.FAILS, told, "correct gcp.sharedNetwork.privateServicesCidr")


def _rights(ground: GcpPlan, shared: SharedNetworkPlan) -> Lines:
    """What is not in the policies of subnet and host may come from a folder, the organisation or a group."""
    number = ground.project_number
    gke = f"serviceAccount:service-{number}@container-engine-robot.iam.gserviceaccount.com"
    machines = f"serviceAccount:{number}@cloudservices.gserviceaccount.com"
    where = (f"--region={ground.region}", f"--project={shared.project}")
    of_subnet = _members(ask("compute", "networks", "subnets", "get-iam-policy", shared.subnetwork, *where))
    of_host = _members(ask("projects", "get-iam-policy", shared.project))
    for member, what in ((gke, "GKE"), (machines, "Google APIs")):
        if (_USER, member) in of_subnet | of_host:
            yield _line(f"{what} on the subnet", Answer.FINE, f"it has {_USER}")
            continue
        command = (
            f"gcloud compute networks subnets add-iam-policy-binding {shared.subnetwork} --region={ground.region} "
            f"--project={shared.project} --role={_USER} --member={member}"
        )
        told = f"{member.partition(':')[2]} is not given {_USER} here; {_ELSEWHERE}, no node is made"
        yield _line(f"{what} on the subnet", Answer.UNKNOWN, told, _GIVE, command)
    if (_HOST_AGENT, gke) in of_host:
        yield _line("GKE in the host project", Answer.FINE, f"it has {_HOST_AGENT}")
    else:
        command = f"gcloud projects add-iam-policy-binding {shared.project} --role={_HOST_AGENT} --member={gke}"
        told = f"{gke.partition(':')[2]} is not given {_HOST_AGENT} here; {_ELSEWHERE}, no cluster is made"
        yield _line("GKE in the host project", Answer.UNKNOWN, told, _GIVE, command)


def _members(policy: Any) -> set[tuple[str, str]]:
    return {
        (str(binding.get("role")), str(member))
        for binding in (policy or {}).get("bindings") or ()
        if not binding.get("condition")
        for member in binding.get("members") or ()
    }
