"""What breaks a recorded stack: one change of a policy, a binding, a rule, a grant, on either cloud."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tests.policies.mutants import Change, Resources, edit, put
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


def both(*changes: Change) -> Change:
    """One change after the other."""

    def change(resources: Resources) -> list[RecordedResource]:
        for one in changes:
            resources = one(resources)
        return list(resources)

    return change


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


def by_github(**said: str) -> Change:
    """A role for pipelines of GitHub."""
    issuer = "token.actions.githubusercontent.com"
    named = {f"{issuer}:aud": "sts.amazonaws.com"} | {f"{issuer}:{key}": value for key, value in said.items()}
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": f"arn:aws:iam::123456789012:oidc-provider/{issuer}"},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringLike": named},
    }
    return beside(IAM_ROLE, "ci", {"name": "ci", "assumeRolePolicy": json.dumps({"Statement": [statement]})})


EVERYTHING = {"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}
