"""Which role the pods of a service account have: through EKS Pod Identity, or the cluster's OIDC provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from trainyard.problems import nearest
from trainyard.recorded.policy_documents import statements
from trainyard.recorded.read import UnreadableInput, list_at, value_at
from trainyard.recorded.types import (
    ADD_ON,
    EKS_CLUSTER,
    HELM_RELEASE,
    NAMESPACE,
    POD_IDENTITY_ASSOCIATION,
    ROLE,
    SERVICE_ACCOUNT,
)
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.account import IRSA
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.needs.controllers import Controller, drivers
from trainyard.rehearsal.works.rights.aws.needs.model import Deed, refused
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.recorded_policies import arn_of
from trainyard.rehearsal.works.rights.principals import Pod

State = Literal["bound", "refused", "none", "unknown"]
AGENT: Final = "eks-pod-identity-agent"
_MADE_BY_KUBERNETES: Final = ("default",)


@dataclass(frozen=True, slots=True)
class Binding:
    """A service account and the role that its pods are given."""

    view: View
    path: str  # of the role's ARN
    pod: Pod
    role_arn: str
    by_association: bool


@dataclass(frozen=True, slots=True)
class Identity:
    """What the pods of a service account are in AWS. A caller only where they are bound."""

    state: State
    caller: Caller | None = None


class Bindings:
    """Every binding of the recording, by service account."""

    def __init__(self, places: Places, controllers: list[Controller]) -> None:
        self.places = places
        self.controllers = controllers
        self.drivers = drivers(places)
        self.all = [*self._associations(), *self._annotated(), *self._of_controllers()]
        self._refusals: dict[int, str] = {}  # by the identity of a binding, all of which are kept
        self._by_account: dict[tuple[str, str], list[Binding]] = {}
        for binding in self.all:
            self._by_account.setdefault((binding.pod.namespace, binding.pod.service_account), []).append(binding)

    def identity(self, namespace: str, account: str) -> Identity:
        """What the pods of a service account are."""
        found = self._by_account.get((namespace, account), [])
        if not found:
            return Identity("unknown" if (namespace, account) in self._blurred or self._any_blurred else "none")
        binding = found[0]
        role = self.places.role(binding.role_arn)
        if role is None or binding.view.has("targetRoleArn"):
            return Identity("unknown")
        if self.refusal(binding):
            return Identity("refused")
        caller = role[1]
        if binding.by_association:
            tags = self.places.account.session_tags(binding.pod, binding.pod.cluster, arn_of(role[0]))
            caller = replace(caller, tags={**caller.tags, **tags})
        return Identity("bound", caller)

    def refusal(self, binding: Binding) -> str:
        """Why the role's trust policy does not admit the pods; empty where it does, or nobody knows."""
        if id(binding) not in self._refusals:
            self._refusals[id(binding)] = self._refusal(binding)
        return self._refusals[id(binding)]

    def _refusal(self, binding: Binding) -> str:
        role = self.places.role(binding.role_arn)
        if role is None:
            return ""
        account, arn = self.places.account, arn_of(role[0])
        try:
            if binding.by_association:
                tags = account.session_tags(binding.pod, binding.pod.cluster, arn)
                verdict = account.lent(tags, arn, surely=True)
                return verdict.words if verdict.refused else ""
            return self._by_provider(binding, role[0], arn)
        except UnreadableInput:
            return ""

    def _by_provider(self, binding: Binding, role: Any, arn: str) -> str:
        trusted = [
            str(provider)
            for statement in statements(role.inputs, "assumeRolePolicy")
            if isinstance(statement.get("Principal"), Mapping)
            for provider in list_at(statement, "Principal", "Federated")
        ]
        if not trusted:
            return f"the trust policy of role {role.name} names no OIDC provider"
        words = ""
        for provider in trusted:
            issuer = provider.partition(":oidc-provider/")[2]
            said = {f"{issuer}:sub": binding.pod.user, f"{issuer}:aud": "sts.amazonaws.com"}
            deed = Deed("sts:AssumeRoleWithWebIdentity", arn, said)
            verdict = refused(self.places.account, Caller(provider, self.places.account.id), deed)
            if verdict is None:
                return ""
            words = verdict.words
        return words

    def _associations(self) -> Iterator[Binding]:
        for view in self.places.stack.of_type(POD_IDENTITY_ASSOCIATION):
            namespace, account, role = (view.text(key) for key in ("namespace", "serviceAccount", "roleArn"))
            if namespace and account and role:
                yield Binding(view, "roleArn", Pod(namespace, account, view.text("clusterName") or ""), role, True)

    def _annotated(self) -> Iterator[Binding]:
        for view in self.places.stack.of_type(SERVICE_ACCOUNT):
            role = value_at(view.inputs, "metadata", "annotations", IRSA, unknown=None)
            namespace, name = view.text("metadata.namespace") or "default", view.text("metadata.name")
            if isinstance(role, str) and name:
                yield Binding(view, f"metadata.annotations.{IRSA}", Pod(namespace, name), role, False)

    def _of_controllers(self) -> Iterator[Binding]:
        for controller in self.controllers:
            for pod, path, role, by_association in controller.roles():
                yield Binding(controller.view, path, pod, role, by_association)

    @cached_property
    def _any_blurred(self) -> bool:
        """Whether the service account of some association is not known."""
        return any(
            view.is_unknown("namespace") or view.is_unknown("serviceAccount")
            for view in self.places.stack.of_type(POD_IDENTITY_ASSOCIATION)
        )

    @cached_property
    def _blurred(self) -> frozenset[tuple[str, str]]:
        """Service accounts whose role is not known."""
        found = {
            (str(view.text("namespace")), str(view.text("serviceAccount")))
            for view in self.places.stack.of_type(POD_IDENTITY_ASSOCIATION)
            if view.is_unknown("roleArn")
        }
        for view in self.places.stack.of_type(SERVICE_ACCOUNT):
            if view.is_unknown("metadata.annotations") or view.blurred("metadata.annotations"):
                found.add((view.text("metadata.namespace") or "default", view.text("metadata.name") or ""))
        return frozenset(found)

    def check(self) -> None:
        """Notes bindings that give nobody anything."""
        for binding in self.all:
            refusal = self.refusal(binding)
            if refusal:
                binding.view.error(
                    "rights-binding-untrusted",
                    binding.path,
                    f"pods of {binding.pod.namespace}/{binding.pod.service_account} do not get their role: {refusal}",
                    hint=self._trust_hint(binding),
                )
        self._accounts_exist()
        self._agent_runs()
        self._roles_are_used()

    def _trust_hint(self, binding: Binding) -> str:
        if binding.by_association:
            return "let pods.eks.amazonaws.com do sts:AssumeRole and sts:TagSession for this service account"
        return f"let the cluster's OIDC provider do sts:AssumeRoleWithWebIdentity for {binding.pod.user}"

    def _accounts_exist(self) -> None:
        """An association names a service account by text: it may name none."""
        stack = self.places.stack
        recorded: dict[str, set[str]] = {}
        for view in stack.of_type(SERVICE_ACCOUNT):
            namespace, name = view.text("metadata.namespace") or "default", view.text("metadata.name")
            if name is None:
                return  # a name that is not known may be any
            recorded.setdefault(namespace, set()).add(name)
        namespaces = {name for view in stack.of_type(NAMESPACE) if (name := view.text("metadata.name"))}
        installed = {view.text("namespace") or "" for view in stack.of_type(HELM_RELEASE)}
        renamed = {
            (controller.namespace, account["name"]): (controller, name)
            for controller in self.controllers
            if controller.release and controller.is_certain
            for name, account in controller.accounts()
            if "RELEASE" not in account["name"] and name != account["name"]
        }
        made_elsewhere = {controller.namespace for controller in self.controllers} | installed
        for binding in self.all:
            pod = binding.pod
            if not binding.by_association or binding.view.type != POD_IDENTITY_ASSOCIATION:
                continue
            if pod.service_account in (*recorded.get(pod.namespace, ()), *_MADE_BY_KUBERNETES):
                continue
            known = recorded.get(pod.namespace, set())
            if (pod.namespace, pod.service_account) in renamed:
                controller, name = renamed[pod.namespace, pod.service_account]
                binding.view.error(
                    "rights-binding-no-account", "serviceAccount",
                    f"chart {controller.name} calls its service account {name}: the role is nobody's", allowed=name,
                )  # fmt: skip
            elif pod.namespace in namespaces and pod.namespace not in made_elsewhere and known:
                binding.view.error(
                    "rights-binding-no-account",
                    "serviceAccount",
                    f"namespace {pod.namespace} has no service account {pod.service_account}: the role is nobody's",
                    allowed=f"one of {', '.join(sorted(known))}",
                    hint=nearest(pod.service_account, known),
                )
            elif pod.namespace not in namespaces and namespaces:
                unbound = [
                    name
                    for name in namespaces
                    if pod.service_account in recorded.get(name, ())
                    and self.identity(name, pod.service_account).state == "none"
                ]
                if close := nearest(pod.namespace, unbound):
                    binding.view.error(
                        "rights-binding-no-account",
                        "namespace",
                        f"nothing makes a namespace {pod.namespace}: the role is nobody's",
                        hint=close,
                    )

    def _agent_runs(self) -> None:
        stack = self.places.stack
        for cluster in stack.of_type(EKS_CLUSTER):
            name = cluster.text("name")
            mine = [one for one in self.all if one.by_association and one.view.text("clusterName") == name]
            add_ons = [view for view in stack.of_type(ADD_ON) if view.text("clusterName") == name]
            names = [view.text("addonName") for view in add_ons]
            if not mine or not name or not names or None in names or AGENT in names:
                continue
            automatic = cluster.value("computeConfig.enabled") or cluster.is_unknown("computeConfig")
            elsewhere = any(AGENT in str(view.inputs.get("chart")) for view in stack.of_type(HELM_RELEASE))
            if not automatic and not elsewhere:
                mine[0].view.error(
                    "rights-no-pod-identity-agent",
                    "clusterName",
                    f"cluster {name} has {len(mine)} Pod Identity associations and no add-on {AGENT}: no pod gets one",
                    hint=f"install the add-on {AGENT}",
                )

    def _roles_are_used(self) -> None:
        """A role that only pods may take and that no binding gives to any."""
        stack = self.places.stack
        if not any(binding.by_association for binding in self.all):
            return
        used = {role[0].urn for binding in self.all if (role := self.places.role(binding.role_arn)) is not None}
        for resource in stack.resources.all:
            if not resource.type.startswith(("aws:iam/rolePolicy", "aws:iam/policyAttachment")):
                used |= {urn for urns in resource.property_dependencies.values() for urn in urns}
        for view in stack.of_type(ROLE):
            if view.resource.urn not in used and _only_pods(view) and not view.resource.read:
                view.warning(
                    "rights-role-unused",
                    "assumeRolePolicy",
                    f"role {view.name} is for pods and no Pod Identity association gives it to any",
                    hint="add the association, or take the role away",
                )


def _only_pods(view: View) -> bool:
    try:
        found = statements(view.resource.inputs, "assumeRolePolicy")
    except UnreadableInput:
        return False
    return bool(found) and all(
        value_at(statement, "Effect") == "Allow"
        and isinstance(statement.get("Principal"), Mapping)
        and dict(statement["Principal"]) == {"Service": "pods.eks.amazonaws.com"}
        for statement in found
    )
