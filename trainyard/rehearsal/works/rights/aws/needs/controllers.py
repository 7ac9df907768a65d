"""Programs that add-ons of EKS and charts bring, what they do in AWS, and as whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.recorded.read import follow, steps
from trainyard.recorded.types import ADD_ON, AUTOSCALING_TAG, EKS_CLUSTER, EKS_NODE_GROUP, HELM_RELEASE, LAUNCH_TEMPLATE
from trainyard.rehearsal.context import View
from trainyard.rehearsal.works.rights.aws.account import IRSA
from trainyard.rehearsal.works.rights.aws.callers import Caller
from trainyard.rehearsal.works.rights.aws.needs.model import Deed
from trainyard.rehearsal.works.rights.aws.needs.places import Places
from trainyard.rehearsal.works.rights.aws.needs.services import table
from trainyard.rehearsal.works.rights.principals import Pod


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller, as an add-on or a release installs it."""

    view: View
    name: str
    entry: Mapping[str, Any]
    namespace: str
    release: str  # empty for an add-on
    cluster: str

    def accounts(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The service accounts of its pods, with what the table says of each."""
        for account in self.entry["accounts"]:
            named = self._value(account["value"]) if self.release and "value" in account else None
            if named is None and self.release and "RELEASE" in account["name"] and self._is_renamed():
                continue
            short = account.get("short") or account["name"].removeprefix("RELEASE-")
            whole = short if short in self.release else account["name"].replace("RELEASE", self.release)
            yield (named if isinstance(named, str) and named else whole), account

    def roles(self) -> Iterator[tuple[Pod, str, str, bool]]:
        """Roles that the add-on or the release itself gives: pod, path, ARN, and whether by Pod Identity."""
        for name, account in self.accounts():
            if self.release:
                role = follow(self._value(account.get("annotations", "")), IRSA)
                if isinstance(role, str):
                    yield Pod(self.namespace, name), f"values.{account['annotations']}", role, False
                continue
            role = self.view.text("serviceAccountRoleArn")
            if role:
                yield Pod(self.namespace, name), "serviceAccountRoleArn", role, False
            for path, given in self.view.items("podIdentityAssociations"):
                if given.get("serviceAccount") == name and isinstance(given.get("roleArn"), str):
                    yield Pod(self.namespace, name, self.cluster), f"{path}.roleArn", given["roleArn"], True

    @property
    def is_certain(self) -> bool:
        """Whether its service accounts and their roles can be told."""
        if self.release:
            return not self.view.is_unknown("values") and not self.view.has("valueYamlFiles")
        return not any(self.view.is_unknown(key) for key in ("serviceAccountRoleArn", "podIdentityAssociations"))

    def is_about_aws(self) -> bool:
        """Whether its values do not turn it to another cloud."""
        unless = self.entry.get("unless", {})
        return not any(self._value(path) in others for path, others in unless.items() if self.release)

    def _is_renamed(self) -> bool:
        return any(self.view.has(f"values.{key}") for key in ("fullnameOverride", "nameOverride"))

    def _value(self, path: str) -> Any:
        found = follow(self.view.inputs, "values", *steps(path)) if path else None
        return found if isinstance(found, (str, Mapping)) else None


@dataclass(frozen=True, slots=True)
class Driver:
    """An add-on or a release of a name, for what the table of controllers does not say."""

    view: View
    name: str
    namespace: str

    @property
    def is_certain(self) -> bool:
        """Whether its values are known."""
        return not any(self.view.is_unknown(key) or self.view.blurred(key) for key in ("values", "configurationValues"))

    def value(self, path: str) -> str:
        """A text of a release's values; else empty."""
        return self.view.text(f"values.{path}") or ""


def drivers(places: Places) -> list[Driver]:
    """Every add-on and release of the recording."""
    add_ons = [Driver(view, view.text("addonName") or "", "kube-system") for view in places.stack.of_type(ADD_ON)]
    releases = [
        Driver(view, (view.text("chart") or "").rstrip("/").rpartition("/")[2], view.text("namespace") or "default")
        for view in places.stack.of_type(HELM_RELEASE)
    ]
    return [*add_ons, *releases]


def installed(places: Places) -> list[Controller]:
    """Every controller of the table that the recording installs."""
    known = table("controllers")
    clusters = [view.text("name") or "" for view in places.stack.of_type(EKS_CLUSTER)]
    only = clusters[0] if len(clusters) == 1 else ""
    found = []
    for view in places.stack.of_type(ADD_ON):
        name = view.text("addonName") or ""
        if "namespace" in known.get(name, {}):
            namespace = view.text("namespaceConfig.namespace") or known[name]["namespace"]
            found.append(Controller(view, name, known[name], namespace, "", view.text("clusterName") or only))
    for view in places.stack.of_type(HELM_RELEASE):
        name = (view.text("chart") or "").rstrip("/").rpartition("/")[2]
        if name in known:
            release = view.text("name") or view.name
            found.append(Controller(view, name, known[name], view.text("namespace") or "default", release, only))
    return [controller for controller in found if controller.is_about_aws()]


def deeds(places: Places, controller: Controller) -> tuple[Deed, ...]:
    """What a controller does, as requests."""
    entry = controller.entry
    groups = list(_groups(places, controller.cluster)) if entry.get("on_groups") else [("", {})]
    family = _family(places)
    found = []
    for deed in entry["does"]:
        if deed.get("family", family) != family:
            continue
        told = entry.get("with", {})
        for group, tags in groups if deed.get("with") == "groups" else groups[:1] or [("", {})]:
            resource = places.filled(deed.get("to", "*"), controller.view, group=group, cluster=controller.cluster)
            context = places.context(told, controller.view, cluster=controller.cluster)
            if resource is not None:
                found.append(Deed(deed["action"], resource, {**context, **tags}))
    return tuple(found)


def _family(places: Places) -> str:
    families = {view.text("kubernetesNetworkConfig.ipFamily") for view in places.stack.of_type(EKS_CLUSTER)}
    return "ipv6" if families == {"ipv6"} else "ipv4"


def _groups(places: Places, cluster: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The groups of instances behind node groups, with the tags that EKS and the recording put on them."""
    added = {
        str(view.value("tag.key")): str(view.value("tag.value"))
        for view in places.stack.of_type(AUTOSCALING_TAG)
        if view.text("tag.key")
    }
    for view in places.stack.of_type(EKS_NODE_GROUP):
        mine = view.text("clusterName") or ""
        name = view.text("nodeGroupName") or view.name
        if cluster and mine != cluster:
            continue
        tags = {
            **added,
            "eks:cluster-name": mine,
            "eks:nodegroup-name": name,
            "k8s.io/cluster-autoscaler/enabled": "true",
            f"k8s.io/cluster-autoscaler/{mine}": "owned",
            f"kubernetes.io/cluster/{mine}": "owned",
        }
        yield (
            f"eks-{name}-0",
            {f"{prefix}:ResourceTag/{key}": value for key, value in tags.items() for prefix in ("aws", "autoscaling")},
        )


def nodes(places: Places) -> tuple[Caller, ...]:
    """The roles of recorded nodes."""
    names = {name for view in places.stack.of_type(EKS_NODE_GROUP) if (name := view.text("nodeRoleArn"))}
    return tuple(found[1] for name in sorted(names) if (found := places.role(name)) is not None)


def metadata_is_closed(places: Places) -> bool:
    """Whether no pod outside its node's network reaches the role of its node, for sure."""
    groups = places.stack.of_type(EKS_NODE_GROUP)
    templates = [
        view.referred("launchTemplate.id", LAUNCH_TEMPLATE) or view.referred("launchTemplate.name", LAUNCH_TEMPLATE)
        for view in groups
    ]
    return bool(groups) and all(
        template is not None
        and (
            template.number("metadataOptions.httpPutResponseHopLimit") == 1
            or template.text("metadataOptions.httpEndpoint") == "disabled"
        )
        for template in templates
    )
