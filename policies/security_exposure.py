"""Security: nothing is reachable from the internet that need not be: buckets, databases, endpoints, nodes."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import Severity

from trainyard.policies.access import internet, lets_everybody_in
from trainyard.policies.grants import EVERYBODY
from trainyard.policies.rules import Config, StackViolation, resource_rule, stack_rule
from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import called, statements
from trainyard.recorded.read import is_on, list_at, mappings_at, texts_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    ACCOUNT_PUBLIC_ACCESS,
    BUCKET,
    BUCKET_ACL,
    BUCKET_POLICY,
    BUCKET_PUBLIC_ACCESS,
    CLOUD_SQL,
    DATABASE,
    DATABASE_CLUSTER_INSTANCE,
    EKS_CLUSTER,
    GCP_ACCESS_LISTS,
    GCP_BUCKET,
    GCP_BUCKETS_ACCESS,
    GKE_CLUSTER,
)

BLOCKS = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
PUBLIC_ACLS = ("public-read", "public-read-write", "authenticated-read")


@stack_rule(
    "public-bucket",
    "No bucket can be made public, by access list or by policy.",
    types=(
        BUCKET,
        GCP_BUCKET,
        BUCKET_PUBLIC_ACCESS,
        ACCOUNT_PUBLIC_ACCESS,
        BUCKET_POLICY,
        BUCKET_ACL,
        *GCP_BUCKETS_ACCESS,
        *GCP_ACCESS_LISTS,
    ),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 2.1.4", "NIST 800-53r5 AC-3", "ISO 27001:2022 A.8.3"),
    fix="Use the storage tiers as they are; they block public access.",
)
def public_bucket(resources: Resources, _: Config) -> Iterator[StackViolation]:
    """Wants all four blocks, and no statement that lets everybody in even so."""
    for bucket in resources.of(BUCKET):
        blocks = [*resources.referring(bucket, "bucket", BUCKET_PUBLIC_ACCESS), *resources.of(ACCOUNT_PUBLIC_ACCESS)]
        off = [key for key in BLOCKS if not any(is_on(block.inputs, key) for block in blocks)]
        if off and not blocks:  # S3 blocks that of a new bucket, which whoever may change the bucket lifts
            yield bucket, f"nothing here keeps public access blocked: {', '.join(off)}"
        elif off:
            yield bucket, f"public access is not blocked: {', '.join(off)}"
    for policy in resources.of(BUCKET_POLICY, BUCKET):  # a bucket may have its policy within
        for statement in statements(policy.inputs, "policy"):
            if lets_everybody_in(statement):
                yield policy, f"{called(statement)} lets everybody in"
    for acl in resources.of(BUCKET_ACL):
        if value_at(acl.inputs, "acl") in PUBLIC_ACLS:
            yield acl, f"acl is {value_at(acl.inputs, 'acl')}"
    for bucket in resources.of(GCP_BUCKET):
        if value_at(bucket.inputs, "publicAccessPrevention") != "enforced":
            yield bucket, "publicAccessPrevention is not enforced"
    for entry in resources.of(*GCP_BUCKETS_ACCESS):
        if value_at(entry.inputs, "entity") in EVERYBODY:
            yield entry, f"lets {value_at(entry.inputs, 'entity')} in"
    for entry in resources.of(*GCP_ACCESS_LISTS):
        listed = [pair.partition(":")[2] for pair in texts_at(entry.inputs, "roleEntities")]
        who = next((each for each in listed if each in EVERYBODY), "")
        if value_at(entry.inputs, "predefinedAcl") in ("publicRead", "publicReadWrite", "authenticatedRead") or who:
            yield entry, f"is a list of access that lets {who or 'everybody'} in"


@resource_rule(
    "public-database",
    "A database has no public address.",
    types=(DATABASE, DATABASE_CLUSTER_INSTANCE, CLOUD_SQL),
    severity=Severity.CRITICAL,
    controls=("CIS AWS 3.0.0 2.3.3", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Leave publiclyAccessible off; reach the database from the cluster.",
)
def public_database(resource: RecordedResource, _: Config) -> Iterator[str]:
    """Asks the database itself for a public address, although its subnets are isolated anyway."""
    if is_on(resource.inputs, "publiclyAccessible"):
        yield "publiclyAccessible is on"
    if resource.type == CLOUD_SQL:
        network = value_at(resource.inputs, "settings", "ipConfiguration")
        address = value_at(network, "ipv4Enabled", default=True)  # Google's default
        if address not in (False, "false"):
            yield "settings.ipConfiguration.ipv4Enabled is not off"


@resource_rule(
    "public-cluster-endpoint",
    "The Kubernetes API is private, or public to named networks only.",
    types=(EKS_CLUSTER, GKE_CLUSTER),
    severity=Severity.CRITICAL,
    controls=("CIS EKS 1.5.0 5.4.2", "CIS EKS 1.5.0 5.4.1", "NIST 800-53r5 SC-7", "ISO 27001:2022 A.8.20"),
    fix="Narrow apiAccess.cidrs to the networks of your offices and runners.",
    config={
        "namedNetworks": {"type": "boolean", "default": True, "description": "Whether named networks are allowed."}
    },
)
def public_cluster_endpoint(resource: RecordedResource, config: Config) -> Iterator[str]:
    """AWS opens a public endpoint to everybody unless networks are named."""
    if resource.type.startswith("gcp:"):
        yield from _gke_endpoint(resource, config)
        return
    network = value_at(resource.inputs, "vpcConfig")
    if not is_on(network, "endpointPrivateAccess"):
        yield "endpointPrivateAccess is off: nodes reach the API over the internet"
    if value_at(network, "endpointPublicAccess", default=True) in (False, "false"):
        return
    networks = [str(cidr) for cidr in list_at(network, "publicAccessCidrs")]
    if not networks or any(map(internet, networks)):
        yield "the endpoint is open to the internet"
    elif not config["namedNetworks"]:
        yield f"the endpoint is open to {', '.join(networks)}"


def _gke_endpoint(cluster: RecordedResource, config: Config) -> Iterator[str]:
    """The name that IAM guards is no open door. The address is one, unless it is private or for named networks."""
    inputs = cluster.inputs
    if not is_on(inputs, "privateClusterConfig", "enablePrivateNodes"):
        yield "nodes have public addresses (privateClusterConfig.enablePrivateNodes)"
    by_address = value_at(inputs, "controlPlaneEndpointsConfig", "ipEndpointsConfig", "enabled", default=True)
    if is_on(inputs, "privateClusterConfig", "enablePrivateEndpoint") or by_address in (False, "false"):
        return
    named = value_at(inputs, "masterAuthorizedNetworksConfig")
    networks = [str(value_at(block, "cidrBlock", default="")) for block in mappings_at(named, "cidrBlocks")]
    if named is None or any(map(internet, networks)):
        yield "the endpoint is open to the internet"
    elif is_on(named, "gcpPublicCidrsAccessEnabled"):
        yield "the endpoint is open to every machine on Google Cloud, anybody's (gcpPublicCidrsAccessEnabled)"
    elif networks and not config["namedNetworks"]:
        yield f"the endpoint is open to {', '.join(networks)}"
