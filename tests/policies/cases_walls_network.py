"""Truth tables of the walls in and around the network."""

import json

from tests.policies.truth import NOT_APPLICABLE, OK, UNDECIDED, UNKNOWN, VIOLATED, kubernetes, made, table, team

ACCOUNT = "111122223333"
CLUSTER = made("aws:eks/cluster:Cluster", "cluster", {"kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"}})
VPC = made("aws:ec2/vpc:Vpc", "vpc", {"cidrBlock": "10.0.0.0/16"})
BUCKET = made("aws:s3/bucket:Bucket", "data", {})
DENY_ALL = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
EVERYWHERE = "0.0.0.0/0"


def plugin(**configuration):
    return made(
        "aws:eks/addon:Addon",
        "cni",
        {"addonName": "vpc-cni", "configurationValues": json.dumps(configuration) if configuration else None},
    )


def strict(mode="strict", enabled="true"):
    return plugin(enableNetworkPolicy=enabled, env={"NETWORK_POLICY_ENFORCING_MODE": mode})


def network_policy(namespace, **spec):
    return kubernetes("networking.k8s.io/v1:NetworkPolicy", "policy", namespace, spec={**DENY_ALL, **spec})


def namespace(name):
    return made("kubernetes:core/v1:Namespace", name, {"metadata": {"name": name}})


def release(name):
    return made("kubernetes:helm.sh/v3:Release", "chart", {"namespace": name, "chart": "kueue"})


def egress(cidr, *excepted, port=443):
    block = {"cidr": cidr, **({"except": list(excepted)} if excepted else {})}
    return [{"to": [{"ipBlock": block}], "ports": [{"port": port}]}]


def endpoint(*statements, service="com.amazonaws.us-east-1.s3"):
    document = {"policy": json.dumps({"Statement": list(statements)})} if statements else {}
    return made("aws:ec2/vpcEndpoint:VpcEndpoint", "endpoint", {"serviceName": service, **document})


def allow(equal=None, action="*", resource="*", operator="StringEquals"):
    condition = {"Condition": {operator: equal}} if equal else {}
    return {"Effect": "Allow", "Principal": "*", "Action": action, "Resource": resource, **condition}


def bound(condition=None, **changes):
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "arn:aws:s3:::data/*",
        "Condition": {"StringNotEquals": {"aws:SourceVpc": "vpc-1"}, **(condition or {})},
        **changes,
    }
    return made(
        "aws:s3/bucketPolicy:BucketPolicy",
        "policy",
        {"policy": json.dumps({"Statement": [statement]})},
        uses={"bucket": [BUCKET]},
    )


def firewall(action="BLOCK", domains=("*",), vpc=VPC):
    group = made("aws:route53/resolverFirewallRuleGroup:ResolverFirewallRuleGroup", "group", {})
    names = made(
        "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList", "names", {"domains": list(domains)}
    )
    rule = made(
        "aws:route53/resolverFirewallRule:ResolverFirewallRule",
        "rule",
        {"action": action},
        uses={"firewallRuleGroupId": [group], "firewallDomainListId": [names]},
    )
    association = made(
        "aws:route53/resolverFirewallRuleGroupAssociation:ResolverFirewallRuleGroupAssociation",
        "association",
        {},
        uses={"firewallRuleGroupId": [group], "vpcId": [vpc]},
    )
    return (group, names, rule, association)


OWN = {"aws:PrincipalAccount": ACCOUNT, "aws:ResourceAccount": ACCOUNT}
STS = "com.amazonaws.us-east-1.sts"

