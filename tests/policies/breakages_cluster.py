"""Breakages of the walls inside of the cluster, in the recorded stack of `demo`."""

from __future__ import annotations

from tests.policies.breaking import (
    CLASS,
    CLUSTER_ROLE,
    EVERYTHING,
    GUARD,
    GUARD_BINDING,
    MUTATING,
    NAMESPACE,
    NETWORK_POLICY,
    QUOTA,
    RELEASE,
    ROLE,
    VOLUME,
    account,
    beside,
    bound,
    group,
    network,
    nobody_but,
    not_vision,
    rules,
)
from tests.policies.mutants import Change, drop, edit, put

CLUSTER_WALLS: dict[str, Change] = {
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
    "a load balancer of a team": beside(
        "kubernetes:core/v1:Service",
        "lb",
        {
            "metadata": {"name": "lb", "namespace": "team-vision"},
            "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
        },
    ),
}
