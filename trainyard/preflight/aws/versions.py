"""Whether the region offers the versions that the plan pins: Kubernetes, its add-ons, and the database."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from trainyard.account.aws import Account
from trainyard.plan.aws.parts import DatabasePlan, EksPlan
from trainyard.plan.parts import ClusterPlan
from trainyard.preflight.aws.subject import AwsSubject
from trainyard.preflight.model import Answer, Lines, lines_of
from trainyard.recorded.types import DATABASE

NAME: Final = "versions"
_line = lines_of(NAME)


def check(subject: AwsSubject, account: Account) -> Lines:
    """The control plane and each add-on of every cluster, then the database's engine in its class."""
    for cluster in subject.plan.clusters:
        yield from of_cluster(cluster, subject.plan.ground.control_plane(cluster.name), account)
    database = subject.plan.ground.database
    if database is not None and subject.resources.of(DATABASE):
        yield from _database(database, subject, account)


def of_cluster(cluster: ClusterPlan, control_plane: EksPlan, account: Account) -> Lines:
    """The version of Kubernetes, and each add-on in the build that is pinned for it."""
    yield from _kubernetes(cluster, account)
    yield from _add_ons(cluster, control_plane, account)


def _kubernetes(cluster: ClusterPlan, account: Account) -> Lines:
    wanted, what = cluster.kubernetes_version, f"Kubernetes {cluster.kubernetes_version}"
    offered = {
        each["clusterVersion"]: each for each in account.each("eks", "describe_cluster_versions", "clusterVersions")
    }
    found = offered.get(wanted)
    if found is None:
        there = ", ".join(sorted(offered, reverse=True)) or "none"
        yield _line(
            what, Answer.FAILS, f"EKS offers no {wanted} in {account.region}", f"set kubernetesVersion: {there}"
        )
        return
    status = str(found.get("versionStatus") or found.get("status", "")).lower().replace("_", " ")
    ends = found.get("endOfStandardSupportDate")
    until = f", standard support until {ends:%Y-%m-%d}" if isinstance(ends, datetime) else ""
    if status == "unsupported":
        yield _line(what, Answer.FAILS, f"EKS no longer supports {wanted}", "set a newer kubernetesVersion")
    elif status == "extended support":
        told = f"offered, in extended support{until}: the control plane costs six times as much"
        yield _line(what, Answer.FINE, told, "set a newer kubernetesVersion")
    else:
        yield _line(what, Answer.FINE, f"offered{until}")


def _add_ons(cluster: ClusterPlan, control_plane: EksPlan, account: Account) -> Lines:
    for add_on in control_plane.add_ons:
        what = f"{add_on.name} {add_on.version}"
        versions = [
            version["addonVersion"]
            for each in account.each(
                "eks",
                "describe_addon_versions",
                "addons",
                addonName=add_on.name,
                kubernetesVersion=cluster.kubernetes_version,
            )
            for version in each.get("addonVersions", ())
        ]
        if add_on.version in versions:
            yield _line(what, Answer.FINE, f"offered for Kubernetes {cluster.kubernetes_version}")
        else:
            newest = ", ".join(versions[:3]) or "none of it"
            told = f"EKS does not offer it for Kubernetes {cluster.kubernetes_version}; it offers {newest}"
            yield _line(what, Answer.FAILS, told, "use a release of Trainyard that pins one of them")


def _database(plan: DatabasePlan, subject: AwsSubject, account: Account) -> Lines:
    what = f"PostgreSQL {plan.engine_version} on {plan.instance_class}"
    options = list(
        account.each(
            "rds",
            "describe_orderable_db_instance_options",
            "OrderableDBInstanceOptions",
            Engine="postgres",
            EngineVersion=plan.engine_version,
            DBInstanceClass=plan.instance_class,
            Vpc=True,
        )
    )
    zones = {zone["Name"] for each in options for zone in each.get("AvailabilityZones", ())}
    ours = {zone.name for zone in subject.plan.ground.network.zones}
    if not options:
        yield _line(
            what,
            Answer.FAILS,
            f"RDS sells no such instance in {account.region}",
            "set another aws.databaseInstanceClass",
        )
    elif zones and not zones & ours:
        told = f"RDS sells it in {', '.join(sorted(zones))}, the network has {', '.join(sorted(ours))}"
        yield _line(what, Answer.FAILS, told, "name one of them in network.zones")
    elif plan.multi_az and not any(each.get("MultiAZCapable") for each in options):
        yield _line(what, Answer.FAILS, "RDS sells it without a standby", "set another aws.databaseInstanceClass")
    else:
        yield _line(what, Answer.FINE, "offered")