CASES = [
    *table(
        "network-policies-not-strict",
        ("strict", OK, (CLUSTER, strict())),
        ("standard", VIOLATED, (CLUSTER, strict("standard"))),
        ("no mode", VIOLATED, (CLUSTER, plugin(enableNetworkPolicy="true"))),
        ("not enforced", VIOLATED, (CLUSTER, strict(enabled="false"))),
        ("not configured", VIOLATED, (CLUSTER, plugin())),
        ("no add-on", VIOLATED, (CLUSTER,)),
        ("no cluster", NOT_APPLICABLE, (VPC,)),
        (
            "not known yet",
            UNDECIDED,
            (CLUSTER, made("aws:eks/addon:Addon", "cni", {"addonName": "vpc-cni", "configurationValues": UNKNOWN})),
        ),
    ),
    *table(
        "namespace-without-network-policy",
        ("all denied", OK, (namespace("kueue-system"), network_policy("kueue-system"))),
        ("all pods, with rules", OK, (namespace("a"), network_policy("a", egress=egress("10.0.0.0/16")))),
        ("none", VIOLATED, (namespace("kueue-system"),)),
        ("a chart in a namespace of the cluster's", VIOLATED, (release("kube-system"),)),
        ("such a chart behind a wall", OK, (release("kube-system"), network_policy("kube-system"))),
        ("another namespace's", VIOLATED, (namespace("a"), network_policy("b"))),
        ("pods not known yet", UNDECIDED, (namespace("a"), network_policy("a", policyTypes=UNKNOWN))),
        ("some pods", VIOLATED, (namespace("a"), network_policy("a", podSelector={"matchLabels": {"a": "b"}}))),
        ("one direction", VIOLATED, (namespace("a"), network_policy("a", policyTypes=["Ingress"]))),
        ("a team's has a policy of its own", OK, (team("a"),)),
    ),
    *table(
        "platform-namespace-open",
        (
            "one namespace",
            OK,
            (network_policy("a", ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"x": "y"}}}]}]),),
        ),
        ("no peers", VIOLATED, (network_policy("a", ingress=[{"ports": [{"port": 443}]}]),)),
        ("every namespace", VIOLATED, (network_policy("a", ingress=[{"from": [{"namespaceSelector": {}}]}]),)),
        ("the internet", VIOLATED, (network_policy("a", ingress=[{"from": [{"ipBlock": {"cidr": EVERYWHERE}}]}]),)),
        ("names are for everybody", OK, (network_policy("a", ingress=[{"ports": [{"port": 53, "protocol": "UDP"}]}]),)),
        ("names and more", VIOLATED, (network_policy("a", ingress=[{"ports": [{"port": 53}, {"port": 80}]}]),)),
        ("a range from names on", VIOLATED, (network_policy("a", ingress=[{"ports": [{"port": 53, "endPort": 99}]}]),)),
        ("not known yet", UNDECIDED, (network_policy("a", ingress=UNKNOWN),)),
        ("out to the internet on one port", OK, (network_policy("a", egress=egress(EVERYWHERE)),)),
        ("out on every port", VIOLATED, (network_policy("a", egress=[{"to": [{"ipBlock": {"cidr": EVERYWHERE}}]}]),)),
        ("out to whomever", VIOLATED, (network_policy("a", egress=[{"ports": [{"port": 443}]}]),)),
        ("a team's has a policy of its own", OK, (team("a"), network_policy("team-a", ingress=[{}]))),
    ),
    *table(
        "team-egress-reaches-network",
        (
            "the store's addresses",
            OK,
            (VPC, CLUSTER, team("t"), network_policy("team-t", egress=egress("52.216.0.0/15"))),
        ),
        ("everywhere", VIOLATED, (VPC, CLUSTER, team("t"), network_policy("team-t", egress=egress(EVERYWHERE)))),
        (
            "a port of whatever is there",
            VIOLATED,
            (VPC, team("t"), network_policy("team-t", egress=[{"ports": [{"port": 443}]}])),
        ),
        (
            "names of whatever is there",
            OK,
            (VPC, team("t"), network_policy("team-t", egress=[{"ports": [{"port": 53}]}])),
        ),
        (
            "but the metadata",
            VIOLATED,
            (VPC, team("t"), network_policy("team-t", egress=egress(EVERYWHERE, "169.254.0.0/16"))),
        ),
        (
            "but everything inside",
            OK,
            (
                VPC,
                CLUSTER,
                team("t"),
                network_policy(
                    "team-t", egress=egress(EVERYWHERE, "10.0.0.0/8", "172.16.0.0/12", "169.254.169.254/32")
                ),
            ),
        ),
        ("a part of the network", VIOLATED, (VPC, team("t"), network_policy("team-t", egress=egress("10.0.32.0/19")))),
        (
            "half of it is excepted",
            VIOLATED,
            (VPC, team("t"), network_policy("team-t", egress=egress("10.0.0.0/8", "10.0.0.0/17"))),
        ),
        ("the services", VIOLATED, (CLUSTER, team("t"), network_policy("team-t", egress=egress("172.20.0.1/32")))),
        (
            "the agent of identities",
            OK,
            (VPC, team("t"), network_policy("team-t", egress=egress("169.254.170.23/32", port=80))),
        ),
        ("not known yet", UNDECIDED, (VPC, team("t"), network_policy("team-t", egress=UNKNOWN))),
        ("the platform's own", OK, (VPC, team("t"), network_policy("kueue-system", egress=egress(EVERYWHERE)))),
    ),
    *table(
        "endpoint-without-policy",
        ("none", VIOLATED, (endpoint(),)),
        ("AWS's default", VIOLATED, (endpoint(allow()),)),
        ("own principals and resources", OK, (endpoint(allow(OWN)),)),
        ("the organisation's", OK, (endpoint(allow({"aws:PrincipalOrgID": "o-1", "aws:ResourceOrgID": "o-1"})),)),
        ("S3 for own principals alone", VIOLATED, (endpoint(allow({"aws:PrincipalAccount": ACCOUNT})),)),
        ("another service for own principals", OK, (endpoint(allow({"aws:PrincipalAccount": ACCOUNT}), service=STS),)),
        ("any account", VIOLATED, (endpoint(allow({"aws:ResourceAccount": "*"})),)),
        ("if it says so", VIOLATED, (endpoint(allow(OWN, operator="StringEqualsIfExists")),)),
        ("all but one", VIOLATED, (endpoint(allow(OWN, operator="StringNotEquals")),)),
        ("a public bucket is read", OK, (endpoint(allow(OWN), allow(None, "s3:GetObject", "arn:aws:s3:::crawl/*")),)),
        ("it is written", VIOLATED, (endpoint(allow(OWN), allow(None, "s3:PutObject", "arn:aws:s3:::crawl/*")),)),
        ("all buckets are read", VIOLATED, (endpoint(allow(OWN), allow(None, "s3:GetObject", "arn:aws:s3:::*/*")),)),
        (
            "not known yet",
            UNDECIDED,
            (made("aws:ec2/vpcEndpoint:VpcEndpoint", "e", {"serviceName": STS, "policy": UNKNOWN}),),
        ),
    ),
    *table(
        "bucket-without-network-binding",
        ("no policy", VIOLATED, (BUCKET,)),
        ("bound", OK, (BUCKET, bound())),
        ("to an endpoint", OK, (BUCKET, bound(Condition={"StringNotEqualsIfExists": {"aws:SourceVpce": "vpce-1"}}))),
        (
            "but an administrator",
            OK,
            (BUCKET, bound({"ArnNotLike": {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/a"}})),
        ),
        ("but services of AWS", OK, (BUCKET, bound({"Bool": {"aws:PrincipalIsAWSService": "false"}}))),
        ("services of AWS alone", VIOLATED, (BUCKET, bound({"Bool": {"aws:PrincipalIsAWSService": "true"}}))),
        ("but everybody", VIOLATED, (BUCKET, bound({"ArnNotLike": {"aws:PrincipalArn": "*"}}))),
        (
            "one role alone",
            VIOLATED,
            (BUCKET, bound({"ArnLike": {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/a"}})),
        ),
        ("inside is denied", VIOLATED, (BUCKET, bound(Condition={"StringEquals": {"aws:SourceVpc": "vpc-1"}}))),
        ("from another address", VIOLATED, (BUCKET, bound({"NotIpAddress": {"aws:SourceIp": "10.0.0.0/8"}}))),
        ("a prefix alone", VIOLATED, (BUCKET, bound(Resource="arn:aws:s3:::data/a/*"))),
        ("reads alone", VIOLATED, (BUCKET, bound(Action="s3:GetObject*"))),
        ("allowed", VIOLATED, (BUCKET, bound(Effect="Allow"))),
        (
            "not known yet",
            UNDECIDED,
            (
                BUCKET,
                made("aws:s3/bucketPolicy:BucketPolicy", "policy", {"policy": UNKNOWN}, uses={"bucket": [BUCKET]}),
            ),
        ),
        ("one principal", VIOLATED, (BUCKET, bound(Principal={"AWS": f"arn:aws:iam::{ACCOUNT}:role/a"}))),
    ),
    *table(
        "dns-open",
        ("no firewall", VIOLATED, (VPC,)),
        ("refused", OK, (VPC, *firewall())),
        ("counted", VIOLATED, (VPC, *firewall("ALERT"))),
        ("some names", VIOLATED, (VPC, *firewall(domains=["*.xyz"]))),
        ("not known yet", UNDECIDED, (VPC, *firewall(UNKNOWN))),
        ("of another network", VIOLATED, (VPC, *firewall(vpc=made("aws:ec2/vpc:Vpc", "other", {})))),
        ("no network", NOT_APPLICABLE, (CLUSTER,)),
    ),
]
