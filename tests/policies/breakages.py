"""Breakages of walls in the recorded example stacks of both clouds, by stack: one change each."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.policies.mutants import Change, Resources, drop, edit, put
from trainyard.recorded.model import RecordedResource

Into = Callable[[dict[str, Any]], Any]

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
NAMESPACE, DEPLOYMENT = "kubernetes:core/v1:Namespace", "kubernetes:apps/v1:Deployment"
VOLUME, CLASS = "kubernetes:core/v1:PersistentVolume", "kubernetes:storage.k8s.io/v1:StorageClass"
ADMISSION = "kubernetes:admissionregistration.k8s.io/v1:"
GUARD, GUARD_BINDING = f"{ADMISSION}ValidatingAdmissionPolicy", f"{ADMISSION}ValidatingAdmissionPolicyBinding"
MUTATING = f"{ADMISSION}MutatingWebhookConfiguration"
RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
ROLE, CLUSTER_ROLE = f"{RBAC}Role", f"{RBAC}ClusterRole"
BINDING, CLUSTER_BINDING = f"{RBAC}RoleBinding", f"{RBAC}ClusterRoleBinding"
CONFIG, QUOTA, LIMITS = (f"kubernetes:core/v1:{kind}" for kind in ("ConfigMap", "ResourceQuota", "LimitRange"))
RELEASE = "kubernetes:helm.sh/v3:Release"
KEY, BUCKET_POLICY, ENDPOINT = "aws:kms/key:Key", "aws:s3/bucketPolicy:BucketPolicy", "aws:ec2/vpcEndpoint:VpcEndpoint"
IAM_ROLE, INLINE = "aws:iam/role:Role", "aws:iam/rolePolicy:RolePolicy"
ATTACHED = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
TEMPLATE, CLUSTER = "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/cluster:Cluster"
INGRESS, GROUP = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", "aws:ec2/securityGroup:SecurityGroup"
TRAIL = "aws:cloudtrail/trail:Trail"
GKE, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
PROJECT_MEMBER, BUCKET_MEMBER = "gcp:projects/iAMMember:IAMMember", "gcp:storage/bucketIAMMember:BucketIAMMember"
ACCOUNT_MEMBER, KEY_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember", "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
GCS, FIREWALL = "gcp:storage/bucket:Bucket", "gcp:compute/firewall:Firewall"
SQL = "gcp:sql/databaseInstance:DatabaseInstance"
OTHER = "444455556666"
POOL_OF = (
    "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/acme-ml.svc.id.goog"
)
VISION = f"{POOL_OF}/subject/ns/team-vision/sa/trainer"
POOL_SET = POOL_OF.replace("principal://", "principalSet://")


def beside(type_: str, name: str, inputs: Mapping[str, Any]) -> Change:
    """A resource more, beside one of the same type, else of the same provider's (an object of a team's, a role)."""

    def change(resources: Resources) -> list[RecordedResource]:
        kin = [found for found in resources if found.type == type_]
        kin += [found for found in resources if found.custom and found.type.split(":")[0] == type_.split(":")[0]]
        urn = f"{kin[0].urn.rsplit('::', 2)[0]}::{type_}::{name}"
        new = replace(kin[0], type=type_, name=name, urn=urn, inputs=dict(inputs), property_dependencies={}, outputs={})
        return [*resources, new]

    return change


def document(key: str, change: Callable[[list[dict[str, Any]]], Any]) -> Into:
    """Changes the statements of a policy that stands as JSON in an input."""

    def into(inputs: dict[str, Any]) -> None:
        found = json.loads(inputs[key])
        before = copy.deepcopy(found)
        change(found["Statement"])
        assert found != before, f"nothing changed in {key}"
        inputs[key] = json.dumps(found)

    return into


def sid(name: str, change: Into) -> Callable[[list[dict[str, Any]]], None]:
    """Changes the one statement of that Sid."""
    return lambda statements: change(next(one for one in statements if one.get("Sid") == name))


def without_sid(name: str) -> Callable[[list[dict[str, Any]]], None]:
    """Takes the statement of that Sid away."""
    return lambda statements: statements.remove(next(one for one in statements if one.get("Sid") == name))


def more(**statement: Any) -> Callable[[list[dict[str, Any]]], None]:
    """One statement more."""
    return lambda statements: statements.append({"Effect": "Allow", "Resource": "*", **statement})


def may(role: str, **statement: Any) -> Change:
    """A right more in the inline policy of a role."""
    return edit(INLINE, role, document("policy", more(**statement)))


def bucket(name: str, change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    return edit(BUCKET_POLICY, f"{name}-policy", document("policy", change))


def key(name: str, change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    return edit(KEY, name, document("policy", change))


def trusts(name: str, change: Callable[[list[dict[str, Any]]], Any]) -> Change:
    return edit(IAM_ROLE, name, document("assumeRolePolicy", change))


def first(change: Into) -> Callable[[list[dict[str, Any]]], None]:
    return lambda statements: change(statements[0])


def network(name: str, namespace: str, **spec: Any) -> Change:
    return beside(
        NETWORK_POLICY, name, {"metadata": {"name": name, "namespace": namespace}, "spec": {"podSelector": {}, **spec}}
    )


def bound(subject: Mapping[str, str], role: str, namespace: str = "", kind: str = "ClusterRole") -> Change:
    meta = {"name": "extra"} | ({"namespace": namespace} if namespace else {})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role}
    return beside(
        BINDING if namespace else CLUSTER_BINDING,
        "extra",
        {"metadata": meta, "roleRef": reference, "subjects": [dict(subject)]},
    )


def rules(type_: str, name: str, **rule: Any) -> Change:
    one = {"apiGroups": [""], **rule}
    return edit(type_, name, lambda inputs: inputs["rules"].append(one))


def pod_of(deployment: str, change: Into) -> Change:
    return edit(DEPLOYMENT, deployment, lambda inputs: change(inputs["spec"]["template"]["spec"]))


def argument(old: str, new: str) -> Change:
    """Tells the tracking server something else."""

    def change(pod: dict[str, Any]) -> None:
        text = json.dumps(pod["containers"])
        assert old in text, f"no {old}"
        pod["containers"] = json.loads(text.replace(old, new))

    return pod_of("mlflow-deployment", change)


def member(type_: str, role: str, who: str, **inputs: Any) -> Change:
    return beside(type_, "extra", {"role": role, "member": who, **inputs})


def group(name: str) -> dict[str, str]:
    return {"kind": "Group", "name": name, "apiGroup": "rbac.authorization.k8s.io"}


def account(name: str, namespace: str) -> dict[str, str]:
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def nobody_but(labels: Mapping[str, str]) -> Into:
    return put("spec", "matchResources", "namespaceSelector", value={"matchLabels": dict(labels)})


def _nothing(key_: str) -> Into:
    return lambda inputs: inputs.pop(key_)


def not_vision(inputs: dict[str, Any]) -> None:
    inputs["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"].append(
        {"key": "ml.platform/team", "operator": "NotIn", "values": ["vision"]}
    )


VAULT = {"Service": "pods.eks.amazonaws.com"}
EVERYTHING = {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}
DEMO: dict[str, Change] = {
    "pods of a team are only warned": edit(
        NAMESPACE,
        "teams-vision-namespace",
        lambda inputs: inputs["metadata"]["labels"].pop("pod-security.kubernetes.io/enforce"),
    ),
    "pods of a team are privileged": edit(
        NAMESPACE,
        "teams-vision-namespace",
        put("metadata", "labels", "pod-security.kubernetes.io/enforce", value="privileged"),
    ),
    "a namespace that says no team": edit(
        NAMESPACE, "teams-vision-namespace", lambda inputs: inputs["metadata"]["labels"].pop("ml.platform/team")
    ),
    "a default-deny with an empty rule": edit(
        NETWORK_POLICY, "teams-vision-default-deny", put("spec", "ingress", value=[{}])
    ),
    "a default-deny of what comes in alone": edit(
        NETWORK_POLICY, "teams-vision-default-deny", put("spec", "policyTypes", value=["Ingress"])
    ),
    "a team's pods by whoever is anywhere": network(
        "more",
        "team-vision",
        policyTypes=["Ingress"],
        ingress=[{"from": [{"namespaceSelector": {}, "podSelector": {}}]}],
    ),
    "a team's pods by one port from anywhere": network(
        "more", "team-vision", policyTypes=["Ingress"], ingress=[{"ports": [{"port": 8888}]}]
    ),
    "everything out but one address": network(
        "more",
        "team-vision",
        policyTypes=["Egress"],
        egress=[{"to": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": ["10.0.0.0/8"]}}]}],
    ),
    "half of the internet": network(
        "more",
        "team-vision",
        policyTypes=["Egress"],
        egress=[{"to": [{"ipBlock": {"cidr": "128.0.0.0/1"}}], "ports": [{"port": 443}]}],
    ),
    "all of IPv6": network(
        "more", "team-vision", policyTypes=["Egress"], egress=[{"to": [{"ipBlock": {"cidr": "::/0"}}]}]
    ),
    "a team's pods out to Kueue": network(
        "more",
        "team-vision",
        policyTypes=["Egress"],
        egress=[{"to": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kueue-system"}}}]}],
    ),
    "names asked of anybody": network(
        "more",
        "team-vision",
        policyTypes=["Egress"],
        egress=[{**EVERYTHING, "ports": [{"port": 53, "protocol": "UDP"}]}],
    ),
    "one team's pods may into another's": network(
        "more",
        "team-language",
        policyTypes=["Ingress"],
        ingress=[{"from": [{"namespaceSelector": {"matchLabels": {"ml.platform/team": "vision"}}}]}],
    ),
    "the tracking server by whoever is in the cluster": network(
        "more", "mlflow", policyTypes=["Ingress"], ingress=[{"from": [{"namespaceSelector": {}}]}]
    ),
    "Grafana by the teams": network(
        "more",
        "monitoring",
        policyTypes=["Ingress"],
        ingress=[
            {"from": [{"namespaceSelector": {"matchExpressions": [{"key": "ml.platform/team", "operator": "Exists"}]}}]}
        ],
    ),
    "a team's role to whoever is signed on": bound(group("system:authenticated"), "team-member", "team-vision", "Role"),
    "a team's role to every service account": bound(
        group("system:serviceaccounts"), "team-member", "team-vision", "Role"
    ),
    "a team's role to another team": bound(group("team:language"), "team-member", "team-vision", "Role"),
    "a team's role to another team's pods": bound(account("trainer", "team-language"), "edit", "team-vision"),
    "a team is admin of its namespace": bound(group("team:vision"), "admin", "team-vision"),
    "a team edits its namespace": bound(group("team:vision"), "edit", "team-vision"),
    "a team views everything": bound(group("team:vision"), "view"),
    "training pods view everything": bound(account("trainer", "team-vision"), "view"),
    "training pods may read secrets": bound(account("trainer", "team-vision"), "edit", "team-vision"),
    "escalate": rules(
        ROLE, "teams-vision-member", apiGroups=["rbac.authorization.k8s.io"], resources=["roles"], verbs=["escalate"]
    ),
    "bind": rules(
        ROLE,
        "teams-vision-member",
        apiGroups=["rbac.authorization.k8s.io"],
        resources=["rolebindings"],
        verbs=["create"],
    ),
    "impersonate": rules(CLUSTER_ROLE, "teams-reader", resources=["groups"], verbs=["impersonate"]),
    "secrets are listed": rules(ROLE, "teams-vision-member", resources=["secrets"], verbs=["list"]),
    "tokens are made": rules(ROLE, "teams-vision-member", resources=["serviceaccounts/token"], verbs=["create"]),
    "containers in running pods": rules(
        ROLE, "teams-vision-member", resources=["pods/ephemeralcontainers"], verbs=["patch"]
    ),
    "workloads are admitted by hand": rules(
        ROLE, "teams-vision-member", apiGroups=["kueue.x-k8s.io"], resources=["workloads/status"], verbs=["patch"]
    ),
    "a queue of one's own": rules(
        ROLE, "teams-vision-member", apiGroups=["kueue.x-k8s.io"], resources=["localqueues"], verbs=["create"]
    ),
    "everything of a team's namespace": rules(
        ROLE, "teams-vision-member", apiGroups=["*"], resources=["*"], verbs=["get", "list"]
    ),
    "network policies of one's own": rules(
        ROLE,
        "teams-vision-member",
        apiGroups=["networking.k8s.io"],
        resources=["networkpolicies"],
        verbs=["create", "delete"],
    ),
    "claims of one's own are changed": rules(
        ROLE, "teams-vision-member", resources=["resourcequotas"], verbs=["update"]
    ),
    "services of one's own": rules(ROLE, "teams-vision-member", resources=["services", "endpoints"], verbs=["create"]),
    "nodes by the proxy": rules(CLUSTER_ROLE, "teams-reader", resources=["nodes/proxy"], verbs=["get"]),
    "all pods are seen": rules(CLUSTER_ROLE, "teams-reader", resources=["pods"], verbs=["list"]),
    "all pods' logs": rules(CLUSTER_ROLE, "teams-reader", resources=["pods/log"], verbs=["get"]),
    "a keeper reads all secrets": rules(CLUSTER_ROLE, "kueue-proofs-role", resources=["secrets"], verbs=["list"]),
    "a keeper makes pods": rules(CLUSTER_ROLE, "kueue-proofs-role", resources=["pods"], verbs=["create"]),
    "certificates are approved": rules(
        CLUSTER_ROLE,
        "kueue-proofs-role",
        apiGroups=["certificates.k8s.io"],
        resources=["certificatesigningrequests/approval"],
        verbs=["update"],
    ),
    "an aggregated role of everything": beside(
        CLUSTER_ROLE,
        "agg",
        {
            "metadata": {"name": "agg", "labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
            "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["list"]}],
        },
    ),
    "a guard that leaves a team out": edit(GUARD_BINDING, "kueue-gpu-guard-binding", not_vision),
    "a guard of one team": edit(GUARD_BINDING, "kueue-gpu-guard-binding", nobody_but({"ml.platform/team": "vision"})),
    "a guard that warns": edit(
        GUARD_BINDING, "kueue-gpu-guard-binding", put("spec", "validationActions", value=["Warn", "Audit"])
    ),
    "a guard that fails open": edit(GUARD, "kueue-gpu-guard", put("spec", "failurePolicy", value="Ignore")),
    "a guard of nothing": drop(GUARD_BINDING, "kueue-owner-guard-binding"),
    "a guard that excludes pods by their label": edit(
        GUARD_BINDING,
        "kueue-gpu-guard-binding",
        put(
            "spec",
            "matchResources",
            "objectSelector",
            value={"matchExpressions": [{"key": "skip-guard", "operator": "DoesNotExist"}]},
        ),
    ),
    "a guard that leaves pods of a name out": edit(
        GUARD_BINDING,
        "kueue-gpu-guard-binding",
        put(
            "spec",
            "matchResources",
            "excludeResourceRules",
            value=[{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        ),
    ),
    "images are not asked of new jobs": drop(GUARD_BINDING, "teams-jobs-images-binding"),
    "somebody's webhook changes pods": beside(
        MUTATING,
        "inject",
        {
            "metadata": {"name": "inject"},
            "webhooks": [
                {
                    "name": "inject.example.com",
                    "clientConfig": {"url": "https://inject.example.com/mutate"},
                    "rules": [
                        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
                    ],
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                }
            ],
        },
    ),
    "a disk of the node that any claim may take": beside(
        VOLUME,
        "host",
        {
            "metadata": {"name": "host"},
            "spec": {
                "capacity": {"storage": "1Ti"},
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "hostPath": {"path": "/"},
            },
        },
    ),
    "a disk of the node for a team": beside(
        VOLUME,
        "host",
        {
            "metadata": {"name": "host"},
            "spec": {
                "capacity": {"storage": "1Ti"},
                "accessModes": ["ReadWriteMany"],
                "claimRef": {"namespace": "team-vision", "name": "host"},
                "hostPath": {"path": "/var/lib/kubelet"},
            },
        },
    ),
    "one team's volume is another's": edit(
        VOLUME, "volumes-vision-checkpoints-volume", put("spec", "claimRef", "namespace", value="team-language")
    ),
    "another team's folder is mounted": edit(
        VOLUME,
        "volumes-vision-checkpoints-volume",
        lambda inputs: inputs["spec"].update(
            mountOptions=[one.replace("teams/vision", "teams/language") for one in inputs["spec"]["mountOptions"]]
        ),
    ),
    "data that are written": edit(
        VOLUME,
        "volumes-vision-data-volume",
        lambda inputs: inputs["spec"].update(
            accessModes=["ReadWriteMany"],
            mountOptions=["region us-east-1", "prefix data/", "allow-delete", "allow-overwrite"],
            csi={**inputs["spec"]["csi"], "readOnly": False},
        ),
    ),
    "disks of a class without encryption": edit(CLASS, "blocks-class", put("parameters", "encrypted", value="false")),
    "no bound of claims": edit(
        QUOTA, "teams-vision-quota", lambda inputs: inputs["spec"]["hard"].pop("persistentvolumeclaims")
    ),
    "services of the nodes": edit(QUOTA, "teams-vision-quota", put("spec", "hard", "services.nodeports", value="10")),
    "the platform's priority for a team": drop(QUOTA, "teams-vision-no-system-priority"),
    "unmanaged jobs where a team says so": edit(
        RELEASE,
        "kueue-release",
        lambda inputs: inputs["values"]["managerConfig"].update(
            controllerManagerConfigYaml=inputs["values"]["managerConfig"]["controllerManagerConfigYaml"].replace(
                "operator: Exists", "operator: DoesNotExist"
            )
        ),
    ),
    "jobs of one kind are nobody's": edit(
        RELEASE,
        "kueue-release",
        lambda inputs: inputs["values"]["managerConfig"].update(
            controllerManagerConfigYaml=inputs["values"]["managerConfig"]["controllerManagerConfigYaml"].replace(
                "  - batch/job\n", ""
            )
        ),
    ),
    "a team's role for whatever account": trusts(
        "team-vision-role", first(lambda one: one["Condition"]["StringEquals"].pop("aws:SourceAccount"))
    ),
    "a team's role for whatever namespace": trusts(
        "team-vision-role",
        first(lambda one: one["Condition"]["StringEquals"].pop("aws:RequestTag/kubernetes-namespace")),
    ),
    "a team's role for every namespace of teams": trusts(
        "team-vision-role",
        first(
            lambda one: one["Condition"].update(
                StringLike={"aws:RequestTag/kubernetes-namespace": "team-*"},
                StringEquals={
                    name: value
                    for name, value in one["Condition"]["StringEquals"].items()
                    if name != "aws:RequestTag/kubernetes-namespace"
                },
            )
        ),
    ),
    "a team's role for any cluster": trusts(
        "team-vision-role", first(lambda one: one["Condition"]["StringEquals"].pop("aws:RequestTag/eks-cluster-arn"))
    ),
    "a team's role by whoever is of the account": trusts(
        "team-vision-role", more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action="sts:AssumeRole")
    ),
    "a role of another account's": trusts(
        "autoscaler-role", more(Principal={"AWS": f"arn:aws:iam::{OTHER}:root"}, Action="sts:AssumeRole")
    ),
    "a role of everybody's, by a weak condition": trusts(
        "autoscaler-role",
        more(
            Principal={"AWS": "*"},
            Action="sts:AssumeRole",
            Condition={"Bool": {"aws:MultiFactorAuthPresent": "true"}},
        ),
    ),
    "a role of everybody's, with an id": trusts(
        "autoscaler-role",
        more(Principal={"AWS": "*"}, Action="sts:AssumeRole", Condition={"StringEquals": {"sts:ExternalId": "acme"}}),
    ),
    "GitHub's every branch": beside(
        IAM_ROLE,
        "ci",
        {
            "name": "ci",
            "assumeRolePolicy": json.dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {
                                "Federated": "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
                            },
                            "Action": "sts:AssumeRoleWithWebIdentity",
                            "Condition": {
                                "StringEquals": {"token.actions.githubusercontent.com:aud": "sts.amazonaws.com"},
                                "StringLike": {"token.actions.githubusercontent.com:sub": "repo:*"},
                            },
                        }
                    ],
                }
            ),
        },
    ),
    "GitHub's every repository of an owner": beside(
        IAM_ROLE,
        "ci",
        {
            "name": "ci",
            "assumeRolePolicy": json.dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {
                                "Federated": "arn:aws:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"
                            },
                            "Action": "sts:AssumeRoleWithWebIdentity",
                            "Condition": {
                                "StringEquals": {"token.actions.githubusercontent.com:aud": "sts.amazonaws.com"}
                            },
                        }
                    ],
                }
            ),
        },
    ),
    "a team's pods by the platform's role": beside(
        IDENTITY,
        "extra",
        {
            "clusterName": "acme-demo",
            "namespace": "team-vision",
            "serviceAccount": "trainer-2",
            "roleArn": "arn:aws:iam::123456789012:role/mlflow-role-8583182",
        },
    ),
    "a team's pods write the data": edit(
        IDENTITY, "ingest-role-ingest", lambda inputs: inputs.update(namespace="team-vision", serviceAccount="ingest")
    ),
    "all checkpoints by a team": may(
        "team-vision-role-policy", Action="s3:GetObject", Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb/*"
    ),
    "a team's beginning is another's": may(
        "team-vision-role-policy",
        Action="s3:GetObject",
        Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb/teams/vis*",
    ),
    "a team reads the artifacts": may(
        "team-vision-role-policy", Action="s3:GetObject", Resource="arn:aws:s3:::acme-demo-artifacts-4ba31ff/*"
    ),
    "a team writes the data": may(
        "team-vision-role-policy", Action="s3:PutObject", Resource="arn:aws:s3:::acme-demo-data-f6c28dc/data/*"
    ),
    "a team lists everything": may(
        "team-vision-role-policy", Action="s3:ListBucket", Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb"
    ),
    "a team deletes old versions": may(
        "team-vision-role-policy",
        Action="s3:DeleteObjectVersion",
        Resource="arn:aws:s3:::acme-demo-checkpoints-e5013fb/teams/vision/*",
    ),
    "a team has all but IAM": edit(
        INLINE,
        "team-vision-role-policy",
        document("policy", lambda all_: all_.append({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"})),
    ),
    "roles are passed to whatever": may("mlflow-role-policy", Action="iam:PassRole"),
    "policies are written anew": may("mlflow-role-policy", Action="iam:CreatePolicyVersion"),
    "roles are taken": may("mlflow-role-policy", Action="sts:AssumeRole"),
    "trust is changed": may("autoscaler-role-policy", Action="iam:UpdateAssumeRolePolicy"),
    "keys for people": may("autoscaler-role-policy", Action="iam:CreateAccessKey"),
    "associations are made": may("autoscaler-role-policy", Action="eks:CreatePodIdentityAssociation"),
    "access to the cluster is given": may("autoscaler-role-policy", Action=["eks:AssociateAccessPolicy"]),
    "commands on every machine": may("autoscaler-role-policy", Action=["ssm:SendCommand"]),
    "code of functions": may("autoscaler-role-policy", Action=["lambda:UpdateFunctionCode"]),
    "snapshots are shared": may(
        "mlflow-role-policy", Action=["ec2:ModifySnapshotAttribute", "rds:ModifyDBSnapshotAttribute"]
    ),
    "all secrets": may("mlflow-role-policy", Action="secretsmanager:GetSecretValue"),
    "all parameters": may("mlflow-role-policy", Action="ssm:GetParameter*"),
    "every key opens": may("mlflow-role-policy", Action="kms:Decrypt"),
    "every bucket is read": may("mlflow-role-policy", Action="s3:GetObject"),
    "bucket policies are changed": may("mlflow-role-policy", Action="s3:PutBucketPolicy"),
    "grants without bound": edit(
        INLINE, "cluster-ebs-policy", document("policy", sid("AttachEncryptedVolumes", _nothing("Condition")))
    ),
    "AWS's own full access": beside(
        ATTACHED, "full", {"role": "mlflow-role-8583182", "policyArn": "arn:aws:iam::aws:policy/AmazonS3FullAccess"}
    ),
    "AWS's own power user": beside(
        ATTACHED, "full", {"role": "autoscaler-role-87d565d", "policyArn": "arn:aws:iam::aws:policy/PowerUserAccess"}
    ),
    "a bucket by plain HTTP": bucket("acme-demo-checkpoints", without_sid("DenyPlainHttp")),
    "a bucket of whoever": bucket("acme-demo-checkpoints", without_sid("DenyOtherOwners")),
    "a bucket from wherever": bucket(
        "acme-demo-checkpoints",
        lambda all_: (
            all_.__delitem__(slice(None))
            or all_.append(
                {
                    "Sid": "x",
                    "Effect": "Deny",
                    "Principal": "*",
                    "Action": "s3:*",
                    "Resource": "*",
                    "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                }
            )
        ),
    ),
    "a bucket for everybody of the organisation's network": bucket(
        "acme-demo-data",
        more(
            Principal="*",
            Action="s3:GetObject",
            Resource="arn:aws:s3:::acme-demo-data-f6c28dc/*",
            Condition={"StringLike": {"aws:UserAgent": "trainyard*"}},
        ),
    ),
    "a bucket for everybody with an address": bucket(
        "acme-demo-data",
        more(
            Principal="*",
            Action="s3:GetObject",
            Resource="arn:aws:s3:::acme-demo-data-f6c28dc/*",
            Condition={"IpAddress": {"aws:SourceIp": "0.0.0.0/0"}},
        ),
    ),
    "a key of another account's": key(
        "data-key",
        more(Principal={"AWS": f"arn:aws:iam::{OTHER}:root"}, Action="kms:*"),
    ),
    "a key that all of the account changes": key("data-key", sid("Administer", _nothing("Condition"))),
    "a key whose policy the account writes": key(
        "data-key", more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action="kms:PutKeyPolicy")
    ),
    "a key with grants by whoever": key(
        "platform-key",
        more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action=["kms:CreateGrant"]),
    ),
    "a key for every bucket": key("data-key", sid("UseForBuckets", lambda one: one["Condition"].pop("ArnLike"))),
    "a key by everybody through S3": key(
        "data-key",
        more(
            Principal="*",
            Action="kms:Decrypt",
            Condition={"StringEquals": {"kms:ViaService": "s3.us-east-1.amazonaws.com"}},
        ),
    ),
    "an endpoint for whatever": edit(
        ENDPOINT,
        "network-s3",
        put(
            "policy",
            value=json.dumps({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]}),
        ),
    ),
    "an endpoint for whoever comes": edit(
        ENDPOINT, "network-kms-interface", document("policy", first(_nothing("Condition")))
    ),
    "metadata of the first version": edit(
        TEMPLATE, "cluster-cpu-template", put("metadataOptions", "httpTokens", value="optional")
    ),
    "metadata two hops away": edit(
        TEMPLATE, "gpu-nodes-train-spot-template", put("metadataOptions", "httpPutResponseHopLimit", value=2)
    ),
    "metadata as the account says": edit(TEMPLATE, "cluster-system-template", _nothing("metadataOptions")),
    "the bastion's metadata": edit(
        "aws:ec2/instance:Instance", "bastion", put("metadataOptions", "httpTokens", value="optional")
    ),
    "the bastion's address": edit("aws:ec2/instance:Instance", "bastion", put("associatePublicIpAddress", value=True)),
    "the database for the world": edit(
        INGRESS,
        "acme-demo-mlflow-ingress-cluster",
        lambda inputs: (inputs.pop("referencedSecurityGroupId"), inputs.update(cidrIpv4="0.0.0.0/0")),
    ),
    "the database for the world of IPv6": edit(
        INGRESS,
        "acme-demo-mlflow-ingress-cluster",
        lambda inputs: (inputs.pop("referencedSecurityGroupId"), inputs.update(cidrIpv6="::/0")),
    ),
    "SSH for the world": beside(
        INGRESS,
        "ssh",
        {
            "securityGroupId": "sg-efc919ab87eb43d49",
            "ipProtocol": "tcp",
            "fromPort": 22,
            "toPort": 22,
            "cidrIpv4": "0.0.0.0/0",
        },
    ),
    "a group with everything in": beside(
        GROUP,
        "open",
        {
            "vpcId": "vpc-d8bd6820aeb50beba",
            "ingress": [{"protocol": "-1", "fromPort": 0, "toPort": 0, "cidrBlocks": ["0.0.0.0/0"]}],
        },
    ),
    "the database by plain connections": edit(
        "aws:rds/parameterGroup:ParameterGroup",
        "acme-demo-mlflow-parameters",
        put("parameters", 0, "value", value="0"),
    ),
    "the tracking server without sign-on": argument("--app-name=basic-auth", "--gunicorn-opts=--log-level=info"),
    "the tracking server without TLS": argument(
        "--uvicorn-opts=--ssl-certfile=/etc/mlflow/auth/tls.crt --ssl-keyfile=/etc/mlflow/auth/tls.key",
        "--uvicorn-opts=--log-level=info",
    ),
    "the tracking server for whatever host": argument(
        "--allowed-hosts=mlflow.mlflow.svc.cluster.local", "--allowed-hosts=*"
    ),
    "the tracking server for whatever origin": argument(
        "--cors-allowed-origins=https://mlflow.mlflow.svc.cluster.local", "--cors-allowed-origins=*"
    ),
    "the tracking server's database by whatever certificate": argument("sslmode=verify-full", "sslmode=require"),
    "the tracking server as the database's owner": argument("mlflow_server_v1@", "mlflow@"),
    "an older tracking server": argument("burakince/mlflow:3.17.2", "burakince/mlflow:3.14.0"),
    "a tracking server that opens where sign-on fails": argument(
        '"MLFLOW_BASIC_AUTH_FAIL_CLOSED", "value": "true"', '"MLFLOW_BASIC_AUTH_FAIL_CLOSED", "value": "false"'
    ),
    "a gateway to whatever provider": argument(
        '"MLFLOW_GATEWAY_ALLOWED_PROVIDERS", "value": "none"', '"MLFLOW_GATEWAY_ALLOWED_PROVIDERS", "value": "openai"'
    ),
    "jobs in the tracking server": argument(
        '"MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "false"',
        '"MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "value": "true"',
    ),
    "a password of the administrator": pod_of(
        "mlflow-deployment",
        lambda pod: pod["containers"][0]["env"].append({"name": "MLFLOW_TRACKING_PASSWORD", "value": "password1234"}),
    ),
    "artifacts by the clients themselves": argument("--serve-artifacts", "--no-serve-artifacts"),
    "the tracking server's function is gone": edit(
        CONFIG, "mlflow-runtime", lambda inputs: inputs["data"].pop("tracking_guard.py")
    ),
    "the tracking server's function says yes": edit(
        CONFIG,
        "mlflow-runtime",
        put("data", "tracking_guard.py", value="def authenticate():\n    return True\n"),
    ),
    "a trail that stands still": edit(TRAIL, "acme-demo-trail-trail", put("enableLogging", value=False)),
    "a trail whose files may be changed": edit(
        TRAIL, "acme-demo-trail-trail", put("enableLogFileValidation", value=False)
    ),
    "a trail of one region": edit(TRAIL, "acme-demo-trail-trail", put("isMultiRegionTrail", value=False)),
    "a trail that reads are not in": edit(
        TRAIL,
        "acme-demo-trail-trail",
        lambda inputs: inputs["advancedEventSelectors"][1]["fieldSelectors"].append(
            {"field": "readOnly", "equals": ["false"]}
        ),
    ),
    "a trail of two tiers": edit(
        TRAIL,
        "acme-demo-trail-trail",
        lambda inputs: inputs["advancedEventSelectors"][1]["fieldSelectors"][2]["startsWiths"].pop(),
    ),
    "a trail without its lock": drop(
        "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration", "acme-demo-trail-logs-object-lock"
    ),
    "a lock of a day": edit(
        "aws:s3/bucketObjectLockConfiguration:BucketObjectLockConfiguration",
        "acme-demo-trail-logs-object-lock",
        put("rule", "defaultRetention", "days", value=1),
    ),
    "threats are not looked for": edit(
        "aws:guardduty/detector:Detector", "threat-detection-detector", put("enable", value=False)
    ),
    "no audit log of the cluster": edit(CLUSTER, "cluster-cluster", put("enabledClusterLogTypes", value=["api"])),
    "the creator is administrator": edit(
        CLUSTER, "cluster-cluster", put("accessConfig", "bootstrapClusterCreatorAdminPermissions", value=True)
    ),
    "rights by a map": edit(
        CLUSTER, "cluster-cluster", put("accessConfig", "authenticationMode", value="API_AND_CONFIG_MAP")
    ),
    "the cluster for the world": edit(
        CLUSTER,
        "cluster-cluster",
        lambda inputs: inputs["vpcConfig"].update(endpointPublicAccess=True, publicAccessCidrs=["0.0.0.0/0"]),
    ),
    "the proxy to inside": edit(
        CONFIG,
        "egress-configuration",
        lambda inputs: inputs["data"].update(
            {"squid.conf": inputs["data"]["squid.conf"].replace("http_access deny inside\n", "")}
        ),
    ),
    "the proxy to a whole domain of others": edit(
        CONFIG,
        "egress-configuration",
        lambda inputs: inputs["data"].update(
            {"squid.conf": inputs["data"]["squid.conf"].replace("dstdomain -n .hf.co", "dstdomain -n .com")}
        ),
    ),
    "the proxy without tunnels": edit(
        CONFIG,
        "egress-configuration",
        lambda inputs: inputs["data"].update(
            {"squid.conf": inputs["data"]["squid.conf"].replace("http_access deny !secure\n", "")}
        ),
    ),
    "every name": edit(
        "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
        "dns-allowed",
        lambda inputs: inputs["domains"].append("*."),
    ),
    "every name of a country": edit(
        "aws:route53/resolverFirewallDomainList:ResolverFirewallDomainList",
        "dns-allowed",
        lambda inputs: inputs["domains"].append("*.com."),
    ),
    "a tracking pod of the node": pod_of("mlflow-deployment", lambda pod: pod.update(hostNetwork=True)),
    "a tracking pod with a token": pod_of(
        "mlflow-deployment", lambda pod: pod.update(automountServiceAccountToken=True)
    ),
    "a tracking pod with the node's disk": pod_of(
        "mlflow-deployment", lambda pod: pod["volumes"].append({"name": "h", "hostPath": {"path": "/"}})
    ),
    "a proxy pod with rights": pod_of(
        "egress-deployment",
        lambda pod: pod["containers"][0]["securityContext"].update(
            allowPrivilegeEscalation=True, capabilities={"add": ["NET_ADMIN"]}
        ),
    ),
    "system nodes without a taint": edit("aws:eks/nodeGroup:NodeGroup", "cluster-system", put("taints", value=[])),
    "GPU nodes by a variable": edit(
        RELEASE,
        "gpu-nvidia-device-plugin",
        put("values", "deviceListStrategy", value="envvar"),
    ),
    "a database of a known password": edit(
        "aws:rds/instance:Instance",
        "acme-demo-mlflow",
        lambda inputs: (inputs.pop("manageMasterUserPassword"), inputs.update(password="hunter2hunter2")),
    ),
    "a network that strangers enter": beside(
        "aws:ec2/vpcEndpointService:VpcEndpointService",
        "out",
        {
            "acceptanceRequired": False,
            "allowedPrincipals": ["*"],
            "networkLoadBalancerArns": ["arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer/net/x/1"],
        },
    ),
    "a load balancer of a team": beside(
        "kubernetes:core/v1:Service",
        "lb",
        {
            "metadata": {"name": "lb", "namespace": "team-vision"},
            "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
        },
    ),
    "a person of every team": beside(
        "aws:eks/accessEntry:AccessEntry",
        "ann",
        {
            "clusterName": "acme-demo",
            "principalArn": "arn:aws:iam::123456789012:role/ann",
            "kubernetesGroups": ["system:masters"],
        },
    ),
    "a user with keys": beside("aws:iam/accessKey:AccessKey", "ann", {"user": "ann"}),
}

LARGE: dict[str, Change] = {
    "Lustre without squash": edit(
        "aws:fsx/lustreFileSystem:LustreFileSystem", "globex-production-lustre", _nothing("rootSquashConfiguration")
    ),
    "Lustre's root is root": edit(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "globex-production-lustre",
        put("rootSquashConfiguration", "rootSquash", value="0:0"),
    ),
    "Lustre's root is root for some": edit(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "globex-production-lustre",
        put("rootSquashConfiguration", "noSquashNids", value=["*@tcp"]),
    ),
    "EFS by plain NFS": edit(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "globex-production-shared-policy",
        document("policy", without_sid("DenyPlainNfs")),
    ),
    "EFS without an access point": edit(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "globex-production-shared-policy",
        document("policy", without_sid("DenyWithoutAccessPoint")),
    ),
    "EFS for everybody": edit(
        "aws:efs/fileSystemPolicy:FileSystemPolicy",
        "globex-production-shared-policy",
        document(
            "policy",
            more(Principal="*", Action=["elasticfilesystem:ClientMount", "elasticfilesystem:ClientRootAccess"]),
        ),
    ),
    "EFS without a policy": drop("aws:efs/fileSystemPolicy:FileSystemPolicy", "globex-production-shared-policy"),
    "one team's home is another's": edit(
        "aws:efs/accessPoint:AccessPoint",
        "globex-production-shared-home-foundation",
        put("rootDirectory", "path", value="/home/perception"),
    ),
    "all homes": edit(
        "aws:efs/accessPoint:AccessPoint",
        "globex-production-shared-home-foundation",
        put("rootDirectory", "path", value="/home"),
    ),
    "images that everybody pulls and writes": beside(
        "aws:ecr/repositoryPolicy:RepositoryPolicy",
        "open",
        {
            "repository": "globex-production/x",
            "policy": json.dumps({"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "ecr:*"}]}),
        },
    ),
    "a registry of another account's": beside(
        "aws:ecr/registryPolicy:RegistryPolicy",
        "open",
        {
            "policy": json.dumps(
                {
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"AWS": f"arn:aws:iam::{OTHER}:root"},
                            "Action": "ecr:ReplicateImage",
                            "Resource": "*",
                        }
                    ]
                }
            )
        },
    ),
}

GCP: dict[str, Change] = {
    "everybody who is signed on reads the data": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "allAuthenticatedUsers", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "everybody reads the data": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "allUsers", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "every pod of the project reads": member(
        BUCKET_MEMBER,
        "roles/storage.objectUser",
        f"{POOL_SET}/*",
        bucket="acme-demo-gcp-checkpoints-ebc9172a",
    ),
    "every pod of a namespace": member(
        BUCKET_MEMBER,
        "roles/storage.objectViewer",
        f"{POOL_SET}/namespace/team-vision",
        bucket="acme-demo-gcp-artifacts",
    ),
    "a team reads every checkpoint": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", VISION, bucket="acme-demo-gcp-checkpoints-ebc9172a"
    ),
    "a team administers its folder's bucket": member(
        BUCKET_MEMBER, "roles/storage.admin", VISION, bucket="acme-demo-gcp-checkpoints-ebc9172a"
    ),
    "a team writes the data": edit(BUCKET_MEMBER, "team-vision-data", put("role", value="roles/storage.objectUser")),
    "a team's folder is another's": edit(
        "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
        "team-vision-checkpoints",
        put("managedFolder", value="teams/language/"),
    ),
    "a team's folder is all teams'": edit(
        "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
        "team-vision-checkpoints",
        put("managedFolder", value="teams/"),
    ),
    "one folder's rights can be changed": edit(
        "gcp:storage/managedFolderIamMember:ManagedFolderIamMember",
        "team-vision-checkpoints",
        put("role", value="roles/storage.folderAdmin"),
    ),
    "tokens of every account": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountTokenCreator", VISION, project="acme-ml"
    ),
    "accounts of the project are used": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountUser", "group:vision@acme.example", project="acme-ml"
    ),
    "keys of accounts": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountKeyAdmin", "group:ops@acme.example", project="acme-ml"
    ),
    "an editor": member(PROJECT_MEMBER, "roles/editor", "group:vision@acme.example", project="acme-ml"),
    "an owner": member(PROJECT_MEMBER, "roles/owner", "user:ann@acme.example", project="acme-ml"),
    "a viewer by a pod": member(PROJECT_MEMBER, "roles/viewer", VISION, project="acme-ml"),
    "nodes are editors": member(
        PROJECT_MEMBER,
        "roles/editor",
        "serviceAccount:acme-demo-gcp-nodes@rehearsal.iam.gserviceaccount.com",
        project="acme-ml",
    ),
    "nodes read buckets": member(
        PROJECT_MEMBER,
        "roles/storage.objectViewer",
        "serviceAccount:acme-demo-gcp-nodes@rehearsal.iam.gserviceaccount.com",
        project="acme-ml",
    ),
    "all secrets of the project": member(
        PROJECT_MEMBER, "roles/secretmanager.secretAccessor", "group:vision@acme.example", project="acme-ml"
    ),
    "all keys of the project": member(PROJECT_MEMBER, "roles/cloudkms.cryptoKeyDecrypter", VISION, project="acme-ml"),
    "the cluster's administrator is a team": member(
        PROJECT_MEMBER, "roles/container.admin", "group:vision@acme.example", project="acme-ml"
    ),
    "the cluster's developer is a team": member(
        PROJECT_MEMBER, "roles/container.developer", "group:vision@acme.example", project="acme-ml"
    ),
    "another's account is taken by a pod": member(
        ACCOUNT_MEMBER,
        "roles/iam.workloadIdentityUser",
        "serviceAccount:acme-ml.svc.id.goog[team-vision/trainer]",
        serviceAccountId="projects/acme-ml/serviceAccounts/acme-demo-gcp-nodes@rehearsal.iam.gserviceaccount.com",
    ),
    "a person of another organisation": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "user:mallory@gmail.com", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "a whole domain": member(
        BUCKET_MEMBER, "roles/storage.objectViewer", "domain:acme.example", bucket="acme-demo-gcp-data-aa563e44"
    ),
    "an account of another project": member(
        BUCKET_MEMBER,
        "roles/storage.objectViewer",
        "serviceAccount:x@other-project.iam.gserviceaccount.com",
        bucket="acme-demo-gcp-data-aa563e44",
    ),
    "a key for everybody": member(
        KEY_MEMBER,
        "roles/cloudkms.cryptoKeyDecrypter",
        "allAuthenticatedUsers",
        cryptoKeyId="projects/rehearsal/locations/us-central1/keyRings/acme-demo-gcp-keys/cryptoKeys/acme-demo-gcp-data",
    ),
    "a key whose rights a group changes": member(
        KEY_MEMBER,
        "roles/cloudkms.admin",
        "group:vision@acme.example",
        cryptoKeyId="projects/rehearsal/locations/us-central1/keyRings/acme-demo-gcp-keys/cryptoKeys/acme-demo-gcp-data",
    ),
    "a bucket for lists of access": edit(GCS, "acme-demo-gcp-data", put("uniformBucketLevelAccess", value=False)),
    "a bucket that may be public": edit(GCS, "acme-demo-gcp-data", put("publicAccessPrevention", value="inherited")),
    "a bucket of everybody's by its list": beside(
        "gcp:storage/bucketAccessControl:BucketAccessControl",
        "open",
        {"bucket": "acme-demo-gcp-data-aa563e44", "entity": "allUsers", "role": "READER"},
    ),
    "objects of everybody's by default": beside(
        "gcp:storage/defaultObjectAccessControl:DefaultObjectAccessControl",
        "open",
        {"bucket": "acme-demo-gcp-data-aa563e44", "entity": "allAuthenticatedUsers", "role": "READER"},
    ),
    "a bucket's whole policy": beside(
        "gcp:storage/bucketIAMBinding:BucketIAMBinding",
        "open",
        {"bucket": "acme-demo-gcp-data-aa563e44", "role": "roles/storage.objectViewer", "members": ["allUsers"]},
    ),
    "a rule for the world": beside(
        FIREWALL,
        "open",
        {
            "network": "projects/rehearsal/global/networks/network-vpc",
            "direction": "INGRESS",
            "sourceRanges": ["0.0.0.0/0"],
            "allows": [{"protocol": "tcp", "ports": ["22"]}],
        },
    ),
    "a rule without a source": beside(
        FIREWALL,
        "open",
        {
            "network": "projects/rehearsal/global/networks/network-vpc",
            "direction": "INGRESS",
            "allows": [{"protocol": "all"}],
        },
    ),
    "the webhooks' rule for the world": edit(FIREWALL, "network-webhooks", put("sourceRanges", value=["0.0.0.0/0"])),
    "nodes with addresses": edit(
        GKE, "cluster-cluster", put("privateClusterConfig", "enablePrivateNodes", value=False)
    ),
    "pods with the nodes' account": edit(
        POOL, "cluster-cpu", put("nodeConfig", "workloadMetadataConfig", "mode", value="GCE_METADATA")
    ),
    "pods with the nodes' account in all": edit(GKE, "cluster-cluster", _nothing("workloadIdentityConfig")),
    "the old metadata": edit(
        POOL, "cluster-cpu", put("nodeConfig", "metadata", "disable-legacy-endpoints", value="false")
    ),
    "nodes of the default account": edit(
        POOL, "cluster-cpu", lambda inputs: inputs["nodeConfig"].pop("serviceAccount")
    ),
    "network policies of nobody": edit(GKE, "cluster-cluster", put("datapathProvider", value="LEGACY_DATAPATH")),
    "the kubelet's open port": edit(
        POOL, "cluster-cpu", put("nodeConfig", "kubeletConfig", "insecureKubeletReadonlyPortEnabled", value="TRUE")
    ),
    "the cluster for the world": edit(
        GKE,
        "cluster-cluster",
        lambda inputs: inputs.update(
            masterAuthorizedNetworksConfig={"cidrBlocks": [{"cidrBlock": "0.0.0.0/0"}]},
            privateClusterConfig={**inputs["privateClusterConfig"], "enablePrivateEndpoint": False},
        ),
    ),
    "attributes as rights": edit(GKE, "cluster-cluster", put("enableLegacyAbac", value=True)),
    "a certificate of a client": edit(
        GKE, "cluster-cluster", put("masterAuth", value={"clientCertificateConfig": {"issueClientCertificate": True}})
    ),
    "whoever is not signed on asks the API": edit(
        GKE, "cluster-cluster", put("anonymousAuthenticationConfig", "mode", value="ENABLED")
    ),
    "rights for whoever is signed on": edit(
        GKE,
        "cluster-cluster",
        put("rbacBindingConfig", value={"enableInsecureBindingSystemAuthenticated": True}),
    ),
    "secrets in the clear": edit(GKE, "cluster-cluster", put("databaseEncryption", value={"state": "DECRYPTED"})),
    "the database for the world": edit(
        SQL,
        "acme-demo-gcp-mlflow",
        lambda inputs: inputs["settings"]["ipConfiguration"].update(
            ipv4Enabled=True, authorizedNetworks=[{"name": "all", "value": "0.0.0.0/0"}]
        ),
    ),
    "the database by plain connections": edit(
        SQL,
        "acme-demo-gcp-mlflow",
        put("settings", "ipConfiguration", "sslMode", value="ALLOW_UNENCRYPTED_AND_ENCRYPTED"),
    ),
    "reads are not on record": edit(
        "gcp:projects/iAMAuditConfig:IAMAuditConfig",
        "record-storage",
        put("auditLogConfigs", value=[{"logType": "ADMIN_READ"}, {"logType": "DATA_WRITE"}]),
    ),
    "what one does is not on record": edit(
        "gcp:projects/iAMAuditConfig:IAMAuditConfig",
        "record-storage",
        lambda inputs: inputs["auditLogConfigs"][1].update(exemptedMembers=["group:vision@acme.example"]),
    ),
    "nobody looks at keys": drop("gcp:projects/iAMAuditConfig:IAMAuditConfig", "record-cloudkms"),
    "logs of a day": edit(
        "gcp:logging/projectBucketConfig:ProjectBucketConfig", "record-logs", put("retentionDays", value=1)
    ),
    "a sink that leaves some out": edit(
        "gcp:logging/projectSink:ProjectSink",
        "record-sink",
        put("exclusions", value=[{"name": "audit", "filter": 'logName:"cloudaudit.googleapis.com"'}]),
    ),
    "a sink to another project": beside(
        "gcp:logging/projectSink:ProjectSink",
        "away",
        {
            "destination": "storage.googleapis.com/mallory-logs",
            "name": "away",
            "project": "acme-ml",
            "uniqueWriterIdentity": True,
        },
    ),
    "nobody is told of rights": edit(
        "gcp:monitoring/alertPolicy:AlertPolicy", "record-alarms-rights", put("enabled", value=False)
    ),
    "nobody is told who": edit(
        "gcp:monitoring/alertPolicy:AlertPolicy", "record-alarms-rights", put("notificationChannels", value=[])
    ),
    "a key in a file": beside(
        "gcp:serviceaccount/key:Key",
        "nodes",
        {"serviceAccountId": "acme-demo-gcp-nodes@rehearsal.iam.gserviceaccount.com"},
    ),
    "the network is joined to another's": beside(
        "gcp:compute/networkPeering:NetworkPeering",
        "peer",
        {
            "network": "projects/rehearsal/global/networks/network-vpc",
            "peerNetwork": "projects/other/global/networks/default",
        },
    ),
    "a machine with an address": beside(
        "gcp:compute/instance:Instance",
        "bastion",
        {
            "machineType": "e2-micro",
            "zone": "us-central1-a",
            "networkInterfaces": [{"network": "network-vpc", "accessConfigs": [{}]}],
            "bootDisk": {"initializeParams": {"image": "cos-cloud/cos-stable"}},
        },
    ),
    "a role of everything": beside(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "more",
        {
            "roleId": "more",
            "title": "more",
            "permissions": ["resourcemanager.projects.setIamPolicy"],
            "project": "acme-ml",
        },
    ),
    "images that everybody pulls": beside(
        "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        "open",
        {
            "repository": "images",
            "location": "us-central1",
            "role": "roles/artifactregistry.reader",
            "member": "allUsers",
        },
    ),
    "images that a team's pods write": beside(
        "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        "open",
        {"repository": "images", "location": "us-central1", "role": "roles/artifactregistry.writer", "member": VISION},
    ),
    "a bucket whose lock is off": edit(GCS, "acme-demo-gcp-logs", lambda inputs: inputs.pop("retentionPolicy", None)),
    "the secret by a team": beside(
        "gcp:secretmanager/regionalSecretIamMember:RegionalSecretIamMember",
        "open",
        {
            "secretId": "acme-demo-gcp-mlflow-password",
            "location": "us-central1",
            "role": "roles/secretmanager.secretAccessor",
            "member": VISION,
        },
    ),
}

MANAGED_AWS: dict[str, Change] = {
    "jobs' role by the account": trusts(
        "managed-jobs", more(Principal={"AWS": "arn:aws:iam::123456789012:root"}, Action="sts:AssumeRole")
    ),
    "jobs' role for any account's service": trusts("managed-jobs", first(_nothing("Condition"))),
    "people pass every role": may("managed-people", Action="iam:PassRole"),
    "people have all of SageMaker": may("managed-people", Action="sagemaker:*"),
    "people start what they like": may("managed-people", Action="sagemaker:CreateTrainingJob"),
    "people open a colleague's editor": may("managed-people", Action="sagemaker:CreatePresignedDomainUrl"),
    "jobs read every bucket": may("managed-jobs", Action=["s3:GetObject", "s3:ListBucket"]),
    "jobs pull every image": may("managed-jobs", Action=["ecr:PutImage"]),
    "people lift the brake": may("managed-people", Action=["budgets:ModifyBudget"]),
    "people detach the brake": may("managed-people", Action=["iam:DetachRolePolicy"]),
}

MANAGED_GCP: dict[str, Change] = {
    "people are editors": member(
        PROJECT_MEMBER, "roles/editor", "group:research@hooli.example", project="hooli-research"
    ),
    "people administer Vertex AI": member(
        PROJECT_MEMBER, "roles/aiplatform.admin", "group:research@hooli.example", project="hooli-research"
    ),
    "people use every account": member(
        PROJECT_MEMBER, "roles/iam.serviceAccountUser", "group:research@hooli.example", project="hooli-research"
    ),
    "jobs read every bucket": member(
        PROJECT_MEMBER,
        "roles/storage.objectAdmin",
        "serviceAccount:hooli-research-jobs@rehearsal.iam.gserviceaccount.com",
        project="hooli-research",
    ),
    "people lift quotas": edit(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "managed-people",
        lambda inputs: inputs["permissions"].append("serviceusage.quotas.update"),
    ),
    "people take accounts": edit(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "managed-people",
        lambda inputs: inputs["permissions"].append("iam.serviceAccounts.getAccessToken"),
    ),
    "people start machines": edit(
        "gcp:projects/iAMCustomRole:IAMCustomRole",
        "managed-people",
        lambda inputs: inputs["permissions"].append("compute.instances.create"),
    ),
    "the images of everybody": beside(
        "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        "open",
        {
            "repository": "images",
            "location": "us-central1",
            "role": "roles/artifactregistry.writer",
            "member": "allAuthenticatedUsers",
        },
    ),
}

BREAKAGES: dict[str, dict[str, Change]] = {
    "demo": DEMO,
    "large-aws": LARGE,
    "demo-gcp": GCP,
    "small-aws": MANAGED_AWS,
    "small-gcp": MANAGED_GCP,
}
