"""Mutants of the walls that a list of breakages took down one at a time: each in the recorded demo stack."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from tests.policies.cases_reach import of_team
from tests.policies.mutants import DEPLOYMENT, QUOTA, Change, Mutant, drop, edit, put
from tests.policies.mutants_reach import _with as with_rule
from tests.policies.mutants_walls_network import ENDPOINT, POLICY
from tests.policies.mutants_walls_network import statement as in_policy
from tests.policies.rights_changes import ANN, CLUSTER_ROLE, ENTRY, account, added, bound, rule, statement
from trainyard.recorded.model import UNKNOWN

LIMITS, ACCOUNT = "kubernetes:core/v1:LimitRange", "kubernetes:core/v1:ServiceAccount"
VOLUME, INGRESS = "kubernetes:core/v1:PersistentVolume", "kubernetes:networking.k8s.io/v1:Ingress"
POINT = "aws:efs/accessPoint:AccessPoint"
TEMPLATE = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
CI = account("ci", "ci")
Into = Callable[[dict[str, Any]], None]


def server(change: Into) -> Change:
    """Changes the pods of the tracking server."""
    return edit(DEPLOYMENT, "mlflow-deployment", lambda inputs: change(inputs["spec"]["template"]["spec"]))


def _by_a_shell(pod: dict[str, Any]) -> None:
    (found,) = [one for one in pod["containers"] if one["name"] == "server"]
    found["command"] = ["sh", "-c", "exec mlflow server --host 0.0.0.0 $MLFLOW_OPTIONS"]
    found.pop("args", None)


def _by_a_script(pod: dict[str, Any]) -> None:
    (found,) = [one for one in pod["containers"] if one["name"] == "server"]
    found["command"] = ["sh", "/srv/start.sh"]
    found.pop("args", None)


def _with_a_token(pod: dict[str, Any]) -> None:
    source = {"serviceAccountToken": {"path": "token"}}
    pod["volumes"].append({"name": "token", "projected": {"sources": [source]}})


def _aggregated(to: str, *rules: dict[str, Any]) -> Change:
    labels = {f"rbac.authorization.k8s.io/aggregate-to-{to}": "true"}
    return added(CLUSTER_ROLE, "more", {"metadata": {"name": "more", "labels": labels}, "rules": list(rules)})


def _point(**inputs: Any) -> Change:
    return added(POINT, "more", {"fileSystemId": "fs-1", **inputs})


def _foreign(found: dict[str, Any]) -> None:
    for test in found["Condition"].values():
        for key in test:
            if key in ("aws:PrincipalAccount", "aws:ResourceAccount") and test[key] is not UNKNOWN:
                test[key] = "444455556666"


def _lines(name: str, direction: str, key: str) -> Change:
    return edit(POLICY, name, with_rule(direction, {key: [of_team("vision")]}))


def _anonymous(inputs: dict[str, Any]) -> None:
    text = base64.b64decode(inputs["userData"]).decode() + "\n# --anonymous-auth=true\n"
    inputs["userData"] = base64.b64encode(text.encode()).decode()


def _unasked(inputs: dict[str, Any]) -> None:
    text = inputs["data"]["squid.conf"]
    assert "http_access deny !allowed\n" in text
    inputs["data"]["squid.conf"] = text.replace("http_access deny !allowed\n", "")


ONE = {"uid": 1000, "gid": 1000}
HOME = {"path": "/home/vision"}
ALL_OF_ONE = ("ec2:AuthorizeSecurityGroupIngress", "ec2:ModifyInstanceMetadataOptions", "guardduty:UpdateDetector")
TRACKING, TOKEN, QUOTAS = "tracking-without-authentication", "needless-api-token", "team-without-quotas"
FILES, MORE, REACH = "file-system-open-to-the-network", "rights-that-lead-to-more", "team-reaches-another-team"

WALLS = (
    Mutant(FILES, "an access point of everything", change=_point(posixUser=ONE, rootDirectory={"path": "/"})),
    Mutant(FILES, "an access point as root", change=_point(posixUser={"uid": 0, "gid": 0}, rootDirectory=HOME)),
    Mutant(FILES, "an access point for whoever one says", change=_point(rootDirectory=HOME)),
    Mutant(
        "endpoint-without-policy",
        "another account's credentials",
        change=in_policy(ENDPOINT, "network-s3", "OwnBuckets", _foreign),
    ),
    *(
        Mutant("privilege-on-any-resource", action, change=statement("mlflow-role-policy", {"Action": action}))
        for action in ALL_OF_ONE
    ),
    Mutant(TRACKING, "by a shell", change=server(_by_a_shell)),
    Mutant(TRACKING, "by a script", change=server(_by_a_script)),
    Mutant(TOKEN, "by a volume", change=server(_with_a_token)),
    Mutant(
        TOKEN,
        "by a team's account",
        change=edit(ACCOUNT, "teams-vision-trainer", put("automountServiceAccountToken", value=True)),
    ),
    Mutant(
        QUOTAS,
        "a million pods",
        change=edit(QUOTA, "teams-vision-cpu-only", put("spec", "hard", "pods", value="1000000")),
    ),
    Mutant(QUOTAS, "no defaults", change=drop(LIMITS, "teams-vision-defaults")),
    Mutant(MORE, "view reads passwords", change=_aggregated("view", rule("get list", "secrets"))),
    Mutant(MORE, "edit changes queues", change=_aggregated("edit", rule("patch", "clusterqueues", "kueue.x-k8s.io"))),
    Mutant(MORE, "namespaces are made", change=bound(CI, rule("create", "namespaces"))),
    Mutant(MORE, "queues are changed", change=bound(CI, rule("update", "clusterqueues", "kueue.x-k8s.io"))),
    Mutant(MORE, "the system's settings", change=bound(CI, rule("patch", "configmaps"), namespace="kube-system")),
    Mutant(MORE, "a team's passwords", change=bound(CI, rule("get", "secrets"), namespace="team-vision")),
    Mutant(
        "person-of-several-teams",
        "of two",
        change=added(ENTRY, "ann", {"principalArn": ANN, "kubernetesGroups": ["team:vision", "team:language"]}),
    ),
    Mutant(
        "volume-with-the-drivers-rights",
        "somebody's disk for a team",
        change=added(
            VOLUME,
            "disk",
            {
                "metadata": {"name": "disk"},
                "spec": {
                    "claimRef": {"namespace": "team-vision", "name": "disk"},
                    "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-0123456789abcdef0"},
                },
            },
        ),
    ),
    Mutant(REACH, "half a way out", change=_lines("teams-tabular-allow-within-team", "egress", "to")),
    Mutant(REACH, "half a way in", change=_lines("teams-tabular-allow-within-team", "ingress", "from")),
    Mutant(
        "cached-images-can-change",
        "tags that move",
        change=added(TEMPLATE, "cache", {"prefix": "acme-demo", "appliedFors": ["PULL_THROUGH_CACHE"]}),
    ),
    Mutant(
        "public-load-balancer",
        "an ALB for everybody",
        change=added(
            INGRESS,
            "mlflow",
            {
                "metadata": {
                    "name": "mlflow",
                    "namespace": "mlflow",
                    "annotations": {"alb.ingress.kubernetes.io/scheme": "internet-facing"},
                },
                "spec": {"ingressClassName": "alb"},
            },
        ),
    ),
    Mutant(
        "shared-with-another-account",
        "a copy of the database",
        change=added("aws:rds/snapshot:Snapshot", "copy", {"sharedAccounts": ["444455556666"]}),
    ),
    Mutant(
        "shared-with-another-account",
        "a joined network",
        change=added("aws:ec2/vpcPeeringConnection:VpcPeeringConnection", "peer", {"peerOwnerId": "444455556666"}),
    ),
    Mutant(
        "subnet-routed-to-the-internet",
        "a gateway for a NAT",
        change=edit(
            "aws:ec2/route:Route",
            "network-private-us-east-1a-out",
            lambda inputs: (inputs.pop("natGatewayId"), inputs.update(gatewayId="igw-1")),
        ),
    ),
    Mutant(
        "kubelet-open-to-everybody",
        "by an option",
        change=edit("aws:ec2/launchTemplate:LaunchTemplate", "gpu-nodes-train-spot-template", _anonymous),
    ),
    Mutant(
        "proxy-lets-everything-out",
        "the list is not asked",
        change=edit("kubernetes:core/v1:ConfigMap", "egress-configuration", _unasked),
    ),
    Mutant(
        "platform-nodes-open-to-teams",
        "GPU nodes without a taint",
        change=edit("aws:eks/nodeGroup:NodeGroup", "gpu-nodes-train-spot", put("taints", value=[])),
    ),
    Mutant(
        "no-threat-detection",
        "findings that nobody is told",
        change=edit("aws:cloudwatch/eventRule:EventRule", "security-findings", put("state", value="DISABLED")),
    ),
    Mutant(
        "dns-open",
        "every name where the firewall fails",
        change=edit(
            "aws:route53/resolverFirewallConfig:ResolverFirewallConfig",
            "dns-config",
            put("firewallFailOpen", value="ENABLED"),
        ),
    ),
    *(
        Mutant(MORE, f"{verb} {thing}", change=bound(CI, rule(verb, thing, group)))
        for verb, thing, group in (
            ("update", "secrets", ""),
            ("patch", "serviceaccounts", ""),
            ("update", "endpointslices", "discovery.k8s.io"),
            ("delete", "validatingadmissionpolicybindings", "admissionregistration.k8s.io"),
            ("create", "jobsets", "jobset.x-k8s.io"),
        )
    ),
)
