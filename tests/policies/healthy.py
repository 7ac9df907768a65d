"""What is unusual and right: changes of recorded example stacks that no policy refuses."""

from __future__ import annotations

import json
from typing import Any

from tests.policies.breaking import (
    ACCOUNT_MEMBER,
    BUCKET_MEMBER,
    CLASS,
    CLUSTER_ROLE,
    CONFIG,
    ENDPOINT,
    FIREWALL,
    GCS,
    GUARD_BINDING,
    IAM_ROLE,
    INGRESS,
    KEY_MEMBER,
    MUTATING,
    NAMESPACE,
    OTHER,
    PROJECT_MEMBER,
    SQL,
    VOLUME,
    account,
    beside,
    both,
    bound,
    bucket,
    by_github,
    group,
    key,
    may,
    member,
    more,
    network,
    trusts,
)
from tests.policies.mutants import Change, edit, put

OWN = "123456789012"
PULLS = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]


def called(namespace: str) -> dict[str, Any]:
    """A peer: all pods of a namespace."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}}


def role(name: str, *statements: dict[str, Any]) -> Change:
    """A role more, by its trust."""
    document = {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", **one} for one in statements]}
    return beside(IAM_ROLE, name, {"name": name, "assumeRolePolicy": json.dumps(document)})


def webhook(**client: Any) -> Change:
    """A webhook that is asked about pods."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}]
    hooks = [{"name": "sidecar.example", "rules": rules, "clientConfig": client, "sideEffects": "None"}]
    return beside(MUTATING, "more", {"metadata": {"name": "more"}, "webhooks": hooks})


def disks(provisioner: str, **parameters: str) -> Change:
    """A class of disks more."""
    return beside(CLASS, "more", {"metadata": {"name": "more"}, "provisioner": provisioner, "parameters": parameters})


def listed(line: str) -> Change:
    """A name more on the proxy's list."""

    def into(inputs: dict[str, Any]) -> None:
        text = inputs["data"]["squid.conf"]
        inputs["data"]["squid.conf"] = text.replace("http_access", f"acl allowed dstdomain -n {line}\nhttp_access", 1)

    return edit(CONFIG, "egress-configuration", into)


def looked_up(name: str) -> Change:
    """A name more that is looked up."""
    return edit(
        "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
        "dns-allowed",
        lambda inputs: inputs["domains"].append(name),
    )


def fire(*sources: str, **more_: Any) -> Change:
    """A rule of a firewall more."""
    inputs = {"network": "projects/acme-ml/global/networks/network-vpc", "direction": "INGRESS"}
    ranges = {"sourceRanges": list(sources)} if sources else {}
    return beside(FIREWALL, "more", {**inputs, **ranges, "allows": [{"protocol": "tcp", "ports": ["22"]}], **more_})


