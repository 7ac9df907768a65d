"""The recorded account: may a role, a pod, a service or another account do something there?

What a request carries besides what a caller of `may` says is filled in: who asks, over TLS 1.3, and for a pod the
session tags of EKS Pod Identity and the endpoint of the network that it goes through.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final

from trainyard.recorded.model import RecordedResource
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import is_set, known_texts, list_at, mapping_at, value_at
from trainyard.recorded.resources import Resources
from trainyard.recorded.types import (
    BUCKET_POLICY,
    KEY_ALIAS,
    POD_IDENTITY_ASSOCIATION,
    ROLE,
    SERVICE_ACCOUNT,
    VPC_ENDPOINT,
)
from trainyard.rehearsal.works.rights.aws.callers import Caller, principal, service
from trainyard.rehearsal.works.rights.aws.documents import Document, Request, read_document
from trainyard.rehearsal.works.rights.aws.evaluate import Asked, evaluate
from trainyard.rehearsal.works.rights.aws.patterns import Values
from trainyard.rehearsal.works.rights.aws.recorded_policies import (
    GUARDED,
    OwnPolicies,
    arn_of,
    guarding,
    names_of,
    own_policies,
)
from trainyard.rehearsal.works.rights.aws.unfilled import unfilled
from trainyard.rehearsal.works.rights.principals import Pod
from trainyard.rehearsal.works.rights.verdict import Verdict

PODS_SERVICE: Final = "pods.eks.amazonaws.com"
"""Takes roles for pods (EKS User Guide, "EKS Pod Identity", 2026-11)."""
IRSA: Final = "eks.amazonaws.com/role-arn"
"""Annotation of a service account that gives its pods a role through the cluster's OIDC provider (EKS User Guide, "IAM
roles for service accounts", 2026-11)."""
POD_TAGS: Final = ("eks-cluster-arn", "eks-cluster-name", "kubernetes-namespace", "kubernetes-service-account")
"""Session tags that EKS Pod Identity sets, but those of the single pod (EKS User Guide, "Grant Pods access to AWS
resources based on tags", 2026-11)."""

_ORGANISATION: Final = re.compile(r"aws:(?:Principal|Resource)OrgID\W+(?P<id>o-[a-z0-9]{10,32})")

Said = Mapping[str, str | bool | Sequence[str]]
"""What a request says of itself, by condition key."""

_ENDPOINTS: Final = {"ecr": "ecr.api", "cloudwatch": "monitoring"}
"""Services whose endpoint is called otherwise than the prefix of their actions."""


