"""The resources that a cluster's API serves, by group: the plural names that roles and webhooks speak of.

Source: what Kubernetes 1.35 and the definitions in the charts of Kueue, JobSet and Trainer serve, as generally known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RESOURCES: Final[Mapping[str, frozenset[str]]] = {
    group: frozenset(names.split())
    for group, names in {
        "": """bindings componentstatuses configmaps endpoints events limitranges namespaces nodes
            persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers resourcequotas secrets
            serviceaccounts services users groups userextras uids""",
        "admissionregistration.k8s.io": """mutatingadmissionpolicies mutatingadmissionpolicybindings
            mutatingwebhookconfigurations validatingadmissionpolicies validatingadmissionpolicybindings
            validatingwebhookconfigurations""",
        "apiextensions.k8s.io": "customresourcedefinitions",
        "apiregistration.k8s.io": "apiservices",
        "apps": "controllerrevisions daemonsets deployments replicasets statefulsets",
        "authentication.k8s.io": "selfsubjectreviews tokenreviews userextras uids",
        "authorization.k8s.io": """localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews
            subjectaccessreviews""",
        "autoscaling": "horizontalpodautoscalers",
        "batch": "cronjobs jobs",
        "certificates.k8s.io": """certificatesigningrequests clustertrustbundles signers podcertificaterequests""",
        "coordination.k8s.io": "leases leasecandidates",
        "discovery.k8s.io": "endpointslices",
        "events.k8s.io": "events",
        "flowcontrol.apiserver.k8s.io": "flowschemas prioritylevelconfigurations",
        "metrics.k8s.io": "nodes pods",
        "networking.k8s.io": "ingressclasses ingresses ipaddresses networkpolicies servicecidrs",
        "node.k8s.io": "runtimeclasses",
        "policy": "poddisruptionbudgets podsecuritypolicies",
        "rbac.authorization.k8s.io": "clusterrolebindings clusterroles rolebindings roles",
        "resource.k8s.io": "deviceclasses devicetaintrules resourceclaims resourceclaimtemplates resourceslices",
        "scheduling.k8s.io": "priorityclasses workloads podgroups",
        "storage.k8s.io": """csidrivers csinodes csistoragecapacities storageclasses volumeattachments
            volumeattributesclasses""",
    }.items()
}
"""Those of Kubernetes itself."""

CUSTOM: Final[Mapping[str, frozenset[str]]] = {
    group: frozenset(names.split())
    for group, names in {
        "kueue.x-k8s.io": """admissionchecks clusterqueues cohorts localqueues multikueueclusters multikueueconfigs
            provisioningrequestconfigs resourceflavors topologies workloadpriorityclasses workloads""",
        "visibility.kueue.x-k8s.io": "clusterqueues localqueues",
        "jobset.x-k8s.io": "jobsets",
        "scheduling.x-k8s.io": "elasticquotas podgroups",
        "trainer.kubeflow.org": "trainjobs trainingruntimes clustertrainingruntimes",
    }.items()
}
"""Those of charts, as far as every resource of the group is known."""

VERSIONS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(("", "apps", "batch", "policy", "rbac.authorization.k8s.io"), frozenset({"v1"})),
    "jobset.x-k8s.io": frozenset({"v1alpha2"}),
    "kueue.x-k8s.io": frozenset({"v1alpha1", "v1beta1", "v1beta2"}),  # the first in 0.8 to 0.14, of some
    "trainer.kubeflow.org": frozenset({"v1alpha1"}),
}
"""The versions of groups of which every resource is served in the same ones (since Kubernetes 1.27; the charts')."""

SUBRESOURCES: Final[Mapping[tuple[str, str], frozenset[str]]] = {
    (group, name): frozenset(found.split())
    for group, name, found in (
        ("", "pods", "attach binding ephemeralcontainers eviction exec log portforward proxy resize status"),
        ("", "nodes", "proxy status metrics stats log spec pods healthz configz"),
        ("", "services", "proxy status"),
        ("", "namespaces", "finalize status"),
        ("", "serviceaccounts", "token"),
        ("", "persistentvolumeclaims", "status"),
        ("", "persistentvolumes", "status"),
        ("", "replicationcontrollers", "scale status"),
        ("", "resourcequotas", "status"),
        ("", "configmaps", ""),
        ("", "secrets", ""),
        ("apps", "deployments", "scale status rollback"),
        ("apps", "replicasets", "scale status"),
        ("apps", "statefulsets", "scale status"),
        ("apps", "daemonsets", "status"),
        ("batch", "jobs", "status"),
        ("batch", "cronjobs", "status"),
    )
}
"""By group and resource; of what is not listed nothing is known. `finalizers` is one of each, for owners."""

VERBS: Final = frozenset(
    {
        "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind",
        "escalate", "approve", "sign", "attest", "use", "proxy", "*",
    }
)  # fmt: skip
"""Verbs that some request has; `use` of policies and `proxy` of old are asked for by roles that live on."""