DEMO: dict[str, Change] = {
    "people into Grafana from the ingress": network(
        "more", "monitoring", policyTypes=["Ingress"], ingress=[{"from": [called("ingress-nginx")]}]
    ),
    "a team's pods to a service of somebody else's": network(
        "more", "team-vision", policyTypes=["Egress"], egress=[{"to": [called("inference")], "ports": [{"port": 8080}]}]
    ),
    "a range of ports within a team": network(
        "more",
        "team-vision",
        policyTypes=["Ingress"],
        ingress=[{"from": [{"podSelector": {}}], "ports": [{"port": 29500, "endPort": 29600}]}],
    ),
    "a partner's addresses on 443": network(
        "more",
        "team-vision",
        policyTypes=["Egress"],
        egress=[{"to": [{"ipBlock": {"cidr": "198.51.100.0/24"}}], "ports": [{"port": 443}]}],
    ),
    "a namespace with the strictest rules": edit(
        NAMESPACE,
        "teams-vision-namespace",
        put("metadata", "labels", "pod-security.kubernetes.io/enforce", value="restricted"),
    ),
    "whoever is signed on finds the API's groups": bound(group("system:authenticated"), "system:discovery"),
    "people on call look at the tracking server's namespace": bound(group("platform:oncall"), "view", "mlflow"),
    "an exporter reads nodes": both(
        beside(
            CLUSTER_ROLE,
            "nodes",
            {
                "metadata": {"name": "nodes"},
                "rules": [
                    {"apiGroups": [""], "resources": ["nodes", "nodes/metrics", "pods"], "verbs": ["get", "list"]}
                ],
            },
        ),
        bound(account("exporter", "monitoring"), "nodes"),
    ),
    "a mesh's webhook": webhook(service={"namespace": "istio-system", "name": "istiod"}),
    "EKS's own webhook": webhook(url="https://127.0.0.1:23443/mutate"),
    "a guard that also writes down": edit(
        GUARD_BINDING, "kueue-gpu-guard-binding", put("spec", "validationActions", value=["Deny", "Audit"])
    ),
    "a guard of every namespace": edit(
        GUARD_BINDING, "kueue-gpu-guard-binding", lambda inputs: inputs["spec"].pop("matchResources")
    ),
    "faster disks": disks("ebs.csi.aws.com", type="io2", encrypted="true", kmsKeyId="arn:aws:kms:us-east-1:1:key/1"),
    "a volume of the ingest's": beside(
        VOLUME,
        "raw",
        {
            "metadata": {"name": "raw"},
            "spec": {
                "claimRef": {"namespace": "ingest", "name": "raw"},
                "csi": {
                    "driver": "s3.csi.aws.com",
                    "volumeHandle": "raw",
                    "volumeAttributes": {"bucketName": "raw", "authenticationSource": "pod"},
                },
                "mountOptions": ["prefix raw/"],
            },
        },
    ),
    "a role of a function": role("function", {"Principal": {"Service": "lambda.amazonaws.com"}}),
    "a role of EC2": role("machine", {"Principal": {"Service": "ec2.amazonaws.com"}}),
    "a role of a service for the account": role(
        "backup",
        {
            "Principal": {"Service": "backup.amazonaws.com"},
            "Condition": {"StringEquals": {"aws:SourceAccount": OWN}},
        },
    ),
    "a role of people who sign on": role(
        "people",
        {
            "Principal": {"AWS": f"arn:aws:iam::{OWN}:root"},
            "Condition": {"ArnLike": {"aws:PrincipalArn": f"arn:aws:iam::{OWN}:role/aws-reserved/sso.amazonaws.com/*"}},
        },
    ),
    "GitHub's environment of a repository": by_github(sub="repo:acme/infrastructure:environment:production"),
    "pods of the platform's namespaces": trusts(
        "autoscaler-role",
        lambda statements: statements[0]["Condition"]["StringEquals"].update(
            {"aws:RequestTag/kubernetes-service-account": ["cluster-autoscaler", "autoscaler"]}
        ),
    ),
    "looks at everything": may(
        "autoscaler-role-policy",
        Action=["ec2:Describe*", "cloudwatch:PutMetricData", "sts:GetCallerIdentity", "s3:ListAllMyBuckets"],
    ),
    "one role is taken": may(
        "autoscaler-role-policy", Action="sts:AssumeRole", Resource=f"arn:aws:iam::{OTHER}:role/dns"
    ),
    "one role is passed to one service": may(
        "mlflow-role-policy",
        Action="iam:PassRole",
        Resource=f"arn:aws:iam::{OWN}:role/jobs",
        Condition={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
    ),
    "one more bucket is read": may(
        "mlflow-role-policy", Action=["s3:GetObject"], Resource="arn:aws:s3:::public-models/*"
    ),
    "an auditor of another account reads": bucket(
        "acme-demo-data",
        more(
            Principal={"AWS": f"arn:aws:iam::{OTHER}:role/auditor"},
            Action="s3:GetObject",
            Resource="arn:aws:s3:::acme-demo-data-f6c28dc/*",
        ),
    ),
    "a service that writes logs uses the key": key(
        "platform-key",
        more(
            Principal={"Service": "logs.us-east-1.amazonaws.com"},
            Action=["kms:Decrypt", "kms:GenerateDataKey*"],
            Condition={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"arn:aws:logs:us-east-1:{OWN}:*"}},
        ),
    ),
    "images for one role of another account": beside(
        "aws:ecr/repositoryPolicy:RepositoryPolicy",
        "pull",
        {
            "repository": "x",
            "policy": json.dumps(
                {
                    "Statement": [
                        {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{OTHER}:role/pull"}, "Action": PULLS}
                    ]
                }
            ),
        },
    ),
    "an endpoint more": beside(
        ENDPOINT,
        "bedrock",
        {
            "serviceName": "com.amazonaws.us-east-1.bedrock-runtime",
            "vpcEndpointType": "Interface",
            "policy": json.dumps(
                {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": "*",
                            "Action": "bedrock:InvokeModel",
                            "Resource": "*",
                            "Condition": {"StringEquals": {"aws:PrincipalAccount": OWN}},
                        }
                    ]
                }
            ),
        },
    ),
    "a company's own networks": beside(
        INGRESS,
        "vpn",
        {"securityGroupId": "sg-1", "ipProtocol": "tcp", "fromPort": 443, "toPort": 443, "cidrIpv4": "10.0.0.0/8"},
    ),
    "a bastion whose containers ask for metadata": edit(
        "aws:ec2/instance:Instance", "bastion", put("metadataOptions", "httpPutResponseHopLimit", value=2)
    ),
    "a lock that nobody lifts": edit(
        "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration",
        "acme-demo-trail-logs-object-lock",
        put("rule", value={"defaultRetention": {"mode": "COMPLIANCE", "days": 365}}),
    ),
    "names of a company's": looked_up("*.acme.com."),
    "names at home": looked_up("*.corp.internal"),
    "a service's names by the proxy": listed(".githubusercontent.com"),
}