class Account:
    """What is recorded of the policies of one AWS account."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._own: dict[str, OwnPolicies] = {}
        self._guards: dict[str, tuple[Document, ...]] = {}
        self._endpoints: dict[str, RecordedResource | None] = {}
        self._behind: dict[str, Document | None] = {}
        self._aliased: dict[str, str] = {}

    @cached_property
    def id(self) -> str:
        """The account that most of the recorded roles are in; empty where none is known."""
        found = Counter(arn.split(":")[4] for role in self._resources.of(ROLE) if (arn := arn_of(role)))
        return found.most_common(1)[0][0] if found else ""

    @cached_property
    def organisation(self) -> str:
        """The organisation that the account's own endpoints and buckets are bound to, which it has to be in; else
        empty."""
        policies = self._resources.of(VPC_ENDPOINT, BUCKET_POLICY)
        texts = (str(value_at(found.inputs, "policy", default="", unknown="")) for found in policies)
        return next((found["id"] for text in texts if (found := _ORGANISATION.search(text))), "")

    @cached_property
    def _by_arn(self) -> dict[str, RecordedResource]:
        return {arn: found for found in self._resources.of(*GUARDED, ROLE) if (arn := arn_of(found))}

    def role(self, name: str) -> RecordedResource | None:
        """The recorded role of that ARN or name, logical or in the cloud."""
        return self._roles.get(name)

    @cached_property
    def _roles(self) -> dict[str, RecordedResource]:
        found: dict[str, RecordedResource] = {}
        for role in self._resources.of(ROLE):
            for name in (role.name, *names_of(role)):
                found.setdefault(name, role)
        return found

    def caller(self, name: str) -> Caller:
        """A recorded role by its name or ARN, another principal by its ARN, a service by its name."""
        role = self.role(name)
        if role is not None:
            tags = {key: str(value) for key, value in mapping_at(role.inputs, "tagsAll").items()}
            return principal(arn_of(role), tags, f"role {role.name}")
        return service(name) if ".amazonaws.com" in name else principal(name)

    def pod(self, pod: Pod) -> tuple[Caller | None, str]:
        """Whom a pod is in AWS; None where it is nobody, with the reason in words."""
        for association in self._resources.of(POD_IDENTITY_ASSOCIATION):
            cluster = str(value_at(association.inputs, "clusterName"))
            if (
                value_at(association.inputs, "namespace") != pod.namespace
                or value_at(association.inputs, "serviceAccount") != pod.service_account
                or pod.cluster not in ("", cluster)
            ):
                continue
            return self._session(pod, cluster, str(value_at(association.inputs, "roleArn")))
        for account in self._resources.of(SERVICE_ACCOUNT):
            metadata = mapping_at(account.inputs, "metadata")
            named = (metadata.get("namespace"), metadata.get("name")) == (pod.namespace, pod.service_account)
            if named and is_set(metadata, "annotations", IRSA):
                return self._by_provider(pod, str(value_at(metadata, "annotations", IRSA)))
        return None, f"{pod} has no role: nothing binds one to its service account"

    def _by_provider(self, pod: Pod, role_arn: str) -> tuple[Caller | None, str]:
        """Through the OIDC provider that the role trusts, which is taken for the cluster's own."""
        role = self.role(role_arn)
        providers = (
            []
            if role is None
            else [
                str(found)
                for statement in statements(role.inputs, "assumeRolePolicy")
                for found in list_at(statement, "Principal", "Federated")
            ]
        )
        refused = f"nothing records the role {role_arn}, or it trusts no provider"
        for provider in providers:
            issuer = provider.partition(":oidc-provider/")[2]
            said = {f"{issuer}:sub": pod.user, f"{issuer}:aud": "sts.amazonaws.com"}
            trusted = self.may(Caller(provider, self.id), "sts:AssumeRoleWithWebIdentity", role_arn, said)
            if trusted.allowed:
                caller = self.caller(role_arn)
                return replace(caller, words=f"{pod} as {caller}"), ""
            refused = trusted.words
        return None, f"{pod} gets no role: {refused}"

    @cached_property
    def region(self) -> str:
        """The region of the first recorded thing that has one; empty where none has."""
        return next((region for arn in self._by_arn if (region := arn.split(":")[3])), "")

    def session_tags(self, pod: Pod, cluster: str, role_arn: str) -> dict[str, str]:
        """The tags of the session that EKS Pod Identity gives a pod."""
        cluster_arn = f"arn:{role_arn.split(':')[1]}:eks:{self.region}:{self.id}:cluster/{cluster}"
        return dict(zip(POD_TAGS, (cluster_arn, cluster, pod.namespace, pod.service_account), strict=True))

    def lent(self, tags: Mapping[str, str], role_arn: str, *, surely: bool = False) -> Verdict:
        """Whether EKS Pod Identity may take a role for a session with those tags."""
        said = {
            **{f"aws:RequestTag/{key}": value for key, value in tags.items()},
            "aws:TagKeys": tuple(tags),
            "aws:SourceAccount": self.id,
            "aws:SourceArn": tags[POD_TAGS[0]],
        }
        for action in ("sts:AssumeRole", "sts:TagSession"):
            trusted = self.may(service(PODS_SERVICE), action, role_arn, said, surely=surely)
            if not trusted.allowed:
                return trusted
        return trusted

    def _session(self, pod: Pod, cluster: str, role_arn: str) -> tuple[Caller | None, str]:
        tags = self.session_tags(pod, cluster, role_arn)
        trusted = self.lent(tags, role_arn)
        if not trusted.allowed:
            return None, f"{pod} gets no role: {trusted.words}"
        caller = self.caller(role_arn)
        return replace(caller, tags={**caller.tags, **tags}, words=f"{pod} as {caller}"), ""

    def may(
        self,
        who: Caller | Pod | str,
        action: str,
        resource: str = "*",
        context: Said | None = None,
        *,
        from_network: bool = False,
        surely: bool = False,
    ) -> Verdict:
        """Whether AWS allows a request.

        Args:
            who: a caller, a pod, or what `caller` takes.
            action: `s3:GetObject`.
            resource: an ARN, or `*` for an action that knows none.
            context: further condition keys of the request, and others than are filled in.
            from_network: whether it goes through the endpoints of the network, as those of pods always do.
            surely: whether a condition on a key that nothing here fills in makes a refusal unknown.

        Raises:
            UnknownInput: a policy that decides is not known yet.
        """
        from_network = from_network or isinstance(who, Pod)
        if isinstance(who, Pod):
            asking, reason = self.pod(who)
            if asking is None:
                return Verdict("no", reason)
        else:
            asking = self.caller(who) if isinstance(who, str) else who
        resource = self._without_alias(resource)
        endpoint = self._endpoint(action) if from_network else None
        request = Request(asking, action, resource, self._context(asking, resource, endpoint, context or {}))
        target = self._by_arn.get(_holder(resource))
        role = self.role(asking.arn) if asking.account else None
        own = self._own_policies(role) if role is not None else None
        of_resource = target is not None and (target.type != ROLE or action.startswith("sts:"))
        asked = Asked(
            identity=own.documents if own is not None else _of_nobody_recorded(asking, action),
            boundary=own.boundary if own is not None else None,
            resource=self._guarding(target) if target is not None and of_resource else (),
            endpoint=self._endpoint_policy(endpoint) if endpoint is not None else None,
            same_account=asking.account == self._account_of(resource, target),
            resource_must_allow=action.startswith("kms:") or (action.startswith("sts:") and ":role/" in resource),
            resource_unknown=target is None,
            not_in_the_table=own.not_in_the_table if own is not None else (),
            boundary_unknown=own is not None and own.boundary_unknown,
        )
        verdict = evaluate(request, asked)
        if surely and verdict.refused and (key := unfilled(request, asked)):
            return Verdict(
                "unknown", f"a statement about {request} asks for {key}, which depends on who asks", verdict.urn
            )
        return verdict

    def _account_of(self, resource: str, target: RecordedResource | None) -> str:
        parts = resource.split(":", 5)
        named = parts[4] if len(parts) == 6 else ""
        return named or (self.id if target is not None or resource == "*" else "")

    def _context(self, asking: Caller, resource: str, endpoint: RecordedResource | None, said: Said) -> Values:
        found: dict[str, str | bool | Sequence[str]] = {
            "aws:SecureTransport": True,
            "s3:TlsVersion": "1.3",
            "aws:PrincipalIsAWSService": asking.is_service,
            "aws:ViaAWSService": False,
        }
        region = resource.split(":")[3] if resource.count(":") >= 5 else ""
        if region:
            found["aws:RequestedRegion"] = region
        if asking.account:
            found |= {
                "aws:PrincipalArn": asking.arn,
                "aws:PrincipalAccount": asking.account,
                "kms:CallerAccount": asking.account,
            }
            if asking.account == self.id and self.organisation:
                found["aws:PrincipalOrgID"] = self.organisation
            found |= {f"aws:PrincipalTag/{key}": value for key, value in asking.tags.items()}
        if asking.is_service:
            found["aws:PrincipalServiceName"] = asking.arn
        target = self._by_arn.get(_holder(resource))
        if target is not None:
            tags = mapping_at(target.inputs, "tagsAll")
            found |= {f"aws:ResourceTag/{key}": str(value) for key, value in tags.items()}
        account = self._account_of(resource, target)
        if account:
            found["aws:ResourceAccount"] = account
            if account == self.id and self.organisation:
                found["aws:ResourceOrgID"] = self.organisation
        if endpoint is not None:
            vpc = value_at(endpoint.inputs, "vpcId", unknown=None)
            found |= {"aws:SourceVpce": str(endpoint.id), **({"aws:SourceVpc": vpc} if isinstance(vpc, str) else {})}
        found |= said
        return {key.lower(): _values(value) for key, value in found.items()}

    def _endpoint(self, action: str) -> RecordedResource | None:
        """The endpoint of the network that requests of an action go through, where it has one."""
        prefix = action.partition(":")[0]
        if prefix not in self._endpoints:
            self._endpoints[prefix] = self._endpoint_of(prefix)
        return self._endpoints[prefix]

    def _endpoint_of(self, prefix: str) -> RecordedResource | None:
        called = f".{_ENDPOINTS.get(prefix, prefix)}"
        found = [
            endpoint
            for endpoint in self._resources.of(VPC_ENDPOINT)
            if str(value_at(endpoint.inputs, "serviceName", default="", unknown="")).endswith(called)
        ]
        networks = {str(value_at(endpoint.inputs, "vpcId", unknown=None)) for endpoint in found}
        return found[0] if len(networks) == 1 else None  # of several networks nobody knows which one is asked from

    def _endpoint_policy(self, endpoint: RecordedResource) -> Document | None:
        if endpoint.urn not in self._behind:
            self._behind[endpoint.urn] = self._read_policy(endpoint)
        return self._behind[endpoint.urn]

    def _read_policy(self, endpoint: RecordedResource) -> Document | None:
        if not is_set(endpoint.inputs, "policy"):
            return None  # AWS lets everything through
        return read_document(
            endpoint.inputs, "policy", what=f"the policy of endpoint {endpoint.name}", urn=endpoint.urn
        )

    def resources_named(self, role_arn: str) -> list[str]:
        """The resources that a recorded role's own policies allow something on, as they are written. Raises
        `UnknownInput`."""
        role = self.role(role_arn)
        documents = self._own_policies(role).documents if role is not None else ()
        return [
            text
            for document in documents
            for statement in document.statements
            if statement.allows and not statement.all_but_resources
            for text in statement.resources
        ]

    def held_by(self, role: RecordedResource) -> OwnPolicies:
        """The policies of a recorded role. Raises `UnknownInput`."""
        return self._own_policies(role)

    def _own_policies(self, role: RecordedResource) -> OwnPolicies:
        if role.urn not in self._own:
            self._own[role.urn] = own_policies(role, self._resources)
        return self._own[role.urn]

    def _guarding(self, target: RecordedResource) -> tuple[Document, ...]:
        if target.urn not in self._guards:
            self._guards[target.urn] = guarding(target, self._resources, self.id)
        return self._guards[target.urn]

    def _without_alias(self, resource: str) -> str:
        if resource not in self._aliased:
            self._aliased[resource] = self._key_behind(resource)
        return self._aliased[resource]

    def _key_behind(self, resource: str) -> str:
        for alias in self._resources.of(KEY_ALIAS):
            if arn_of(alias) == resource:
                named = [text for _, text in known_texts(value_at(alias.inputs, "targetKeyId", unknown=None))]
                keys = (arn for arn, found in self._by_arn.items() if set(named) & names_of(found))
                return next(keys, resource)
        return resource


def _of_nobody_recorded(asking: Caller, action: str) -> tuple[Document, ...] | None:
    """The policies of a principal that nobody records. That of a service-linked role is known as far as this: it lets
    the role use no key (AWS KMS Developer Guide, "Authorizing Amazon EC2 Auto Scaling to use a key", and Amazon FSx for
    Lustre, "Working with server-side encrypted Amazon S3 buckets", 2026-11: the key has to)."""
    return () if ":role/aws-service-role/" in asking.arn and action.startswith("kms:") else None


def _holder(resource: str) -> str:
    """The ARN of what an ARN is in: an object's bucket."""
    return resource.partition("/")[0] if resource.startswith("arn:") and resource.split(":")[2] == "s3" else resource


def _values(value: str | bool | Sequence[str]) -> tuple[str, ...]:
    if isinstance(value, bool):
        return (str(value).lower(),)
    return (value,) if isinstance(value, str) else tuple(value)
