"""AWS as a ground: from the plan to the components of `trainyard.components.aws`.

What the workloads on each cluster need of it leaves as a `Ground`; nothing else of AWS is known to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import pulumi
import pulumi_aws

from trainyard.components.aws.backup_alerts import BackupAlerts, rule_pattern
from trainyard.components.aws.bastion import Bastion
from trainyard.components.aws.budget import BudgetAlerts, BudgetAlertsArgs
from trainyard.components.aws.database import Database
from trainyard.components.aws.dns_firewall import DnsFirewall
from trainyard.components.aws.existing_network import AnyNetwork, ExistingNetwork, ExistingNetworkArgs
from trainyard.components.aws.image_cache import CachedRegistryArgs, ImageCache
from trainyard.components.aws.network import Network
from trainyard.components.aws.storage import StorageTiers
from trainyard.conventions.aws import SAGEMAKER, bastion_name
from trainyard.plan.aws.parts import AwsPlan, ExistingNetworkPlan
from trainyard.plan.parts import Plan
from trainyard.stacks.environment.aws import managed
from trainyard.stacks.environment.aws.account import bind_roles, provider
from trainyard.stacks.environment.aws.audit import make_audit
from trainyard.stacks.environment.aws.keys import Keys, keeps_figures, make_keys
from trainyard.stacks.environment.aws.people import administrators_of, deployer
from trainyard.stacks.environment.aws.storage import make_database, make_storage
from trainyard.stacks.environment.ground import Foundation, Ground, resource_prefix

if TYPE_CHECKING:
    from trainyard.stacks.environment.aws.cluster import MadeCluster

_BACKUPS = "backups"
"""Logical name of what tells of backups."""


def build(plan: Plan[AwsPlan]) -> Foundation:
    """Makes the account with the clusters in it, and what only AWS needs on them."""
    bind_roles(plan.ground.roles)
    aws = provider(plan)
    on_aws = pulumi.ResourceOptions(providers=[aws])
    account = _account(plan, aws)
    deployed_by = deployer(aws)
    administrators = administrators_of(plan, deployed_by)
    keys = make_keys(plan, account, administrators, on_aws)
    network = _network(plan, account, keys, on_aws)
    _dns_firewall(plan, network, on_aws)
    _image_cache(plan, keys, on_aws)
    bastion = _bastion(plan, network, aws)
    clusters = _clusters(plan, account, network, keys, deployed_by, bastion, aws)
    clients = {f"{resource_prefix(plan, made.planned)}cluster": made.cluster.security_group_id for made in clusters}
    outside = managed.roles_outside(plan, account)
    storage = make_storage(plan, account, network, clients, keys, [*administrators, *outside], on_aws)
    database = make_database(plan, account, network, clients, keys, on_aws)
    backups = _backups(storage, database)
    budget = _budget(plan, account, keys, on_aws, told_of_backups=bool(backups))
    if backups:
        backups["runbooks"] = plan.core.runbooks
        BackupAlerts(_BACKUPS, {"topic_arn": budget.topic_arn, **backups}, on_aws)
    training = _managed(plan, account, network, storage, keys, budget, on_aws)
    return Foundation(
        clusters=_grounds(plan, clusters, account, network, keys, storage, database, budget, on_aws),
        outputs={
            "region": plan.ground.region,
            "dataBucket": storage.data_bucket["name"],
            "checkpointsBucket": storage.checkpoints_bucket["name"],
            "artifactsBucket": storage.artifacts_bucket["name"],
            "budget": budget.budget_name,
            "alertTopic": budget.topic_arn,
            **training,
            **make_audit(plan, account, network, storage, clusters, keys, administrators, on_aws),
        },
    )


def _clusters(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    network: AnyNetwork,
    keys: Keys,
    deployed_by: pulumi.Input[str],
    bastion: Bastion | None,
    aws: pulumi_aws.Provider,
) -> list[MadeCluster]:
    if not plan.clusters:
        return []
    # Their SDKs take a second, which an environment of managed training does not have to wait for.
    from trainyard.stacks.environment.aws.cluster import make_cluster

    return [make_cluster(plan, planned, account, network, keys, deployed_by, bastion, aws) for planned in plan.clusters]


def _grounds(
    plan: Plan[AwsPlan],
    clusters: Sequence[MadeCluster],
    account: pulumi.Input[str],
    network: AnyNetwork,
    keys: Keys,
    storage: StorageTiers,
    database: Database | None,
    budget: BudgetAlerts,
    on_aws: pulumi.ResourceOptions,
) -> Mapping[str, Ground]:
    if not clusters:
        return {}
    from trainyard.stacks.environment.aws.cluster import Shared, make_grounds

    return make_grounds(plan, clusters, Shared(account, network, keys, storage, database, budget.topic_arn), on_aws)


def _managed(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    network: AnyNetwork,
    storage: StorageTiers,
    keys: Keys,
    budget: BudgetAlerts,
    opts: pulumi.ResourceOptions,
) -> dict[str, pulumi.Input[Any]]:
    """Managed training, where the plan has it; what the stack reports of it."""
    if plan.ground.managed is None:
        return {}
    made = managed.make_managed(plan, plan.ground.managed, account, network, storage, keys, opts)
    managed.make_alarms(plan, made, budget, keys.platform.key_arn, account, opts)
    managed.make_proof(plan, made, storage, opts)
    return made.outputs


def _network(plan: Plan[AwsPlan], account: pulumi.Input[str], keys: Keys, opts: pulumi.ResourceOptions) -> AnyNetwork:
    own = plan.ground.network
    if own.existing is not None:
        return ExistingNetwork("network", _existing_network(plan, own.existing, account, keys), opts)
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
            "endpoint_zones": own.endpoint_zones,
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


def _existing_network(
    plan: Plan[AwsPlan], existing: ExistingNetworkPlan, account: pulumi.Input[str], keys: Keys
) -> ExistingNetworkArgs:
    own = plan.ground.network
    args: ExistingNetworkArgs = {
        "vpc_id": existing.vpc_id,
        "cidrs": own.cidrs,
        "zones": [
            {
                "name": zone.name,
                "private": {"id": ids.private, "cidr": zone.private_cidr},
                "isolated": {"id": ids.isolated, "cidr": zone.isolated_cidr},
                "control": {"id": ids.control, "cidr": zone.control_cidr},
            }
            for zone, ids in zip(own.zones, existing.subnets, strict=True)
        ],
        "route_table_ids": existing.route_tables,
        "gateway_endpoints": own.gateway_endpoints,
        "interface_endpoints": own.interface_endpoints,
        "endpoint_zones": own.endpoint_zones,
        "region": plan.ground.region,
        "account_id": account,
        "organization_id": plan.ground.organization_id,
        "public_buckets": own.public_buckets,
        "key_arn": keys.platform.key_arn,
    }
    if existing.flow_logs:
        args["flow_log_retention_days"] = own.flow_log_retention_days
    return args


def _dns_firewall(plan: Plan[AwsPlan], network: AnyNetwork, opts: pulumi.ResourceOptions) -> None:
    own = plan.ground.network
    if own.dns_firewall == "off":
        return
    sign_on = plan.core.mlflow.sign_on
    hubs = [host for one in plan.clusters if one.notebooks is not None for host in one.notebooks.sign_on.hosts]
    names = [*plan.core.egress.allow, *own.dns_allow, *([sign_on.keys_host] if sign_on else []), *hubs]
    DnsFirewall("dns", {"vpc_id": network.vpc_id, "names": names, "others": own.dns_firewall}, opts)


def _bastion(plan: Plan[AwsPlan], network: AnyNetwork, aws: pulumi_aws.Provider) -> Bastion | None:
    """The one of the environment, where a cluster of it is reached that way."""
    types = [plane.access.bastion for plane in plan.ground.control_planes if plane.access.bastion is not None]
    if not types:
        return None
    return Bastion(
        "bastion",
        {
            "vpc_id": network.vpc_id,
            "subnet_id": network.private_subnet_ids[plan.ground.network.zones[0].name],
            "instance_type": types[0],
            "name_tag": bastion_name(plan.core.name),
            "tags": dict(plan.core.tags),
        },
        pulumi.ResourceOptions(providers=[aws], depends_on=list(network.ways_out)),
    )


def _image_cache(plan: Plan[AwsPlan], keys: Keys, opts: pulumi.ResourceOptions) -> None:
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


class _Backups(TypedDict, total=False):
    file_system_arn: pulumi.Input[str]
    database_identifier: pulumi.Input[str]
    runbooks: str


def _backups(storage: StorageTiers, database: Database | None) -> _Backups:
    """What AWS backs up every day by itself, of which nobody hears where it does not."""
    found: _Backups = {}
    if storage.shared is not None:
        found["file_system_arn"] = storage.shared["arn"]
    if database is not None:
        found["database_identifier"] = database.identifier
    return found


def _budget(
    plan: Plan[AwsPlan],
    account: pulumi.Input[str],
    keys: Keys,
    opts: pulumi.ResourceOptions,
    *,
    told_of_backups: bool,
) -> BudgetAlerts:
    own, alerts, tags = plan.core.budget, plan.ground.alerts, dict(plan.core.tags)
    args: BudgetAlertsArgs = {
        "account_id": account,
        "key_arn": keys.platform.key_arn,
        "budget_name": plan.core.name,
        "monthly_usd": own.monthly_usd,
        "actual_percents": own.actual_percents,
        "forecast_percents": own.forecast_percents,
        "emails": own.alert_emails,
        "anomaly_threshold_usd": own.anomaly_threshold_usd,
        "anomaly_detection": alerts.anomaly_detection,
        "activate_cost_tags": alerts.activate_cost_tags,
        "cost_tag_keys": list(tags),
    }
    if keeps_figures(plan):
        args["figures_service"] = True
    rules = managed.alert_rules(plan, account)
    if told_of_backups:
        rules.append(rule_pattern(_BACKUPS, account, plan.ground.region))
    if rules:
        args["event_rule_arns"] = rules
    if not plan.ground.control_planes and not alerts.whole_account:
        # People make jobs and editors, and what they forget to tag no budget of a tag sees.
        args["services"] = [SAGEMAKER]
    elif not alerts.whole_account:
        args["scope"] = {"key": "project", "value": tags["project"]}
    return BudgetAlerts("budget", args, opts)


def _account(plan: Plan[AwsPlan], aws: pulumi_aws.Provider) -> pulumi.Input[str]:
    if plan.ground.account_id is not None:
        return plan.ground.account_id
    caller = pulumi_aws.get_caller_identity_output(opts=pulumi.InvokeOutputOptions(provider=aws))
    account: pulumi.Output[str] = caller.account_id
    return account