GCP: dict[str, Change] = {
    "people read the data": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "group:data@acme.example", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "somebody else's pipeline writes the data": member(
        BUCKET_MEMBER,
        "roles/storage.objectUser",
        "serviceAccount:etl@acme-data.iam.gserviceaccount.com",
        bucket="acme-demo-gcp-data-aa563e44",
    ),
    "logins by Identity-Aware Proxy": fire("35.235.240.0/20"),
    "health checks": fire("130.211.0.0/22", "35.191.0.0/16"),
    "machines of a tag": fire(sourceTags=["build"]),
    "what is denied": beside(
        FIREWALL,
        "deny",
        {"direction": "INGRESS", "sourceRanges": ["0.0.0.0/0"], "denies": [{"protocol": "all"}], "priority": 60000},
    ),
    "people on call look": member(PROJECT_MEMBER, "roles/viewer", "group:oncall@acme.example", project="acme-ml"),
    "the platform's people administer clusters": member(
        PROJECT_MEMBER, "roles/container.admin", "group:platform@acme.example", project="acme-ml"
    ),
    "a pod of the platform's as an account": member(
        ACCOUNT_MEMBER,
        "roles/iam.workloadIdentityUser",
        "serviceAccount:acme-ml.svc.id.goog[monitoring/prometheus]",
        serviceAccountId="projects/acme-ml/serviceAccounts/metrics@acme-ml.iam.gserviceaccount.com",
    ),
    "a service of Google's uses a key": member(
        KEY_MEMBER,
        "roles/cloudkms.cryptoKeyEncrypterDecrypter",
        "serviceAccount:service-123456789012@gcp-sa-pubsub.iam.gserviceaccount.com",
        cryptoKeyId="projects/acme-ml/locations/us-central1/keyRings/acme-demo-gcp-keys/cryptoKeys/acme-demo-gcp-data",
    ),
    "logs to a topic of the project": beside(
        "gcp:logging/projectSink:ProjectSink",
        "topic",
        {"destination": "pubsub.googleapis.com/projects/acme-ml/topics/audit", "project": "acme-ml", "filter": "x"},
    ),
    "a network of the same project": beside(
        "gcp:compute/networkPeering:NetworkPeering",
        "own",
        {
            "network": "projects/acme-ml/global/networks/network-vpc",
            "peerNetwork": "projects/acme-ml/global/networks/tools",
        },
    ),
    "a role of the project's that looks": beside(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "looks",
        {"roleId": "looks", "permissions": ["compute.instances.get", "storage.buckets.list"], "project": "acme-ml"},
    ),
    "certificates of clients at the database": edit(
        SQL,
        "acme-demo-gcp-mlflow",
        put("settings", "ipConfiguration", "sslMode", value="TRUSTED_CLIENT_CERTIFICATE_REQUIRED"),
    ),
    "data that nobody deletes for a month": edit(
        GCS, "acme-demo-gcp-data", put("retentionPolicy", value={"retentionPeriod": 2592000, "isLocked": False})
    ),
    "a machine without an address": beside(
        "gcp:compute/instance:Instance",
        "build",
        {"machineType": "e2-micro", "networkInterfaces": [{"network": "network-vpc"}]},
    ),
}
HEALTHY: dict[str, dict[str, Change]] = {"demo": DEMO, "demo-gcp": GCP}
