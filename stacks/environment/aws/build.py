"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on each cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

import pulumi
import pulumi_aws

from trainyard.components.aws.budget import BudgetAlerts
from trainyard.components.aws.dns_firewall import DnsFirewall
from trainyard.components.aws.image_cache import CachedRegistryArgs, ImageCache
from trainyard.components.aws.network import Network
from trainyard.plan.parts import Plan
from trainyard.stacks.environment.aws.audit import make_audit
from trainyard.stacks.environment.aws.cluster import Shared, make_cluster, make_grounds
from trainyard.stacks.environment.aws.keys import Keys, make_keys
from trainyard.stacks.environment.aws.people import administrators_of, deployer
from trainyard.stacks.environment.aws.storage import make_database, make_storage
from trainyard.stacks.environment.ground import Foundation, resource_prefix


def build(plan: Plan) -> Foundation:
    """Makes the account with the clusters in it, and what only AWS needs on them."""
    aws = _provider(plan)
    on_aws = pulumi.ResourceOptions(providers=[aws])
    account = _account(plan, aws)
    deployed_by = deployer(aws)
    administrators = administrators_of(plan, deployed_by)
    keys = make_keys(plan, account, administrators, on_aws)
    network = _network(plan, account, keys, on_aws)
    _dns_firewall(plan, network, on_aws)
    _image_cache(plan, keys, on_aws)
    clusters = [make_cluster(plan, planned, account, network, keys, deployed_by, aws) for planned in plan.clusters]
    clients = {f"{resource_prefix(plan, made.planned)}cluster": made.cluster.security_group_id for made in clusters}
    storage = make_storage(plan, account, network, clients, keys, administrators, on_aws)
    database = make_database(plan, account, network, clients, keys, on_aws)
    budget = _budget(plan, account, keys, on_aws)
    return Foundation(
        clusters=make_grounds(plan, clusters, Shared(account, network, keys, storage, database), on_aws),
        outputs={
            "region": plan.ground.region,
            "dataBucket": storage.data_bucket["name"],
            "checkpointsBucket": storage.checkpoints_bucket["name"],
            "artifactsBucket": storage.artifacts_bucket["name"],
            "budget": budget.budget_name,
            "alertTopic": budget.topic_arn,
            **make_audit(plan, account, network, storage, clusters, keys, administrators, on_aws),
        },
    )


def _network(plan: Plan, account: pulumi.Input[str], keys: Keys, opts: pulumi.ResourceOptions) -> Network:
    own = plan.ground.network
    return Network(
        "network",
        {
            "cidr": own.cidr,
            "zones": [
                {
                    "name": zone.name,
                    "public_cidr": zone.public_cidr,
                    "private_cidr": zone.private_cidr,
                    "isolated_cidr": zone.isolated_cidr,
                    "control_cidr": zone.control_cidr,
                }
                for zone in own.zones
            ],
            "nat_gateways": own.nat_gateways,
            "gateway_endpoints": own.gateway_endpoints,
            "interface_endpoints": own.interface_endpoints,
            "region": plan.ground.region,
            "account_id": account,
            "organization_id": plan.ground.organization_id,
            "public_buckets": own.public_buckets,
            "flow_log_retention_days": own.flow_log_retention_days,
            "key_arn": keys.platform.key_arn,
            "cluster_names": [planned.name for planned in plan.clusters],
        },
        opts,
    )


def _dns_firewall(plan: Plan, network: Network, opts: pulumi.ResourceOptions) -> None:
    own = plan.ground.network
    if own.dns_firewall == "off":
        return
    names = [*plan.core.egress.allow, *own.dns_allow]
    DnsFirewall("dns", {"vpc_id": network.vpc_id, "names": names, "others": own.dns_firewall}, opts)


def _image_cache(plan: Plan, keys: Keys, opts: pulumi.ResourceOptions) -> None:
    cache = plan.ground.image_cache
    if cache is None:
        return
    registries: list[CachedRegistryArgs] = [
        {"upstream": each.upstream, "prefix": each.prefix, "credential_arn": each.credential_arn}
        for each in cache.upstreams
    ]
    ImageCache(
        "images",
        {
            "registries": registries,
            "repositories": cache.repositories,
            "key_arn": keys.platform.key_arn,
            "protect": plan.core.protect,
        },
        opts,
    )


def _budget(plan: Plan, account: pulumi.Input[str], keys: Keys, opts: pulumi.ResourceOptions) -> BudgetAlerts:
    own, alerts, tags = plan.core.budget, plan.ground.alerts, dict(plan.core.tags)
    return BudgetAlerts(
        "budget",
        {
            "account_id": account,
            "key_arn": keys.platform.key_arn,
            "budget_name": plan.core.name,
            "scope": {"key": "project", "value": tags["project"]},
            "monthly_usd": own.monthly_usd,
            "actual_percents": own.actual_percents,
            "forecast_percents": own.forecast_percents,
            "emails": own.alert_emails,
            "anomaly_threshold_usd": own.anomaly_threshold_usd,
            "anomaly_detection": alerts.anomaly_detection,
            "activate_cost_tags": alerts.activate_cost_tags,
            "cost_tag_keys": list(tags),
        },
        opts,
    )


def _provider(plan: Plan) -> pulumi_aws.Provider:
    return pulumi_aws.Provider(
        "aws",
        region=plan.ground.region,
        allowed_account_ids=[plan.ground.account_id] if plan.ground.account_id else None,
        default_tags={"tags": dict(plan.core.tags)},
    )


def _account(plan: Plan, aws: pulumi_aws.Provider) -> pulumi.Input[str]:
    if plan.ground.account_id is not None:
        return plan.ground.account_id
    caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws))
    account: pulumi.Output[str] = caller.account_id
    return account
